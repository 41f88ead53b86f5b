/* The options of a compiled program: those of decoding (runtime/decode/settings.def), and its
 * own. */
#ifndef RUNTIME_MODEL_PROGRAM_OPTIONS_H
#define RUNTIME_MODEL_PROGRAM_OPTIONS_H

#include "runtime/model/model.h"

/* ProgramOptions: the options of a command line; bos, first, eos and threads are -1 if they were
 * not given.
 *   given      which rows of settings.def were given; their values are in `settings`
 *   ids        the input has ids instead of text
 *   help       help was asked for and has been printed */
typedef struct ProgramOptions {
    bool given[SETTINGS];
    TfcGeneration settings;
    const char *weights, *prefix;
    int64_t threads, bos, first, eos;
    bool ids, help;
} ProgramOptions;

/* Reads the command line. Returns 0; or the exit status, after a message about what is wrong. */
int program_options_read(const TfcModel *model, int argc, char **argv, ProgramOptions *options);
/* Replaces the model's defaults by the options that were given, and raises a beam below nbest to
 * it. --beam and --alternatives without --sample turn off drawing at random, even if that is the
 * model's default. Returns 0; or the exit status, after a message about options that exclude each
 * other. */
int program_options_set(const ProgramOptions *options, const char *program,
                        TfcGeneration *settings);

#endif
