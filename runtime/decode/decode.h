/* Decoding: from source sentences (or prompts) to the best, or to drawn, continuations.
 * A beam of 1 is greedy search. Sentences are independent of each other: the result for one
 * does not depend on the others in its batch, and random numbers are keyed by
 * (seed, number of the sentence, sample, position). */
#ifndef RUNTIME_DECODE_DECODE_H
#define RUNTIME_DECODE_DECODE_H

#include "base/arena.h"
#include "runtime/decode/settings.h"
#include "runtime/decode/stepper.h"

/* DecodeSettings: the rows of settings.def, and what only the caller of the decoder sets.
 *   limits      the longest result of each sentence of the batch, in tokens; NULL: length_factor,
 *               length_extra and length_limit give it
 *   prefixes    forced beginnings, one for each sentence of the batch, which belong to the results
 *               and may be longer than the limits; or NULL
 *   n_stuck     counts the sentences whose best result no_repeat_ngram left without a token; or
 *               NULL
 *   stops       n_stops tokens; each ends a result, as eos does
 *   until_eos   false: eos and stops are ordinary tokens; a result ends at its longest length
 *   open_end    a result that reaches its limit has no eos
 *   go_on       called for each token of a result, with the number of its sentence, if decode_width
 *               is 1; false: the result ends with this token, without eos. NULL: no callback
 * bos -1: the prompt is fed without a bos and must have at least one token. */
typedef struct DecodeSettings {
#define SETTING(kind, name, ...) SETTING_TYPE_##kind name;
#define TOKEN(name, ...) int32_t name;
#define TOKENS(name, n, ...) int32_t name[n];
#include "runtime/decode/settings.def"
    const int32_t *limits;
    const Tokens *prefixes;
    _Atomic int64_t *n_stuck;
    const int32_t *stops;
    int32_t n_stops;
    bool until_eos, open_end;
    bool (*go_on)(void *context, int64_t number, int32_t token);
    void *context;
} DecodeSettings;

DecodeSettings decode_defaults(void);
/* Sets what a model has defaults of its own for. */
void decode_set_defaults(DecodeSettings *settings, const DecodeDefault *defaults, int64_t n);
/* Tokens of the longest sequence, for a model that states no limit. */
enum { DECODE_LONGEST = 1024 };

typedef struct Hypothesis {
    const int32_t *ids; /* without bos and eos */
    int32_t n;
    double log_probability; /* sum over tokens; with eos, if the result ends with it */
    const double *each;     /* the terms of this sum: n, or n + 1 with eos */
    int32_t n_each;
    bool is_stuck; /* no_repeat_ngram left no token to choose: the result has no eos */
    double score;  /* log_probability / lp(length), by which results are ranked; length: with eos */
} Hypothesis;

/* The tokens of the result's text: all but a leading `first` (TokenRules; -1: none). */
Tokens hypothesis_text(const Hypothesis *hypothesis, int32_t first);

typedef struct Decoded {
    Hypothesis *best; /* best first; alternatives by their first token after the prefix, the most
                         probable first */
    int32_t n;
} Decoded;

/* False: the model's logits were no numbers, so that there is no result or one of no
 * probability. */
bool decoded_has_numbers(const Decoded *decoded);

/* Decodes a batch of n sentences; with a stepper that has `choose` each over the tokens that it may
 * use. numbers[i] is the number of sentence i in the whole input (NULL: i), the key of its random
 * numbers. `sources` has n sentences; NULL: the model has no encoder. `prompts` (may be NULL) are
 * fed after bos and are no part of results. results[i] gets the results of sentence i, in the
 * arena, which may be one that fails. false: memory ran out, or the batch has more rows or
 * candidates than 32 bits count. */
bool decode_batch(Stepper *stepper, const DecodeSettings *settings, const Sources *sources,
                  const Tokens *prompts, const int64_t *numbers, int32_t n, Arena *arena,
                  Decoded *results);
/* The same over the stepper's `vocab` tokens as they are, without `choose`. may [n, vocab]: whether
 * a sentence may use a token; NULL: each may use all. */
bool decode_over(Stepper *stepper, const DecodeSettings *settings, const uint8_t *may,
                 const Sources *sources, const Tokens *prompts, const int64_t *numbers, int32_t n,
                 Arena *arena, Decoded *results);

/* ShortlistCalls: what works on a shortlist (shortlist.h). Code that may have none calls these by
 * the shortlist's `calls`, so that a program without a shortlist is linked without them.
 *   choose   shortlist_choose
 *   decode   decode_batch for a stepper with `choose` */
struct Shortlist;
struct ShortlistBatch;
typedef struct ShortlistCalls {
    bool (*choose)(const struct Shortlist *shortlist, const TokenNeeds *needs,
                   struct ShortlistBatch *batch);
    bool (*decode)(Stepper *stepper, const DecodeSettings *settings, const Sources *sources,
                   const int64_t *numbers, int32_t n, Arena *arena, Decoded *results);
} ShortlistCalls;

/* The most hypotheses that one search has at a time: the beam, or the number of draws. */
int32_t decode_width(const DecodeSettings *settings);
/* lp(n) = ((5 + n) / 6)^alpha. */
double decode_length_penalty(double alpha, int32_t n);

#endif
