/* The figure by which the best checkpoint of a training is chosen. */
#ifndef DRIVER_TRAIN_BEST_H
#define DRIVER_TRAIN_BEST_H

#include "driver/train/state.h"

/* Splits the value of --best into text and measure. The name of a --valid is a text, even if it is
 * also a measure's. */
BestOption training_best_option(Arena *arena, const TrainOptions *options);
/* What is wrong with --best, as a message in the arena: it names neither a measure, nor a text of
 * --valid, nor their mean. NULL: nothing. */
const char *training_best_mistake(Arena *arena, const TrainOptions *options);
/* Sets the training's best and best_text, once its validation texts were read; false after an
 * error. */
bool training_read_best(Training *training);
/* Chooses the figure, after programs were compiled, and adds it to the settings and the record. Its
 * measure is that of --best, else that of the resumed run, if it can be measured. Otherwise it is
 * BLEU; if targets have fewer than 4 words in the median, the symbol error rate; if validations do
 * not translate, the loss. Does nothing without validation texts. False after errors. */
bool training_choose_best(Training *training, RunRecord *record);
/* The figure in a run's record: its measure, and at *by TrainBest.by. NULL if the record has none,
 * or none that is known. */
const TrainMeasure *training_recorded_best(const RunRecord *record, const char **by);
/* For a resumed run that has validation texts, and whose best was chosen by another figure or on
 * other texts: finds the best so far by the present figure, from the log. If the texts are others,
 * earlier validations do not count. best.safetensors becomes the checkpoint of the best step that
 * still has one; if none has, it stays until the next validation. Leaves all other runs as they
 * are, those without validation texts too. False after errors. Called on rank 0 alone. */
bool training_judge_anew(Training *training);

#endif
