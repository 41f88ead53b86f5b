/* How well predictions fit the columns that say what is right. */
#ifndef DRIVER_RUN_PREDICTION_MEASURES_H
#define DRIVER_RUN_PREDICTION_MEASURES_H

#include "driver/run/prediction.h"
#include "runtime/data/measures.h"

/* Whether predictor_measure computes the figure MEASURE_… (runtime/train/best.h):
 *   accuracy, macro_f1      classes with a label a row
 *   accuracy, span_f1       with a label a position; F1 if the labels mark spans
 *   accuracy                of hidden tokens: those that the same corpus hides for a loss
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

/* JudgedTask: the records as one task's prediction fits them.
 *   prediction   NULL: the model has no such prediction
 *   counts       of classes, and of tags by positions; with a table unless there are more than
 *                CLASSES_MOST_TABLE
 *   spans        of tags
 *   rows         n of them, in the order in which they were computed */
typedef struct JudgedTask {
    const Prediction *prediction;
    ClassCounts counts;
    TagCounts spans;
    JudgedRow *rows;
    int64_t n;
    Ids ids;
} JudgedTask;

/* Judged: of each task the first prediction that is one. `vectors`: the first of a pair. */
typedef struct Judged {
    JudgedTask classes, tags, sequences, numbers, vectors;
} Judged;

/* Predicts all rows of a corpus that has all columns of the run, and sets the figures; others stay
 * as they are. `judged`: gets the records one by one, in the job's arena, and is freed by
 * judged_free in any case; NULL: they are not wanted. False after an error: memory ran out. */
bool predictor_measure(const Predictor *predictor, Job *job, const Corpus *corpus,
                       TrainFigures *out, Judged *judged);
void judged_free(Judged *judged);

#endif
