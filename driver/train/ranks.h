/* Training by several ranks (runtime/ranks): checks that all ranks do the same training, and gives
 * each its part of the update. */
#ifndef DRIVER_TRAIN_RANKS_H
#define DRIVER_TRAIN_RANKS_H

#include "driver/train/state.h"

/* Gives every rank rank 0's choice of products (OpenBLAS or native, session_choice); `ranks` NULL:
 * only makes the choice. False after errors. */
bool training_ranks_choose(Job *job, Ranks *ranks);
/* Called on all ranks, with params in the store. Checks that everything that the result depends on
 * is the same here as on rank 0 (the processor may be another, if the bits of both are common), and
 * that batches have shards to share. False after errors, one for each difference. */
bool training_ranks_agree(Training *training, const RunRecord *record);
/* After that, on all ranks: adds their processors to rank 0's record. */
void training_ranks_processors(Training *training, RunRecord *record);

/* A copy of the function, after the passes up to `precision`, for reads_as_bf16: the params that
 * the copy reads as bf16 are those that ranks send each other as bf16. NULL after errors. */
const Function *training_split_round(Session *session, const Function *accumulate);
/* Compiles the update of this rank's part of the params, from the gradients that `accumulate`
 * (derive_accumulate_rows) computes, and adds the update and the split to the programs. A rank
 * without a part has no update. Params that `states` (derive_states; may be NULL) reads are not
 * sent as bf16, since `states` runs on every rank and needs exact values. `accumulate` and `states`
 * must not be compiled yet. False after errors. */
bool training_split_compile(Training *training, const Function *accumulate, const Function *states);
/* Makes the split's own store, after the training's store has params and gradients. False: memory
 * ran out. */
bool training_split_store(Training *training);

#endif
