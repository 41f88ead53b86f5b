/* What decoding needs of a model: feed tokens to each hypothesis, get the
 * logits of the next. A hypothesis lives in a slot, which remembers the tokens
 * fed to it; slots can be copied (when two hypotheses grow out of one).
 *
 * stepper_exec.h makes one from compiled programs; tests make one by hand. */
#ifndef RUNTIME_DECODE_STEPPER_H
#define RUNTIME_DECODE_STEPPER_H

#include <stdbool.h>
#include <stdint.h>

/* Token ids, not owned. */
typedef struct Tokens {
    const int32_t *ids;
    int32_t n;
} Tokens;

/* Tokens that are worth feeding at once, beside one for each slot: so many that reading the weights is a small part of it. */
enum { STEPPER_MOST_FED = 512 };
/* Of these, of a step that gives logits: so few that they take 16 MB at most. */
static inline int32_t stepper_most_tokens(int32_t vocab)
{
    const int32_t logits = 1 << 22, most = STEPPER_MOST_FED, least = 16;
    return vocab < logits / most ? most : vocab > logits / least ? least : logits / vocab;
}

typedef struct Stepper {
    void *self;
    int32_t vocab;
    /* Starts on n sentences with slots 0 … n_slots-1, all empty. Sources are read
     * only by models that have an encoder. false: memory cannot be had, and it must be
     * begun again. */
    bool (*begin)(void *self, const Tokens *sources, int32_t n, int32_t n_slots);
    /* Feeds the next counts[r] >= 1 of the tokens to slot[r], which belongs to sentence[r], for r < n; no slot
     * twice; counts NULL: one each. Gives logits [tokens fed, vocab], valid until the next call. NULL: memory
     * cannot be had, and nothing was fed. */
    const float *(*step)(void *self, int32_t n, const int32_t *sentence, const int32_t *slot,
                         const int32_t *counts, const int32_t *tokens);
    /* The same without logits, which are not computed. */
    bool (*feed)(void *self, int32_t n, const int32_t *sentence, const int32_t *slot, const int32_t *counts,
                 const int32_t *tokens);
    /* Slot `to` becomes what slot `from` is. */
    void (*copy)(void *self, int32_t from, int32_t to);
    void (*free)(void *self);
} Stepper;

#endif
