/* StepHashes: hashes of what a step computed, by which two trainings are compared without keeping
 * both: each is XXH64 (seed 0) of the bytes in memory, little-endian.
 *
 *   loss     of the step's loss, an f64
 *   list     of each param, in the order of the bytes of their names
 *
 * A gradient is that of the whole step, before clipping; a param is what the step has made of
 * it. */
#ifndef RUNTIME_TRAIN_STEP_HASHES_H
#define RUNTIME_TRAIN_STEP_HASHES_H

#include "runtime/exec/exec.h"
#include "runtime/train/parallel/split.h"

typedef struct StepHash {
    const StoreTensor *tensor; /* the param */
    bool trained;              /* it has a gradient */
    uint64_t gradient, param;
} StepHash;

typedef struct StepHashes {
    int64_t step;
    uint64_t loss;
    int64_t n;
    StepHash *list;
} StepHashes;

/* Room for the store's params, in the arena. */
StepHashes *step_hashes_new(Arena *arena, Store *store);
/* Hashes the gradients: the outputs "grad.NAME" of `outputs`, or NULL: the store's, before the
 * update. With a split all ranks call it, after gradient_sum_finish, and rank 0 gets the hashes.
 * False: memory ran out. */
bool step_hashes_gradients(StepHashes *hashes, Exec *outputs, Store *store, const Split *split);
void step_hashes_params(StepHashes *hashes);

#endif
