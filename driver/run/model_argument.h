/* ModelArgument: the path that a command takes as MODEL or RUN: a model's file or the folder of a
 * run. The folder of a run is accepted wherever a model is expected. */
#ifndef DRIVER_RUN_MODEL_ARGUMENT_H
#define DRIVER_RUN_MODEL_ARGUMENT_H

#include "driver/session/session.h"

typedef struct ModelArgument {
    SessionOptions options; /* path, settings; of a run also library, run, fits; rest: defaults */
    const char *run;        /* the folder, for vocabulary and checkpoints; NULL: a model's file */
} ModelArgument;

/* Reads a MODEL argument. For a run, the options have the size of its vocabulary and its settings,
 * which --set overrides. False after an error, such as the path of IR or of a checkpoint; it says
 * what to give instead. Other files are taken as a model's: opening them reports errors. */
bool model_argument(Job *job, const char *path, const TextList *settings, ModelArgument *model);

/* The reach of the files that the model in a file names: of one in the folder of a run, that
 * folder; of the user's own, anywhere. */
FileReach model_reach(Job *job, const char *path);

/* Checks a RUN argument. False after an error, which says what to give instead. */
bool run_argument(Job *job, const char *path);

#endif
