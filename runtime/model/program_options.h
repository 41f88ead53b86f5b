/* The options of a compiled program: those of decoding (runtime/decode/settings.def), and its own. */
#ifndef RUNTIME_MODEL_PROGRAM_OPTIONS_H
#define RUNTIME_MODEL_PROGRAM_OPTIONS_H

#include "runtime/model/model.h"

/* ProgramOptions: what is given; bos, first, eos and threads are -1 where they are not.
 *   given      which rows of settings.def are; their values are in `settings`
 *   ids        in place of text
 *   help       was asked for and printed */
typedef struct ProgramOptions {
    bool given[SETTINGS];
    TfcGeneration settings;
    const char *weights, *prefix;
    int64_t threads, bos, first, eos;
    bool ids, help;
} ProgramOptions;

/* 0; or the exit status, after saying what is wrong. */
int program_options_read(const TfcModel *model, int argc, char **argv, ProgramOptions *options);
/* Puts what is given in the place of the model's defaults. Whoever names what a search has searches, also where the
 * model's own way is to draw. */
void program_options_set(const ProgramOptions *options, TfcGeneration *settings);

#endif
