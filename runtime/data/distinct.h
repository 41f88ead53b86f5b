/* DistinctRows: which rows of a corpus have a text in common: the same tokens of the same column,
 * or of source or target. Losses that compare each record with the others of its batch take equal
 * texts for different ones.
 *
 * Texts are compared by hashes of 64 bits. Two different texts of one hash (of a batch of 10,000
 * texts once in 10^11 batches) are taken for equal, and the second row goes into a later batch: no
 * row is left out. Whoever chooses the texts can make such hashes, since they are the same in each
 * process, as batches have to be; equal texts would do as much. */
#ifndef RUNTIME_DATA_DISTINCT_H
#define RUNTIME_DATA_DISTINCT_H

#include "runtime/data/corpus.h"

typedef struct DistinctRows DistinctRows;

/* The corpus must outlive it. */
DistinctRows *distinct_new(const Corpus *corpus);
void distinct_free(DistinctRows *rows); /* NULL is allowed */
/* Begins an empty set. */
void distinct_begin(DistinctRows *rows);
/* Adds a row to the set, unless it has a text in common with a row of it. Returns whether it
 * did. */
bool distinct_add(DistinctRows *rows, int64_t row);

#endif
