/* What a published folder holds beside its weights (config.json, the tokenizer's files), kept with
 * a run from tfc import on, so that export gives the whole folder back. */
#ifndef DRIVER_RUN_PUBLISHED_H
#define DRIVER_RUN_PUBLISHED_H

#include "driver/run/weights.h"

/* Copies these files from a folder that has them, a published one or a run, into RUN/published; a
 * run without them has none to copy. False after errors. */
bool published_keep(Job *job, const char *from, const char *run);
/* Where the run keeps them; NULL: it was not imported. */
const char *published_folder(Job *job, const char *run);
/* Writes FOLDER: the files that the run keeps, and the params as model.safetensors. False after
 * errors: the run was not imported, or a param has no name in the model's weights block. */
bool published_write(Job *job, const char *run, const Model *model, Store *store,
                     const WeightsExport *what, const char *folder);

#endif
