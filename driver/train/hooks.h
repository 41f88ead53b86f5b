/* The hooks of train() (TrainHooks), which the loop calls. */
#ifndef DRIVER_TRAIN_HOOKS_H
#define DRIVER_TRAIN_HOOKS_H

#include "driver/train/state.h"

/* Measures each validation text, and fills the report with figures and, if the model can decode,
 * samples of the first text; false after errors. */
bool training_validate(Training *training, TrainReport *report);
/* The name of the first param whose gradient of this batch is not finite, and at *value the first
 * element of that gradient that is not. Compiles a program to find the param. NULL: there is none,
 * or the program could not be compiled or run. */
const char *training_find_bad(Training *training, const Batch *batch, uint64_t stream,
                              double *value);
/* The hook place_of_step: plans the program once more, to find the op that the step computes. *why:
 * how that op makes a NaN of finite numbers, for a message, or "". {0}: not found. */
Loc training_place_of(Training *training, const TfcProgram *program, int step, const char **why);

#endif
