/* The part of a training that only tfc train has: its options, and the reports while it runs. */
#ifndef CLI_OPTIONS_TRAINING_H
#define CLI_OPTIONS_TRAINING_H

#include "cli/options/common.h"
#include "driver/train/state.h"

typedef struct TrainCommand {
    Common common;
    TrainOptions o;
} TrainCommand;

/* Completes the parsed options; with --resume, by the options of the run being resumed. Returns an
 * exit status. */
int training_options(Job *job, const Arguments *given, TrainCommand *command);
/* Trains until the end or a signal, and reports the result; returns an exit status.
 * (training_run.c) */
int training_run(Training *training);

#endif
