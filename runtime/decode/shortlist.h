/* Shortlists: of each source token the target tokens that may stand for it. A batch of sentences
 * decodes over the union of these, in place of the whole vocabulary. */
#ifndef RUNTIME_DECODE_SHORTLIST_H
#define RUNTIME_DECODE_SHORTLIST_H

#include "runtime/decode/stepper.h"

/* ShortlistCount: the batches decoded so far, and the sum of their numbers of tokens. */
typedef struct ShortlistCount {
    _Atomic int64_t batches, tokens;
} ShortlistCount;

/* Shortlist: a table, which the caller owns. The glue of compiled models has the same fields.
 *   first   target ids below this are candidates of every sentence
 *   start   n_sources + 1 places in ids: the candidates of source token s are from start[s] to
 *           before start[s + 1]
 *   input   the input of encode for a batch's ids
 *   calls   shortlist_calls (decode_shortlist.h)
 *   count   `choose` adds each batch; NULL: nothing is counted */
typedef struct Shortlist {
    int32_t n_sources, n_targets, first;
    const int32_t *start, *ids;
    const char *input;
    const struct ShortlistCalls *calls;
    ShortlistCount *count;
} Shortlist;

/* ShortlistBatch: the tokens of a batch, and room to choose them. Begins as zeros. */
typedef struct ShortlistBatch {
    int32_t *list;
    uint8_t *may, *seen; /* seen: a byte for each of n_targets */
    int64_t may_room;    /* bytes */
    ChosenTokens chosen;
} ShortlistBatch;

/* Chooses for each sentence the candidates of its source tokens, the tokens of its prefix and those
 * that all need. Source tokens outside the table have no candidates. False: memory ran out. */
bool shortlist_choose(const Shortlist *shortlist, const TokenNeeds *needs, ShortlistBatch *batch);
void shortlist_free_batch(ShortlistBatch *batch);
/* The place of an id in an ascending list; -1: it has none. */
int32_t shortlist_place(const int32_t *list, int32_t n, int32_t id);

#endif
