/* The options of decoding, the same on every command line that has them: tfc's (cli/options/decoding.h)
 * and those of compiled programs (runtime/model/main.c). A list expands
 * OPTION(record, field, name, value, least, initial, help) once an option: the field of
 * DecodeOptions, what stands for its value (NULL of a flag), the least that is allowed (the most
 * is limit_of(name)), the value where it is absent. */
#ifndef RUNTIME_DECODE_OPTIONS_H
#define RUNTIME_DECODE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct DecodeOptions {
    int64_t beam, max_tokens;
    int64_t no_repeat_ngram, best_of, top_k, seed;
    double length_penalty, repetition_penalty, temperature, top_p;
    bool sample;
} DecodeOptions;

#define DECODE_OPTIONS_SEARCH(OPTION, record)                                                      \
    OPTION(record, beam, "beam", "N", 1, "4", "width of the beam; 1 is greedy"),                   \
    OPTION(record, length_penalty, "length-penalty", "A", 0, "0.6",                                \
           "scores are log p / ((5 + n) / 6)^A"),                                                  \
    OPTION(record, max_tokens, "max-tokens", "N", 1, "0",                                          \
           "the longest result (twice the source and 20)")

#define DECODE_OPTIONS_RULES(OPTION, record)                                                       \
    OPTION(record, no_repeat_ngram, "no-repeat-ngram", "N", 0, NULL,                               \
           "no N tokens in a row twice; 0: any"),                                                  \
    OPTION(record, repetition_penalty, "repetition-penalty", "X", 1, "1",                          \
           "divides logits of tokens there already (CTRL)")

#define DECODE_OPTIONS_SAMPLE(OPTION, record)                                                      \
    OPTION(record, sample, "sample", NULL, 0, NULL, "draw at random instead of searching"),        \
    OPTION(record, best_of, "best-of", "N", 1, "0",                                                \
           "of --sample: draw N, give the best by score")

#define DECODE_OPTIONS_DRAW(OPTION, record)                                                        \
    OPTION(record, temperature, "temperature", "X", 0, "1",                                        \
           "of a draw; 0 takes the most probable"),                                                \
    OPTION(record, top_k, "top-k", "K", 0, NULL,                                                   \
           "draw among the K most probable tokens; 0: all"),                                       \
    OPTION(record, top_p, "top-p", "P", 0, "1", "draw among the smallest set of mass P"),          \
    OPTION(record, seed, "seed", "S", 0, "1", "of a draw")

#endif
