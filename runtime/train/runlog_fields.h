/* The members of a line of log.jsonl, as tables that runlog.c writes and runlog_read.c reads. A line
 * is place, mean or step, time; with a validation also figures, verdict, the figures of each text
 * with a name ("valid") and what the model made of some lines ("samples", "continuations"). */
#ifndef RUNTIME_TRAIN_RUNLOG_FIELDS_H
#define RUNTIME_TRAIN_RUNLOG_FIELDS_H

#include "base/json_record.h"

/* Of a TrainReport. */
extern const JsonRecord runlog_place, runlog_mean, runlog_step, runlog_time, runlog_verdict;
/* Of TrainFigures: in the line itself, and in the object of a text with a name. */
extern const JsonRecord runlog_figures, runlog_text_figures;
/* Of a TrainSample that continues a prompt. */
extern const JsonRecord runlog_continuation;

#endif
