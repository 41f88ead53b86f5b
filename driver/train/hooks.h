/* The hooks of train() (TrainHooks): what the loop asks for while it runs. */
#ifndef DRIVER_TRAIN_HOOKS_H
#define DRIVER_TRAIN_HOOKS_H

#include "driver/train/state.h"

/* Measures each validation text, and fills the report with figures and samples; false after errors. */
bool training_validate(Training *training, TrainReport *report);
/* The name of a param whose gradient of this batch is not finite, and in *value its first such element; found
 * by a program that is compiled then. NULL: there is none. */
const char *training_find_bad(Training *training, const Batch *batch, uint64_t stream, double *value);

#endif
