/* Training by several ranks (runtime/ranks): all have to be about to do the same, and each has a part of the
 * update. */
#ifndef DRIVER_TRAIN_RANKS_H
#define DRIVER_TRAIN_RANKS_H

#include "driver/train/state.h"

/* Pieces of a batch that ranks share where nobody says how many. */
enum { RANKS_SHARDS = 8 };

/* What multiplies, as rank 0 has measured it, on every rank. False after errors. */
bool training_ranks_choose(Job *job, Ranks *ranks);
/* Whether what decides the result is the same here as on rank 0, and this training can be shared;
 * params are there. An error names what is another. */
bool training_ranks_agree(Training *training, const RunRecord *record);

/* The program as `precision` leaves it, whose reads_as_bf16 tells which params ranks send each other as bf16; NULL
 * after errors. */
const Function *training_split_round(Session *session, const Function *accumulate);
/* Compiles the update of this rank's part of the gradients that `accumulate` gives (derive_accumulate_rows),
 * and puts it, with the split, into the programs. `states` (derive_states, or NULL) is asked what it reads before it is
 * compiled: it runs on every rank and needs params as they are. False after errors. */
bool training_split_compile(Training *training, const Function *accumulate, const Function *states);
/* The split's own store, once the training's store has params and gradients. */
bool training_split_store(Training *training);

#endif
