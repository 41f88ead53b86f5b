/* What the path stands for that a command is given as its MODEL or RUN. The folder of a run
 * stands for its model wherever a model is expected; the error about any other path says what
 * to give instead. */
#ifndef DRIVER_RUN_MODEL_ARGUMENT_H
#define DRIVER_RUN_MODEL_ARGUMENT_H

#include "driver/session/session.h"

typedef struct ModelArgument {
    SessionOptions options; /* path, library and settings; all else as session_defaults */
    const char *run;        /* the folder, for vocabulary and checkpoints; NULL: a model's file */
} ModelArgument;

/* A model's file, or the folder of a run: then with the vocabulary's size and the settings
 * that it was trained with, of which --set is stronger. False after an error. */
bool model_argument(Job *job, const char *path, const TextList *settings, ModelArgument *model);

/* The folder of a run; false after an error, which says how to come by one. */
bool run_argument(Job *job, const char *path);

#endif
