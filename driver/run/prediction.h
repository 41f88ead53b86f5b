/* Predictions: what the `predict` lines of a run's model give for each record of a table or line of
 * a text. */
#ifndef DRIVER_RUN_PREDICTION_H
#define DRIVER_RUN_PREDICTION_H

#include "driver/run/folder.h"

/* Prediction: of one `predict NAME = …`.
 *   classes    whether the values are probabilities of classes; else they are numbers
 *   side       the side of whose positions each has values; -1: a row has `width` values
 *   width      values of a row or a position: how many classes there are
 *   names      the classes' names; NULL: they have none, and go by their numbers */
typedef struct Prediction {
    const char *name;
    bool classes;
    int side;
    int64_t width;
    const char *const *names;
} Prediction;

/* Predictor: how a run predicts.
 *   function   what is computed, and so which inputs are read
 *   columns    those of the run's columns that it reads
 *   kind       of the corpora that it reads */
typedef struct Predictor {
    RunFolder *run;
    Function *function;
    const TfcProgram *program;
    Prediction *all;
    int n;
    DataColumns columns;
    Feed feed;
    CorpusKind kind;
} Predictor;

/* Finds what the run predicts and compiles it; run_folder_load follows. `only`: the one prediction
 * that is wanted, by its name; NULL: all. False after errors: it predicts nothing, or not that. */
bool predictor_prepare(Predictor *predictor, Job *job, RunFolder *run, const char *only);
/* n rows of texts from `first` on, all of them; long ones are cut with a warning. NULL after errors.
 * Freed by corpus_free. */
Corpus *predictor_corpus(const Predictor *predictor, Job *job, const CorpusText *text,
                         int64_t first, int64_t n);

/* Predicted: the values of all rows of a corpus, a list for each prediction. Those of row i are
 * values[start[i]] … values[start[i + 1] - 1]. */
typedef struct Predicted {
    float *values;
    int64_t *start; /* rows + 1 */
} Predicted;

/* Computes all rows in batches; results[p] is of predictor->all[p], in the arena. False after an
 * error: memory ran out. */
bool predictor_run(const Predictor *predictor, Job *job, const Corpus *corpus, Arena *arena,
                   Predicted *results);

#endif
