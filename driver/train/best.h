/* The figure by which the best checkpoint of a training is chosen. */
#ifndef DRIVER_TRAIN_BEST_H
#define DRIVER_TRAIN_BEST_H

#include "driver/train/state.h"

/* Splits the value of --best into text and measure. The name of a --valid is a text, even if it is
 * also a measure's. */
BestOption training_best_option(Arena *arena, const TrainOptions *options);
/* What is wrong with --best, as a message in the arena: it names neither a measure nor a text of
 * --valid. NULL: nothing. */
const char *training_best_mistake(Arena *arena, const TrainOptions *options);
/* Sets the training's best and best_text, once its validation texts were read; false after an
 * error. */
bool training_read_best(Training *training);
/* Chooses the figure, after programs were compiled, and adds it to the settings and the record:
 * that of --best, else that of the resumed run, else BLEU, or the share of wrong symbols if targets
 * are short, or the loss if the model does not translate. Without validation texts it does nothing.
 * False after errors. */
bool training_choose_best(Training *training, RunRecord *record);
/* The figure in a run's record: the measure, and at *by TrainBest.by; each NULL if the record has
 * none. */
const TrainMeasure *training_recorded_best(const RunRecord *record, const char **by);
/* For a resumed run whose best was chosen by another figure or on other validation texts: finds the
 * best so far by the present figure, from the log. best.safetensors becomes the checkpoint of the
 * best step that still has one. Other runs are left as they are. False after errors. Called on rank
 * 0 alone. */
bool training_judge_anew(Training *training);

#endif
