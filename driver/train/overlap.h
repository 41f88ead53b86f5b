/* Validation text that is training text. */
#ifndef DRIVER_TRAIN_OVERLAP_H
#define DRIVER_TRAIN_OVERLAP_H

#include "driver/train/state.h"

/* Warns of each validation text of which a tenth or more of the lines, pairs or records are among
 * those that are trained on: it measures what was learnt by heart. Streams, prepared data and
 * tensors are not compared. After the texts are read. */
void training_warn_of_overlap(Training *t);

#endif
