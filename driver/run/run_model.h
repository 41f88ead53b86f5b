/* The model in a run's folder: how to open it, and whether the run's params fit it. */
#ifndef DRIVER_RUN_RUN_MODEL_H
#define DRIVER_RUN_RUN_MODEL_H

#include "driver/run/record.h"

/* The path within a run's folder that a file of the model is copied to: lib/… for library files,
 * for others their path relative to the model. NULL: the file lies outside the model's folder, and
 * is not copied. */
const char *run_model_place(Job *job, const Model *model, const Source *file);
/* The path of a file of the run's model that is no longer what was recorded; NULL: there is
 * none. */
const char *run_model_changed(Job *job, const Model *model, const RunRecord *record);
/* The options of session_open for the run's model, with its settings, which `more` overrides.
 * Opening it checks that the checkpoint run_params fits it as it is now: each of its names is a
 * param with the same shape. RUN_WEIGHTS may also have the tensors that the import left unused, and
 * params that a training does not save may be missing. An error lists the differences. If there
 * are none, but a file of the model is no longer what was recorded, there is a warning. */
SessionOptions run_session_options(Job *job, const char *folder, const RunRecord *record,
                                   const TextList *more);

#endif
