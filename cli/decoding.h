/* The options that say how results are searched for or drawn, the same in each command that
 * has them. The record of such a command holds a Decoding named `decoding`; its table has the
 * rows of those that it takes. */
#ifndef CLI_DECODING_H
#define CLI_DECODING_H

#include "cli/common.h"

typedef struct Decoding {
    int64_t beam, max_tokens;
    int64_t no_repeat_ngram, best_of, top_k, seed;
    double length_penalty, repetition_penalty, temperature, top_p;
    bool sample;
} Decoding;

#define OPTIONS_SEARCH(record)                                                                     \
    {"beam", "N", FIELD(record, decoding.beam), 1, "4", "width of the beam; 1 is greedy"},         \
    {"length-penalty", "A", FIELD(record, decoding.length_penalty), 0, "0.6",                      \
     "scores are log p / ((5 + n) / 6)^A"},                                                        \
    {"max-tokens", "N", FIELD(record, decoding.max_tokens), 1, "0",                                \
     "the longest result (twice the source and 20)"}

#define OPTIONS_RULES(record)                                                                      \
    {"no-repeat-ngram", "N", FIELD(record, decoding.no_repeat_ngram), 0, NULL,                     \
     "no N tokens in a row twice; 0: any"},                                                        \
    {"repetition-penalty", "X", FIELD(record, decoding.repetition_penalty), 1, "1",                \
     "divides logits of tokens there already (CTRL)"}

#define OPTIONS_SAMPLE(record)                                                                     \
    {"sample", NULL, FIELD(record, decoding.sample), 0, NULL,                                      \
     "draw at random instead of searching"},                                                       \
    {"best-of", "N", FIELD(record, decoding.best_of), 1, "0",                                      \
     "of --sample: draw N, give the best by score"}

#define OPTIONS_DRAW(record)                                                                       \
    {"temperature", "X", FIELD(record, decoding.temperature), 0, "1",                              \
     "of a draw; 0 takes the most probable"},                                                      \
    {"top-k", "K", FIELD(record, decoding.top_k), 0, NULL,                                         \
     "draw among the K most probable tokens; 0: all"},                                             \
    {"top-p", "P", FIELD(record, decoding.top_p), 0, "1", "draw among the smallest set of mass P"}, \
    {"seed", "S", FIELD(record, decoding.seed), 0, "1", "of a draw"}

/* For `nbest` results a sentence. NULL, or what is wrong with the options: a usage error. */
const char *decoding_mistake(const Decoding *decoding, int64_t nbest);
/* The settings of OPTIONS_SEARCH, OPTIONS_RULES, OPTIONS_SAMPLE and OPTIONS_DRAW. */
DecodeSettings decoding_settings(const Decoding *decoding, int64_t nbest, const Inference *inference);
/* OPTIONS_RULES and OPTIONS_DRAW alone. */
void decoding_set_draw(const Decoding *decoding, DecodeSettings *settings);

#endif
