/* Checks that are made early: before a vocabulary is made, which takes long, and before anything is
 * compiled. */
#ifndef DRIVER_TRAIN_CHECKS_H
#define DRIVER_TRAIN_CHECKS_H

#include "driver/train/state.h"

/* Checks that params and optimizer fit into the memory, and into --memory. The model is open. With
 * knows_vocabulary its dimensions are those of the vocabulary, otherwise the least that they can
 * be. False after an error. */
bool training_check_memory(Training *training, bool knows_vocabulary);
/* Checks the passes, the processor, the files to be written and the memory. The model is open.
 * False after errors. */
bool training_check_settings(Training *training);
/* Checks from the sizes of the texts' files that they fit into memory. False after an error. */
bool training_check_sizes(Training *training);

#endif
