/* A training before its first step: settings, programs, params, the folder. */
#ifndef DRIVER_TRAIN_TRAINING_H
#define DRIVER_TRAIN_TRAINING_H

#include "driver/train/state.h"

/* The rate that a train block tells of; `steps`: of the run, where the block does not say how long it
 * falls. */
RateSettings training_rate(const TrainSpec *spec, int64_t steps);
/* Settings, programs, params, the folder; data is there. False after errors. */
bool training_prepare(Training *training);

#endif
