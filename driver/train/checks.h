/* Mistakes that are reported early: before a vocabulary is made, which takes long, and before anything is compiled. */
#ifndef DRIVER_TRAIN_CHECKS_H
#define DRIVER_TRAIN_CHECKS_H

#include "driver/train/state.h"

/* Passes, processor, files to be written, memory; the model is open. False after errors. */
bool training_check_settings(Training *training);
/* Whether the texts fit the memory, from the sizes of their files; false after an error. */
bool training_check_sizes(Training *training);

#endif
