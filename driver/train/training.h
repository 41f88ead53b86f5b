/* A training before its first step: settings, programs, params, the folder. */
#ifndef DRIVER_TRAIN_TRAINING_H
#define DRIVER_TRAIN_TRAINING_H

#include "driver/train/state.h"

/* The learning rate of a train block. `steps`: of the run; at that step the rate reaches its final
 * value, if the block does not name another. */
RateSettings training_rate(const TrainSpec *spec, int64_t steps);
/* Makes settings, programs, params and the folder, after data was loaded. False after errors. */
bool training_prepare(Training *training);

/* ---- record.c ---- */

/* What run.json records of a training. */

/* A fact of trainings whose gradients are rounded alone. */
#define ROUNDED_GRADIENTS "gradients between ranks"
/* Fills the record for run.json, after data and settings were read. False after errors. */
bool training_record(Training *training, RunRecord *record);

/* ---- changes.c ---- */

/* Whether the run of record `was` may be resumed with the record `now`: all that its result depends
 * on is the same, or --allow-change was given. Reports the differences; *changed: there is one. */
bool training_may_go_on(Training *training, const RunRecord *was, const RunRecord *now,
                        bool *changed);

/* ---- hooks.c ---- */

/* The hooks of train() (TrainHooks), which the loop calls. */

/* Measures each validation text, and fills the report with figures and, if the model can decode,
 * samples of the first text; false after errors. */
bool training_validate(Training *training, TrainReport *report);
/* Writes the hashes of a step to the file of --hashes, or with --verify compares them; false after
 * an error. */
bool training_hashed(Training *training, const StepHashes *hashes);
/* The name of the first param whose gradient of this batch is not finite, and at *value the first
 * element of that gradient that is not. Compiles a program to find the param. NULL: there is none,
 * or the program could not be compiled or run. */
const char *training_find_bad(Training *training, const Batch *batch, uint64_t stream,
                              double *value);
/* The hook place_of_step: plans the program once more, to find the op that the step computes. *why:
 * how that op makes a NaN of finite numbers, for a message, or "". {0}: not found. */
Loc training_place_of(Training *training, const TfcProgram *program, int step, const char **why);

#endif
