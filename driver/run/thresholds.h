/* The thresholds of predicted sets of labels: chosen on validation, kept in checkpoints, of which
 * each has those that its own validation chose (TrainState.thresholds). */
#ifndef DRIVER_RUN_THRESHOLDS_H
#define DRIVER_RUN_THRESHOLDS_H

#include "driver/run/prediction.h"

/* The thresholds of all sets as JSON, by the predictions' names: {"tag": [0.5, 0.31]}; in the
 * arena. NULL: there are no sets. */
const char *thresholds_text(Arena *arena, const Predictor *predictor);
/* What a checkpoint, a file or a folder, says, in the arena; NULL: nothing. */
const char *thresholds_in(Job *job, const char *checkpoint);
/* Gives the predictor's sets the mean of the thresholds of n checkpoints: files or folders, each of
 * which has SETS_THRESHOLD for all labels if it says nothing. False after an error: they are
 * damaged, or of another number of labels. */
bool thresholds_mean(Job *job, Predictor *predictor, const char *const *checkpoints, int n);
/* The same of a run after run_folder_load, and of the further runs of its ensemble. */
bool thresholds_of_run(Job *job, Predictor *predictor, const RunFolder *run);
/* The same, or one number for all that --threshold gives; below 0: it is not given. */
bool thresholds_settle(Job *job, Predictor *predictor, const RunFolder *run, double given);

#endif
