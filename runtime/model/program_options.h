/* The options of a compiled program: its decoding's, as tfc has them, and its own. */
#ifndef RUNTIME_MODEL_PROGRAM_OPTIONS_H
#define RUNTIME_MODEL_PROGRAM_OPTIONS_H

#include "runtime/decode/options.h"
#include "runtime/model/model.h"

/* Numbers are -1 where they are not given: then they are as the model's generation has them. */
typedef struct ProgramOptions {
    DecodeOptions decoding;
    const char *weights, *prefix;
    int64_t nbest, alternatives, tokens, threads, bos, eos, first;
    bool ids; /* in place of text */
    bool help; /* was asked for and printed */
} ProgramOptions;

/* 0; or the exit status, after saying what is wrong. */
int program_options_read(const TfcModel *model, int argc, char **argv, ProgramOptions *options);
/* What is given. Whoever names what a search has searches, also where the model's own way is to
 * draw. */
void program_options_set(const ProgramOptions *options, TfcGeneration *settings);

#endif
