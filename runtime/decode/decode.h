/* Decoding: from source sentences (or prompts) to the best continuations.
 * Greedy is a beam of 1. Sentences are independent of each other: what is found
 * for one does not depend on which others share its batch, and random numbers
 * are keyed by (seed, number of the sentence, sample, position). */
#ifndef RUNTIME_DECODE_DECODE_H
#define RUNTIME_DECODE_DECODE_H

#include "base/arena.h"
#include "runtime/decode/stepper.h"

typedef struct DecodeSettings {
    int32_t beam;          /* at least 1 */
    int32_t nbest;         /* at most beam unless sampling; at least 1 */
    double length_penalty; /* alpha of lp(n) = ((5 + n) / 6)^alpha (Wu et al. 2016, eq. 14) */
    double length_factor;  /* longest result: factor × source length + extra tokens … */
    int32_t length_extra;
    int32_t length_limit; /* … but never more than this; 0: no limit */
    const int32_t *limits; /* instead of the three above: the longest result of each sentence
                            * of the batch; usually NULL */
    const Tokens *prefixes; /* forced beginnings, one for each sentence of the batch, which
                             * belong to the results and may be longer than the limits; or NULL */
    /* K > 0: each sentence is searched K times, and the token after its prefix is the most probable
     * one, the second, …; what follows is searched for as ever. Results are in that order, nbest
     * each, and fewer where there are not so many tokens. Not of sampling. 0: one search. */
    int32_t alternatives;
    int32_t no_repeat_ngram; /* no result has n tokens in a row twice, but for forced ones; 0: any. One
                              * that has no token left ends there */
    int64_t *n_stuck;        /* counts the sentences whose best result ended so; or NULL */
    /* Tokens there already become less probable (Keskar et al. 2019, CTRL, section 4.1):
     * p_i = exp(x_i / θ_i) / Σ_j exp(x_j / θ_j), θ_i > 1 for tokens that are there, else 1;
     * logits below 0 are multiplied by it instead. Log-probabilities are of this p. 1: off. */
    double repetition_penalty;
    bool sample;          /* draw instead of search; nbest samples a sentence */
    int32_t best_of;      /* of sampling: draws a sentence, of which the best nbest stay; at most
                           * nbest: all that are drawn */
    double temperature;   /* of sampling; 0 takes the most probable */
    int32_t top_k;        /* draw among the k most probable; 0: all */
    double top_p;         /* … among the smallest set of at least this mass; 1: all */
    uint64_t seed;
    int32_t bos, eos;     /* a target begins with bos and ends with eos; bos -1: with its prompt, which
                           * has a token then */
    const int32_t *stops; /* a result ends with one of these n_stops, too */
    int32_t n_stops;
    int32_t first;        /* the first token of every result, before its prefix; -1: any */
    int32_t forbidden[4]; /* never chosen: padding, bos, unknown …; -1: unused */
    bool until_eos;       /* false: eos and stops are ordinary tokens, length_limit ends it */
    bool open_end;        /* at its limit a result stops without eos */
    /* Of results that are searched for alone (a beam or draw of 1): called for each token that one gets,
     * with the number of its sentence; false: the result stops there. NULL: no callback. */
    bool (*go_on)(void *context, int64_t number, int32_t token);
    void *context;
} DecodeSettings;

DecodeSettings decode_defaults(void);
/* Tokens of the longest sequence of a model that does not say; of a text that is gone on with,
 * unless another number is told. */
enum { DECODE_LONGEST = 1024, DECODE_GENERATED = 200 };

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
