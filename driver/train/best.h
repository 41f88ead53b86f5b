/* By what the best checkpoint of a training is chosen. */
#ifndef DRIVER_TRAIN_BEST_H
#define DRIVER_TRAIN_BEST_H

#include "driver/train/state.h"

/* What --best comes to, with the texts of --valid. */
BestOption training_best_option(Arena *arena, const TrainOptions *options);
/* The same once the validation texts are known; false after an error. */
bool training_read_best(Training *training);
/* Settings of the best: as --best says, or as the run went so far, or BLEU; the share of wrong symbols where targets
 * are short, the loss where nothing is translated. Once programs are compiled. Adds it to the record. */
bool training_choose_best(Training *training, RunRecord *record);
/* What a run's record has of that: the measure, NULL where there is none, and TrainBest.by, or NULL. */
const TrainMeasure *training_recorded_best(const RunRecord *record, const char **by);
/* Of a run that goes on: the best so far by what decides now, from the log, where it was chosen by something else;
 * best.safetensors is then that of the best step whose params are left. False after errors. Rank 0 alone. */
bool training_judge_anew(Training *training);

#endif
