/* Training by several ranks (runtime/ranks): checks that all ranks do the same training, and gives
 * each its part of the update. */
#ifndef DRIVER_TRAIN_RANKS_H
#define DRIVER_TRAIN_RANKS_H

#include "driver/train/state.h"

/* The default of --shards if there are several ranks. */
enum { RANKS_SHARDS = 8 };

/* Gives every rank the choice of products that rank 0 has measured. False after errors. */
bool training_ranks_choose(Job *job, Ranks *ranks);
/* Checks that all that the result depends on is the same here as on rank 0, and that this training
 * can be shared. The store has its params. False after an error, which names the difference. */
bool training_ranks_agree(Training *training, const RunRecord *record);

/* The function after pass `precision`; reads_as_bf16 of it says which params ranks send each other
 * as bf16. NULL after errors. */
const Function *training_split_round(Session *session, const Function *accumulate);
/* Compiles the update of this rank's part of the gradients that `accumulate` computes
 * (derive_accumulate_rows), and adds it and the split to the programs. `states` (derive_states, or
 * NULL) is not compiled yet: its params are not sent as bf16, since it runs on every rank and needs
 * exact values. False after errors. */
bool training_split_compile(Training *training, const Function *accumulate, const Function *states);
/* Makes the split's own store, after the training's store has params and gradients. False: memory
 * ran out. */
bool training_split_store(Training *training);

#endif
