/* TrainReport: a line of log.jsonl, and its members as tables that runlog.c writes and
 * runlog_read.c reads. A line is place, mean or step, time; with a validation also figures,
 * verdict, the figures of each text with a name ("valid") and what the model made of some lines
 * ("samples", "continuations"). */
#ifndef RUNTIME_TRAIN_RUNLOG_LINE_H
#define RUNTIME_TRAIN_RUNLOG_LINE_H

#include "base/json_record.h"
#include "runtime/train/best.h"

/* TrainValid: the figures of one validation text.
 *   name   NULL: the text has no name */
typedef struct TrainValid {
    const char *name;
    TrainFigures figures;
} TrainValid;

/* TrainSample: a line of a validation text, from 0, and what the model made of it.
 *   prompt   the beginning that a language model continued; NULL: the text is a translation */
typedef struct TrainSample {
    int64_t line;
    const char *prompt, *text;
} TrainSample;

/* TrainReport: a line of log.jsonl. loss and tokens_per_second are means since the last line, rate
 * and gradient_norm are of this step. NAN: there is none. */
typedef struct TrainReport {
    int64_t step, epoch;
    double loss, rate, gradient_norm, tokens_per_second;
    /* shares of rank 0's time; NAN: there are no other ranks */
    double waited_for_ranks, waited_for_network;
    int64_t memory;          /* bytes that are resident; 0: unknown */
    double seconds;          /* of training, earlier sessions included */
    double seconds_left;     /* NAN: unknown */
    TrainFigures figures;    /* of the text by which the best is chosen */
    const TrainValid *valid; /* of every text; the hook's, valid until the next validation */
    int n_valid;
    const TrainSample *samples; /* of the first text, always the same lines; as `valid` */
    int n_samples;
    /* TrainBest.by of the validation; NULL: no validation, or a line of an older version */
    const char *best_by;
    bool validated, best;

    /* of how many checkpoints the validated params are the mean, and the step of the oldest; 0:
     * they are those of the step. `best`: the mean is better than the best checkpoint */
    int64_t averaged, averaged_first;

    const char *thresholds; /* TrainState.thresholds of the validation */
} TrainReport;

/* The member that makes a line one of a mean (TrainReport.averaged). */
#define RUNLOG_AVERAGED "averaged"

/* Of a TrainReport. */
extern const JsonRecord runlog_place, runlog_mean, runlog_step, runlog_time, runlog_verdict;
/* Of TrainFigures: in the line itself, and in the object of a text with a name. */
extern const JsonRecord runlog_figures, runlog_text_figures;
/* Of a TrainSample that continues a prompt. */
extern const JsonRecord runlog_continuation;

#endif
