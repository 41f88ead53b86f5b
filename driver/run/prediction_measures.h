/* How well predictions fit the columns that say what is right. */
#ifndef DRIVER_RUN_PREDICTION_MEASURES_H
#define DRIVER_RUN_PREDICTION_MEASURES_H

#include "driver/run/prediction.h"

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
/* Predicts all rows of a corpus that has all columns of the run, and sets the figures; others stay
 * as they are. False after an error: memory ran out. */
bool predictor_measure(const Predictor *predictor, Job *job, const Corpus *corpus,
                       TrainFigures *out);

#endif
