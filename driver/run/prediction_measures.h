/* How well predictions fit the columns that say what is right. */
#ifndef DRIVER_RUN_PREDICTION_MEASURES_H
#define DRIVER_RUN_PREDICTION_MEASURES_H

#include "driver/run/prediction.h"
#include "runtime/data/measures.h"

/* Whether predictor_measure computes the figure MEASURE_… (runtime/train/best.h):
 *   accuracy, macro_f1      classes with a label a row
 *   accuracy, span_f1       with a label a position; F1 if the labels mark spans
 *   accuracy                of hidden tokens: those that the same corpus hides for a loss
 *   micro_f1, macro_f1, exact, average_precision   of sets of labels, at their thresholds
 *   line_error_rate, symbol_error_rate   of CTC's best paths
 *   spearman                a number a row, with one that is given
 *   recall                  two vectors of the same width, of which no column says what is right;
 *                           among RECALL_MOST records at equal distances, if there are more
 * Of several predictions a figure is of the first that has it. */
enum { RECALL_MOST = 5000 };
bool predictor_measures(const Predictor *predictor, int measure);
/* JudgedRow: a record's prediction beside what is right.
 *   row        of the corpus
 *   loss       how far it is off:
 *                classes     -ln of the label's probability
 *                tags        the mean of this over the positions
 *                sequences   edits from the best path to the labels (edit_distance)
 *                numbers     the difference's absolute value
 *                vectors     the rank of the partner, the greater of both ways (retrieval_ranks)
 *   predicted  n ids from that index in JudgedTask.ids on: one class, a tag for each position, or
 *              labels of CTC
 *   value      the predicted class's probability; the predicted number */
typedef struct JudgedRow {
    int64_t row, predicted, n;
    double loss, value;
} JudgedRow;

/* JudgedTask: how one task's prediction fits the records.
 *   prediction   NULL: the model has no such prediction
 *   counts       of classes, and of tags by positions; with a table unless there are more than
 *                CLASSES_MOST_TABLE
 *   spans        of tags
 *   rows         n of them, in the order in which they were computed; NULL: not kept */
typedef struct JudgedTask {
    const Prediction *prediction;
    ClassCounts counts;
    TagCounts spans;
    JudgedRow *rows;
    int64_t n;
    Ids ids;
} JudgedTask;

/* JudgedSets: the n labels of sets, one by one; prediction NULL: there are none. */
typedef struct JudgedSets {
    const Prediction *prediction;
    int64_t n;
    const SetMatch *of;
} JudgedSets;

/* Judged: of each task the first prediction that is one. `vectors`: the first of a pair. */
typedef struct Judged {
    JudgedTask classes, tags, sequences, numbers, vectors;
    JudgedSets sets;
} Judged;

/* Measuring: measures predictions of corpora, one after the other, as if they were one:
 *
 *   Measuring *m = measuring_begin(&predictor, job, rows, judged, false);
 *   for each corpus: ok = ok && measuring_add(m, corpus);
 *   ok = measuring_end(m, ok, &figures);                  // frees it, in any case
 *
 * It counts, but keeps two numbers a row for rank correlation, and for recall the vectors of
 * RECALL_MOST rows. */
typedef struct Measuring Measuring;
/* rows: of all corpora, which have all columns of the run. `judged`: gets counts of the tasks, in
 * the job's arena, and is freed by judged_free in any case; NULL: they are not wanted.
 * keeps_records: also the records one by one. NULL after an error: memory ran out. */
Measuring *measuring_begin(Predictor *predictor, Job *job, int64_t rows, Judged *judged,
                           bool keeps_records);
/* Predicts all rows. False after an error. */
bool measuring_add(Measuring *measuring, const Corpus *corpus);
/* ok: no error so far. Sets the figures; others stay as they are. NULL is allowed. */
bool measuring_end(Measuring *measuring, bool ok, TrainFigures *out);
/* All three with one corpus, and records if `judged` is not NULL. chooses: the thresholds of sets
 * become those that are best on it, before figures are taken. */
bool predictor_measure(Predictor *predictor, Job *job, const Corpus *corpus, bool chooses,
                       TrainFigures *out, Judged *judged);
void judged_free(Judged *judged);

#endif
