/* Verify: a training that repeats another run's (tfc train --verify), and compares each step's
 * hashes with the run's checkpoints and with the lines of --hashes. The run is only read. */
#ifndef DRIVER_TRAIN_VERIFY_H
#define DRIVER_TRAIN_VERIFY_H

#include "driver/train/state.h"

typedef struct Verify Verify;

/* Finds what there is to compare after the training's state, and sets the training's last step to
 * the last of that; the training has no limit of time then. In the job's arena; NULL after an
 * error: there is nothing, or the run's rate followed the clock. */
Verify *verify_open(Training *training);
/* False after an error: the step differs; it names the first param, gradient or the loss. */
bool verify_step(Verify *verify, const StepHashes *hashes);
/* What was compared, as a line for the user; NULL after an error: the training ended before. */
const char *verify_end(const Verify *verify);

#endif
