/* tfc import: makes the folder of a run from a published model: a folder with config.json,
 * tokenizer and weights, Marian's own, or a file of weights. */
#ifndef DRIVER_EXCHANGE_IMPORT_H
#define DRIVER_EXCHANGE_IMPORT_H

#include "driver/job.h"

typedef struct ImportOptions {
    /* a folder with config.json, Marian's (import_marian.h), or a file of weights (formats.h) */
    const char *source;
    /* of a file: the folder with config.json, or such a file of any name, that says what model it
     * is, with the tokenizer beside it; NULL: a GGUF says it itself, and other files have it beside
     * them */
    const char *config;
    const char *run;  /* to be made; must not exist */
    TextList tokens;  /* rules (token_rules.h) in place of the folder's */
    bool pairs;       /* a classifier of texts reads pairs, whatever its files say */
    bool copy;        /* the weights are copied; else the run links to them */
    TextList command; /* as typed, for run.json */
} ImportOptions;
/* Makes a run of a published folder: a short model.tfg beside the files of models/ that it
 * uses, the vocabulary, run.json, `published` (driver/run/published.h), and `weights`, a link to
 * the folder or file of the weights, or a copy. Marian's weights are always converted to a copy.
 * All
 * tensors that the model uses are read once, to check them. False after errors: then no run is
 * made. */
bool import_model_of(Job *job, const ImportOptions *options);

/* ---- import_again.c ---- */

/* What an earlier tfc did not read of a published folder. */

/* Of a run that a tfc imported which knew no settings of generation: compares what it has with what
 * import would read of the same files now, and adds a remark if that is something else. A file in
 * RUN/published keeps that this was done, so that only the first use says it; where it cannot be
 * written each use does. Does nothing for any other path. */
void import_tell_again(Job *job, const char *run);

#endif
