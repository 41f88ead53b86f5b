/* Checks that are made early: before a vocabulary is made, which takes long, and before anything is
 * compiled. */
#ifndef DRIVER_TRAIN_CHECKS_H
#define DRIVER_TRAIN_CHECKS_H

#include "driver/train/state.h"

/* Checks that params and the optimizer's state fit into the free memory, and into --memory. The
 * model is open. With knows_vocabulary its dimensions are those of the vocabulary, otherwise the
 * least that they can be. False after an error. */
bool training_check_memory(Training *training, bool knows_vocabulary);
/* Checks the processor, the file of --json-summary and the memory, and warns if no param trains.
 * The model is open. False after errors. */
bool training_check_settings(Training *training);
/* Estimates from the sizes of the texts' files whether they fit into memory. False after an
 * error. */
bool training_check_sizes(Training *training);

#endif
