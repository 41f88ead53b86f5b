/* Training by several ranks (runtime/ranks): all have to be about to do the same. */
#ifndef DRIVER_TRAIN_RANKS_H
#define DRIVER_TRAIN_RANKS_H

#include "driver/train/training.h"

/* Pieces of a batch that ranks share where nobody says how many. */
enum { RANKS_SHARDS = 8 };

/* What multiplies, as rank 0 has measured it, on every rank. False after errors. */
bool training_ranks_choose(Job *job, Ranks *ranks);
/* Whether what decides the result is the same here as on rank 0, and this training can be shared;
 * params are there. An error names what is another. */
bool training_ranks_agree(Training *training, const RunRecord *record);

#endif
