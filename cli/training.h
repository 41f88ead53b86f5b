/* What tfc train adds to a training: its options, and what is shown of it while it runs. */
#ifndef CLI_TRAINING_H
#define CLI_TRAINING_H

#include "cli/options.h"
#include "driver/training.h"

/* Reads the options, with --resume those of the run before them. False: *status is the exit
 * status. (training_options.c) */
bool training_options(Job *job, int argc, char **argv, TrainOptions *options, int *status);
/* Trains until the end or a signal, and tells of it; an exit status. (training_run.c) */
int training_run(Training *training);

#endif
