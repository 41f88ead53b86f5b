/* Rows of params that have one for each token, where the vocabulary has grown: a token that was
 * there keeps its row, a new one begins with the mean of those that were. */
#ifndef DRIVER_RUN_GROWN_ROWS_H
#define DRIVER_RUN_GROWN_ROWS_H

#include "driver/job.h"
#include "runtime/data/vocabulary.h"
#include "runtime/exec/exec.h"

/* GrownRows: how a vocabulary has grown.
 *   before, now   tokens that it had and has
 *   was           the earlier id of each token; -1: the token is new. NULL: the vocabulary is
 *                 another one, not a larger one
 *   lacks         if `was` is NULL, an earlier token that is missing; NULL: none is, but there are
 *                 fewer ids */
typedef struct GrownRows {
    int32_t before, now;
    const int32_t *was;
    const char *lacks;
} GrownRows;

/* One side of two vocabularies of different sizes: tokens are the same if their texts are. In the
 * arena. */
GrownRows grown_rows(Arena *arena, const Vocabulary *before, const Vocabulary *now);
/* The shape that a param had before the vocabulary grew, if the axis has a row for each token:
 * without data. */
StoreTensor grown_before(const GrownRows *grown, const StoreTensor *param, int axis);
/* Gives a param its rows of `before`, which has data of the same type, along the axis. */
void grown_fill(const GrownRows *grown, const StoreTensor *before, int axis, StoreTensor *param);

#endif
