/* The model in a run's folder: how to open it, and whether the run's params fit it. */
#ifndef DRIVER_RUN_RUN_MODEL_H
#define DRIVER_RUN_RUN_MODEL_H

#include "driver/run/record.h"

/* The path within a run's folder that a file of the model is copied to: model.tfg for the model's
 * own, lib/… for library files, for others their path relative to the model's folder. NULL: the
 * file is outside the model's folder, and is not copied. */
const char *run_model_place(Job *job, const Model *model, const Source *file);
/* The path of a file of the run's model that is no longer what was recorded; NULL: there is
 * none. */
const char *run_model_changed(Job *job, const Model *model, const RunRecord *record);
/* The options of session_open for the run's model, with its settings, which `more` overrides; of a
 * quantised run with its precision.
 * session_open then checks that the checkpoint run_params fits the model as it is now: each tensor
 * but an optimizer's is a param of the same shape; params may be missing. Of RUN_WEIGHTS it checks
 * only that each tensor is taken by a param, or was left unused by the import. An error lists the
 * first five differences. If there are none, but a file of the model is no longer what was
 * recorded, there is a warning. */
SessionOptions run_session_options(Job *job, const char *folder, const RunRecord *record,
                                   const TextList *more);

#endif
