/* What batches are inside: rows in order (batch.c, batch_sort.c), from which a batch is filled
 * (batch_fill.c). */
#ifndef RUNTIME_DATA_BATCH_ITEMS_H
#define RUNTIME_DATA_BATCH_ITEMS_H

#include "runtime/data/batch.h"
#include "runtime/data/distinct.h"
#include "runtime/data/hiding.h"

typedef struct BatchItem {
    int64_t row;            /* corpus row, or the window's first token */
    int32_t source, target; /* tokens */
    int64_t order;          /* place after shuffling: breaks ties */
    int64_t use;            /* how often the row was used before */
} BatchItem;

struct Batches {
    const Corpus *corpus;
    BatchOptions options;
    DistinctRows *distinct;       /* NULL: rows of a batch may have texts in common */
    int64_t n_early;              /* batches that ended where no row was distinct */
    Hiding *hiding[MOST_COLUMNS]; /* of columns that hide tokens, if the options say so */
    int last_side;
    int64_t n_items, n;
    BatchItem *items, *spare; /* for n_items; for sorting a pool of them */
    int64_t room, spare_room; /* of items and spare, in items */
    int64_t *first, *last;    /* batch i holds items [first[i], last[i]) */
};

/* The item's tokens on a side. */
int64_t batches_length(const Batches *batches, const BatchItem *item, int side);

/* Sorts a pool of n items by target, then source: up for even targets and down for odd ones, so
 * that a batch across two target lengths does not hold the longest sources and the shortest; then
 * by order. `spare` has room for n. */
void batch_items_sort(BatchItem *items, int64_t n, BatchItem *spare);

#endif
