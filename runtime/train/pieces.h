/* The batches of an update, which with shards are pieces of batches; each by its number among those of the next step. */
#ifndef RUNTIME_TRAIN_PIECES_H
#define RUNTIME_TRAIN_PIECES_H

#include "runtime/train/trainer.h"

/* PieceUpdate: a step's batches, and how many tokens they have together. */
typedef struct PieceUpdate {
    int64_t n, tokens;
    float rate;
} PieceUpdate;

int64_t piece_tokens(const Trainer *t, int64_t index); /* 0 of a piece without rows */
uint64_t piece_stream(const Trainer *t, int64_t index); /* of random numbers */

/* In this order; false after errors. Totals of all batches, which their losses read: each rank counts in its own. */
bool pieces_count(Trainer *t, const PieceUpdate *update);
/* The gradients' sum in the store, this rank's losses in t->losses. */
bool pieces_compute(Trainer *t, const PieceUpdate *update);
/* The losses, totals and gradients of all ranks. */
void pieces_wait(Trainer *t, const PieceUpdate *update);

/* Totals become inputs of an executor that assigns states. */
void pieces_feed_totals(Trainer *t, Exec *exec);
/* A run, which with --check-numerics names the first NaN. */
bool pieces_run(Trainer *t, Exec *exec);

#endif
