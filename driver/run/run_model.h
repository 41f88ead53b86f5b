/* The model in a run's folder: how to open it, and whether the run's params fit it. */
#ifndef DRIVER_RUN_RUN_MODEL_H
#define DRIVER_RUN_RUN_MODEL_H

#include "driver/run/record.h"

/* The path of a file of the run's model that is no longer what was recorded; NULL: there is
 * none. */
const char *run_model_changed(Job *job, const Model *model, const RunRecord *record);
/* The options with which session_open opens the run's model: the run's settings, which `more`
 * overrides, and the precision of a quantised run. session_open then also compares the params that
 * the run has (run_params) with the model as it is now:
 *   a checkpoint   each tensor, other than the optimizer's, must be a param of the same shape; the
 *                  model may have params that the checkpoint lacks
 *   RUN_WEIGHTS    each tensor must be read by a param, or have been unused at the import
 * An error lists the first five differences. Where there is none, a file of the model that was
 * changed since it was recorded is a warning. */
SessionOptions run_session_options(Job *job, const char *folder, const RunRecord *record,
                                   const TextList *more);

#endif
