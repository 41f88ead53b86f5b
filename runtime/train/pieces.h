/* The batches of an update, or with shards their pieces. `index` counts them from 0 in the next
 * update. */
#ifndef RUNTIME_TRAIN_PIECES_H
#define RUNTIME_TRAIN_PIECES_H

#include "runtime/train/trainer.h"

/* PieceUpdate: how many batches an update has, and how many tokens they have together. */
typedef struct PieceUpdate {
    int64_t n, tokens;
    float rate; /* learning rate */
} PieceUpdate;

int64_t piece_tokens(const Trainer *t, int64_t index);  /* 0 of a piece without rows */
uint64_t piece_stream(const Trainer *t, int64_t index); /* number of its stream of random numbers */

/* Call the next three in this order. The first two return false after errors. */

/* Computes the totals that the losses read, over all batches; each rank runs its own batches. */
bool pieces_count(Trainer *t, const PieceUpdate *update);
/* Sums this rank's gradients in the store, and writes its losses to t->losses. */
bool pieces_compute(Trainer *t, const PieceUpdate *update);
/* Waits for the losses, totals and gradients of all ranks. */
void pieces_wait(Trainer *t, const PieceUpdate *update);

/* Gives the totals to an executor that assigns states. */
void pieces_feed_totals(Trainer *t, Exec *exec);
/* Runs a program; with --check-numerics an error names the first NaN. False after errors. */
bool pieces_run(Trainer *t, Exec *exec);

#endif
