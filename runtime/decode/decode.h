/* Decoding: from source sentences (or prompts) to the best continuations.
 * Greedy is a beam of 1. Sentences are independent of each other: what is found
 * for one does not depend on which others share its batch, and random numbers
 * are keyed by (seed, number of the sentence, sample, position). */
#ifndef RUNTIME_DECODE_DECODE_H
#define RUNTIME_DECODE_DECODE_H

#include "base/arena.h"
#include "runtime/decode/settings.h"
#include "runtime/decode/stepper.h"

/* DecodeSettings: the rows of settings.def, and what the caller of the decoder says besides.
 *   limits      instead of the three lengths: the longest result of each sentence of the batch; usually NULL
 *   prefixes    forced beginnings, one for each sentence of the batch, which belong to the results and may be longer
 *               than the limits; or NULL
 *   n_stuck     counts the sentences whose best result no_repeat_ngram left without a token; or NULL
 *   stops       a result ends with one of these n_stops, too. bos -1: it begins with its prompt, which has a token
 *   until_eos   false: eos and stops are ordinary tokens, length_limit ends it
 *   open_end    at its limit a result stops without eos
 *   go_on       of results that are searched for alone (a beam or draw of 1): called for each token that one gets, with
 *               the number of its sentence; false: the result stops there. NULL: no callback */
typedef struct DecodeSettings {
#define SETTING(kind, name, ...) SETTING_TYPE_##kind name;
#define TOKEN(name, ...) int32_t name;
#define TOKENS(name, n, ...) int32_t name[n];
#include "runtime/decode/settings.def"
    const int32_t *limits;
    const Tokens *prefixes;
    int64_t *n_stuck;
    const int32_t *stops;
    int32_t n_stops;
    bool until_eos, open_end;
    bool (*go_on)(void *context, int64_t number, int32_t token);
    void *context;
} DecodeSettings;

DecodeSettings decode_defaults(void);
/* Tokens of the longest sequence of a model that does not say. */
enum { DECODE_LONGEST = 1024 };

typedef struct Hypothesis {
    const int32_t *ids; /* without bos and eos */
    int32_t n;
    double log_probability; /* sum over tokens, eos included if it ended so */
    const double *each;     /* … of which these are the parts, n, or n + 1 if it ended so */
    int32_t n_each;
    bool is_stuck; /* no_repeat_ngram left no token to go on with: it has no end */
    double score;           /* log_probability / lp(length): what hypotheses are ranked by */
} Hypothesis;

/* The tokens that are text: without `first` (TokenRules; -1: none), where they begin with it. */
Tokens hypothesis_text(const Hypothesis *hypothesis, int32_t first);

typedef struct Decoded {
    Hypothesis *best; /* best first; alternatives in the order of their tokens */
    int32_t n;
} Decoded;

/* One batch of n sentences. numbers[i] is the number of sentence i in the whole
 * input (NULL: i), the key of its random numbers. `sources` is NULL for a model
 * without an encoder. `prompts` (may be NULL) are fed after bos and belong to no
 * result. Results live in the arena. false: memory cannot be had. */
bool decode_batch(Stepper *stepper, const DecodeSettings *settings, const Tokens *sources,
                  const Tokens *prompts, const int64_t *numbers, int32_t n, Arena *arena,
                  Decoded *results);

/* Hypotheses of a sentence side by side: the beam, or the draws. */
int32_t decode_width(const DecodeSettings *settings);
/* lp(n). */
double decode_length_penalty(double alpha, int32_t n);

#endif
