/* The model in a run's folder: how it is opened, and whether the run's params are its. */
#ifndef DRIVER_RUN_RUN_MODEL_H
#define DRIVER_RUN_RUN_MODEL_H

#include "driver/run/record.h"

/* Whether the params of its model, as model.tfg is now, are those of run_params: no other names there, and
 * the same shapes; of RUN_WEIGHTS, no names but those that an import had left over. An error lists those
 * that differ. Params that a training does not save may be missing. */
bool run_check_params(Job *job, const char *folder, const Model *model);
/* To open the model that the folder holds (session_open), with its settings; what comes
 * in `more` overrides them. */
SessionOptions run_session_options(Job *job, const char *folder, const RunRecord *record, const TextList *more);

#endif
