/* What run.json records of a training, and comparing two records when a run is resumed. */
#ifndef DRIVER_TRAIN_RECORD_H
#define DRIVER_TRAIN_RECORD_H

#include "driver/train/state.h"

/* Fills the record for run.json, after data and settings were read. False after errors. */
bool training_record(Training *training, RunRecord *record);
/* Whether the run of record `was` may be resumed with the record `now`: all that its result depends
 * on is the same, or --allow-change was given. Reports the differences; *changed: there is one. */
bool training_may_go_on(Training *training, const RunRecord *was, const RunRecord *now,
                        bool *changed);

#endif
