/* tfc import: makes the folder of a run from a published model: a folder with config.json,
 * tokenizer and safetensors, or Marian's own. */
#ifndef DRIVER_EXCHANGE_IMPORT_H
#define DRIVER_EXCHANGE_IMPORT_H

#include "driver/session/job.h"

typedef struct ImportOptions {
    const char *folder; /* with config.json, or Marian's (import_marian.h) */
    const char *run;    /* to be made; must not exist */
    bool copy;          /* the safetensors are copied; else the run links to their folder */
    TextList command;   /* as typed, for run.json */
} ImportOptions;
/* Makes a run of a published folder: a short model.tfg beside the files of models/ that it
 * uses, the vocabulary, run.json, `published` (driver/run/published.h), and `weights`, a link to
 * the folder or a copy of its safetensors. Marian's weights are always converted to a copy. All
 * tensors that the model uses are read once, to check them. False after errors: then no run is
 * made. */
bool import_folder(Job *job, const ImportOptions *options);

#endif
