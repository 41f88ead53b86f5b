/* What run.json tells of a training, and what of it is another when a run is resumed. */
#ifndef DRIVER_TRAIN_RECORD_H
#define DRIVER_TRAIN_RECORD_H

#include "driver/train/state.h"

/* Fills the record that run.json is written from; data and settings are there. False after errors. */
bool training_record(Training *training, RunRecord *record);
/* Whether the run that `was` describes may be resumed as `now` says: what decides its result is the
 * same, or --allow-change was given. Tells each change; *changed: there is one. */
bool training_may_go_on(Training *training, const RunRecord *was, const RunRecord *now, bool *changed);

#endif
