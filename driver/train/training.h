/* A training before its first step: settings, programs, params, the folder. */
#ifndef DRIVER_TRAIN_TRAINING_H
#define DRIVER_TRAIN_TRAINING_H

#include "driver/train/state.h"

/* The learning rate of a train block. `steps`: of the run; at that step the rate reaches its final
 * value, if the block does not name another. */
RateSettings training_rate(const TrainSpec *spec, int64_t steps);
/* Makes settings, programs, params and the folder, after data was loaded. False after errors. */
bool training_prepare(Training *training);

#endif
