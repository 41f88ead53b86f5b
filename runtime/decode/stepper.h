/* Stepper: what decoding needs of a model. It feeds tokens to each hypothesis and gives the
 * logits of the next token. A hypothesis lives in a slot, which remembers the tokens
 * fed to it; slots can be copied (when two hypotheses grow out of one).
 *
 * stepper_exec.h makes one from compiled programs; tests make one by hand. */
#ifndef RUNTIME_DECODE_STEPPER_H
#define RUNTIME_DECODE_STEPPER_H

#include "base/functions.h"
#include "runtime/decode/sources.h"

#include <stdbool.h>
#include <stdint.h>

/* Token ids, not owned. */
typedef struct Tokens {
    const int32_t *ids;
    int32_t n;
} Tokens;

/* The most tokens to feed at once, besides one for each slot; and of a model that makes keys and
 * values of all positions again where many are fed (passes/incremental/rows.c): enough that these
 * are a small part of the step's time, too. */
enum { STEPPER_MOST_FED = DECODE_STEP_FED, STEPPER_MOST_FED_LATENT = 2048 };
/* The same for a step that gives logits: as many tokens as have 16 MiB of logits, but at least 16
 * and at most STEPPER_MOST_FED. */
static inline int32_t stepper_most_tokens(int32_t vocab)
{
    const int32_t logits = 1 << 22, most = STEPPER_MOST_FED, least = 16;
    return vocab < logits / most ? most : vocab > logits / least ? least : logits / vocab;
}

/* TokenNeeds: what n sentences need of the vocabulary.
 *   sources    of each sentence
 *   prefixes   of each sentence: the tokens that its results begin with; NULL: none
 *   common     n_common ids that every sentence needs; ids outside the vocabulary are ignored */
typedef struct TokenNeeds {
    int32_t n, n_common;
    const Tokens *sources, *prefixes;
    const int32_t *common;
} TokenNeeds;

/* ChosenTokens: some of the vocabulary's tokens; valid until they are chosen anew.
 *   list    their ids, in ascending order
 *   may     [sentences, n]: whether the sentence may use the token; a sentence's do not depend on
 *           the other sentences */
typedef struct ChosenTokens {
    const int32_t *list;
    int32_t n;
    const uint8_t *may;
} ChosenTokens;

typedef struct Stepper {
    void *self;
    int32_t vocab;    /* tokens of the whole vocabulary */
    int32_t most_fed; /* STEPPER_MOST_FED, or more */
    /* Begins sentences with slots 0 … n_slots-1, all empty. Sources are read only by models that
     * have an encoder; NULL: there are none. false: memory ran out; only `begin` or `free` may
     * follow. */
    bool (*begin)(void *self, const Sources *sources, int32_t n_slots);
    /* For each r < n, feeds the next counts[r] >= 1 tokens to slot[r], which belongs to
     * sentence[r]. No slot twice. counts NULL: one token each. Returns logits [tokens fed, vocab],
     * valid until the next call. NULL: memory ran out, and nothing was fed. */
    const float *(*step)(void *self, int32_t n, const int32_t *sentence, const int32_t *slot,
                         const int32_t *counts, const int32_t *tokens);
    /* As step, but computes no logits. false: as NULL above. */
    bool (*feed)(void *self, int32_t n, const int32_t *sentence, const int32_t *slot,
                 const int32_t *counts, const int32_t *tokens);
    /* Makes slot `to` a copy of slot `from` (slots_copy). */
    void (*copy)(void *self, int32_t from, int32_t to);
    void (*free)(void *self);
    /* NULL: every step gives logits of the whole vocabulary. Else to be called before each `begin`,
     * with its sources: tokens are numbered by a list of ids from then on, in what is fed and in
     * logits. False: memory ran out. */
    bool (*choose)(void *self, const TokenNeeds *needs, ChosenTokens *out);
    const struct ShortlistCalls *calls; /* with `choose`: what decodes (decode.h) */
    int32_t many; /* slots_many; of an ensemble, 1 if some member has two orders */

    /* What a slot remembers is one record (slots.h). `length`: tokens fed to it. `roll_back`:
     * slots_roll_back; feeding again what it dropped gives the same bits, if tokens of `many` or
     * more are cut as before. `bytes` and `save`: the record as bytes, which `restore` puts into
     * any slot of a stepper over the same programs, as a text of a sentence with the same source.
     * `restore` is false if memory ran out or the bytes are of other programs; then the slot is as
     * it was, but an ensemble's is empty. */
    int32_t (*length)(void *self, int32_t slot);
    int32_t (*roll_back)(void *self, int32_t slot, int32_t length);
    size_t (*bytes)(void *self, int32_t slot);
    void (*save)(void *self, int32_t slot, void *to);
    bool (*restore)(void *self, int32_t slot, int32_t sentence, const void *from, size_t bytes);
} Stepper;

/* ---- stepper_mean.c ---- */

/* An ensemble: a stepper made of steppers. Its logits are the logarithm of the mean of the members'
 * probabilities, with equal weights. */

/* Makes a stepper of n >= 1 members with the same vocabulary and, if they have one, the
 * same shortlist. It owns and frees the members. false:
 * memory ran out, and the caller still owns the members. */
bool stepper_mean_new(const Stepper *members, int32_t n, Stepper *out);

/* The stepper of n >= 1 models: of one its own, else their mean. `make` makes that of model i.
 * False: memory ran out. */
bool stepper_mean_of(int32_t n, bool (*make)(const void *context, int32_t i, Stepper *out),
                     const void *context, Stepper *out);

#endif
