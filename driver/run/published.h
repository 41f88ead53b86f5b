/* The files of a published model's folder other than its weights (config.json, the tokenizer's
 * files). tfc import keeps them in the run, so that tfc export can write the whole folder. */
#ifndef DRIVER_RUN_PUBLISHED_H
#define DRIVER_RUN_PUBLISHED_H

#include "driver/run/weights.h"

/* Copies these files from a published folder or a run, in which they lie (FileReach), into
 * RUN/published; does nothing for a run without them. `config`: what becomes config.json of a
 * folder's; NULL: the folder's own. False after errors. */
bool published_keep(Job *job, const char *from, const Source *config, const char *run);
/* Keeps which tensors of the published weights are of two bytes an element, so that published_write
 * writes them so. False after an error. */
bool published_keep_types(Job *job, const Shards *weights, const char *run);
/* The run's folder of these files, for an export of `format` (of tfc export). NULL after an error:
 * it has none, since neither the run (which may be NULL) nor what it was trained from was imported,
 * or its files do not lie in the run. */
const char *published_folder(Job *job, const char *run, const char *format);
/* Copies these files from one folder to another, which exists. False after errors. */
bool published_copy(Job *job, const char *from, const char *to);
/* Whether every param that is written has a name in the model's weights block: under one of ours,
 * nobody would read it there. False after an error. */
bool published_check_names(Job *job, const Model *model, Store *store, const WeightsExport *what);
/* Writes FOLDER: these files as they lie in `files`, and the params as model.safetensors. `type`:
 * that of floats, "f32", "f16" or "bf16"; NULL: the types that the published weights had. False
 * after errors, such as a `what` that selects params, or a folder that is not tfc's. */
bool published_write(Job *job, const char *run, const char *files, const Model *model, Store *store,
                     const WeightsExport *what, const char *type, const char *folder);

#endif
