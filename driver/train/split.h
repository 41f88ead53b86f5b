/* The update of a training with shards: which rank has which part of it. */
#ifndef DRIVER_TRAIN_SPLIT_H
#define DRIVER_TRAIN_SPLIT_H

#include "driver/train/training.h"

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
