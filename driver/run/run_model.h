/* The model in a run's folder: how to open it, and whether the run's params fit it. */
#ifndef DRIVER_RUN_RUN_MODEL_H
#define DRIVER_RUN_RUN_MODEL_H

#include "driver/run/record.h"

/* Checks that the checkpoint run_params fits the run's model.tfg as it is now: each of its names is a param with the
 * same shape. RUN_WEIGHTS may also have the tensors that the import left unused. Params that a training does not save
 * may be missing. False after an error, which lists the differences. */
bool run_check_params(Job *job, const char *folder, const Model *model);
/* The options of session_open for the run's model, with its settings, which `more` overrides. */
SessionOptions run_session_options(Job *job, const char *folder, const RunRecord *record, const TextList *more);

#endif
