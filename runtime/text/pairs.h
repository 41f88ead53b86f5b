/* Pairs of neighbouring symbols that byte-pair encoding may join, in a heap: the pair to be joined
 * next is the first. */
#ifndef RUNTIME_TEXT_PAIRS_H
#define RUNTIME_TEXT_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* TokenPair: a symbol and the one after it. */
typedef struct TokenPair {
    double key;   /* the least is joined first, of equal ones the leftmost */
    int32_t at;   /* the left symbol */
    int32_t made; /* what the two make; if they would make something else now, the pair is stale */
} TokenPair;

/* Pairs: a binary heap in memory of the caller, with room for three pairs a symbol: each symbol but
 * the first brings one pair, each join two. */
typedef struct Pairs {
    TokenPair *at;
    size_t n;
} Pairs;

static inline bool pair_is_before(const TokenPair *a, const TokenPair *b)
{
    return a->key < b->key || (a->key == b->key && a->at < b->at);
}

static inline void pairs_push(Pairs *heap, TokenPair pair)
{
    size_t at = heap->n++;
    for (; at > 0 && pair_is_before(&pair, &heap->at[(at - 1) / 2]); at = (at - 1) / 2)
        heap->at[at] = heap->at[(at - 1) / 2];
    heap->at[at] = pair;
}

/* Removes and returns the first pair; there must be one. */
static inline TokenPair pairs_pop(Pairs *heap)
{
    TokenPair first = heap->at[0], last = heap->at[--heap->n];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < heap->n; at = child) {
        if (child + 1 < heap->n && pair_is_before(&heap->at[child + 1], &heap->at[child]))
            child++;
        if (!pair_is_before(&heap->at[child], &last))
            break;
        heap->at[at] = heap->at[child];
    }
    heap->at[at] = last;
    return first;
}

#endif
