/* What tfc train adds to a training: its options, and what is shown of it while it runs. */
#ifndef CLI_OPTIONS_TRAINING_H
#define CLI_OPTIONS_TRAINING_H

#include "cli/options/common.h"
#include "driver/train/state.h"

typedef struct TrainCommand {
    Common common;
    TrainOptions o;
} TrainCommand;

/* Completes the options that were parsed, with --resume by those of the run before them; an
 * exit status. */
int training_options(Job *job, const Arguments *given, TrainCommand *command);
/* Trains until the end or a signal, and tells of it; an exit status. (training_run.c) */
int training_run(Training *training);

#endif
