/* The update of a training with shards: which rank has which part of it. */
#ifndef DRIVER_TRAINING_SPLIT_H
#define DRIVER_TRAINING_SPLIT_H

#include "driver/training.h"

/* Compiles the update of this rank's part and puts it, with the split, into the programs. False after
 * errors. */
bool training_split_compile(Training *training);
/* The split's own store, once the training's store has params and gradients. */
bool training_split_store(Training *training);

#endif
