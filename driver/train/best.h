/* The figure by which the best checkpoint of a training is chosen. */
#ifndef DRIVER_TRAIN_BEST_H
#define DRIVER_TRAIN_BEST_H

#include "driver/train/state.h"

/* Reads --best, given the texts of --valid. */
BestOption training_best_option(Arena *arena, const TrainOptions *options);
/* What is wrong with it, in the arena: neither a measure nor a text of --valid; NULL: nothing. */
const char *training_best_mistake(Arena *arena, const TrainOptions *options);
/* The same for a training, once its validation texts are known; false after an error. */
bool training_read_best(Training *training);
/* Chooses the figure and adds it to the record, after programs were compiled: that of --best, else
 * that of the resumed run, else BLEU, or the share of wrong symbols if targets are short, or the
 * loss if the model does not translate. False after errors. */
bool training_choose_best(Training *training, RunRecord *record);
/* The figure in a run's record: the measure, and at *by TrainBest.by; each NULL if the record has
 * none. */
const TrainMeasure *training_recorded_best(const RunRecord *record, const char **by);
/* For a resumed run whose best was chosen by another figure: finds the best so far by the present
 * one, from the log. best.safetensors becomes the checkpoint of the best step that still has one.
 * False after errors. Rank 0 alone. */
bool training_judge_anew(Training *training);

#endif
