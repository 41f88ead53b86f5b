/* Rows of params that have one for each token or label, where the list is another: what was there
 * keeps its row, by its text; a new one begins with the mean of those that were. */
#ifndef DRIVER_RUN_GROWN_ROWS_H
#define DRIVER_RUN_GROWN_ROWS_H

#include "driver/ports/columns.h"
#include "runtime/data/labels.h"
#include "runtime/data/vocabulary.h"
#include "runtime/exec/exec.h"

/* GrownRows: how a list of tokens or labels has changed.
 *   before, now   how many it had and has
 *   was           the earlier number of each; -1: it is new. NULL: the list is another one, not a
 *                 larger one
 *   lacks         if `was` is NULL, an earlier one that is missing; NULL: none is, but there are
 *                 fewer
 *   moves         whether one that was there has another number
 *   what          "tokens" or "labels"
 *   input, sides  of labels their input; of tokens whose they are, HAS_SOURCE or HAS_TARGET or both
 *   params        those with such rows; NULL: all that fit */
typedef struct GrownRows {
    int32_t before, now;
    const int32_t *was;
    const char *lacks;
    bool moves;
    const char *what;
    const char *input;
    unsigned sides;
    const RowParams *params;
} GrownRows;

/* One side of two vocabularies: tokens are the same if their texts are. In the arena. */
GrownRows grown_rows(Arena *arena, const Vocabulary *before, const Vocabulary *now);
/* The same of lists of labels. */
GrownRows grown_labels(Arena *arena, const Labels *before, const Labels *now);
/* Whether the param is among those with such rows. */
bool grown_takes(const GrownRows *grown, const char *param);
/* Moves the rows of a param that has as many as it will have. False after an error: the axis of its
 * rows is not known. */
bool grown_move(Job *job, const GrownRows *grown, StoreTensor *param);
/* The shape that a param had before the vocabulary grew, if the axis has a row for each token:
 * without data. */
StoreTensor grown_before(const GrownRows *grown, const StoreTensor *param, int axis);
/* Gives a param its rows of `before`, which has data of the same type, along the axis. */
void grown_fill(const GrownRows *grown, const StoreTensor *before, int axis, StoreTensor *param);

#endif
