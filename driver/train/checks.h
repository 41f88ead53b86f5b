/* Checks that are made early: before anything is compiled, and, as far as the vocabulary does not
 * matter, before that is made, which takes long. */
#ifndef DRIVER_TRAIN_CHECKS_H
#define DRIVER_TRAIN_CHECKS_H

#include "driver/train/state.h"

/* Checks that params and the optimizer's state fit into the free memory, and into --memory. The
 * model is open. Without knows_vocabulary, dimensions of a vocabulary's size count as 1. False
 * after an error. */
bool training_check_memory(Training *training, bool knows_vocabulary);
/* Checks the processor, the file of --json-summary and the memory, and warns if no param trains.
 * The model is open. False after errors. */
bool training_check_settings(Training *training);
/* Estimates from the sizes of the files of the training text and of the validation text without a
 * name whether a training on them fits into memory. False after an error: it does not. */
bool training_check_sizes(Training *training);

#endif
