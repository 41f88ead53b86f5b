/* Predictions: what the `predict` lines of a run's model give for each record of a table or line of
 * a text. */
#ifndef DRIVER_RUN_PREDICTION_H
#define DRIVER_RUN_PREDICTION_H

#include "driver/run/folder.h"
#include "runtime/decode/ctc.h"
#include "runtime/train/best.h"

/* Prediction: of one `predict NAME = …`.
 *   classes    whether the values are probabilities of classes; else they are numbers
 *   side       the side of whose positions (of a text by_words: words) each has values; -1: a row
 *              has `width` values
 *   width      values of a row or a position
 *   n_classes  how many: the last dimension, of which `width` is a multiple
 *   names      the classes' names; NULL: they have none, and go by their numbers
 *   label      the column of the run's that says what is right; -1: none
 *   hidden     without one: the column of text whose hidden tokens it finds again; -1: none
 *   is_ctc     the classes are of frames, and CTC makes the labels of them
 *   thresholds of a set of labels: those are in it whose probability is at least theirs, n_classes
 *              numbers; NULL: it is no set
 *   mark       of a set: what stands between its labels */
typedef struct Prediction {
    const char *name;
    bool classes, is_ctc;
    int label, hidden;
    int side;
    int64_t width, n_classes;
    const char *const *names;
    float *thresholds;
    char mark[2];
} Prediction;
/* The name of a class that there is room for, and no label. */
extern const char class_unused[];

/* Predictor: how a run predicts. Of an ensemble, all whose runs predict and read the same, values
 * are the mean of those of its members.
 *   given      the run's columns; run_kind: what it was trained on
 *   function   what is computed, and so which inputs are read
 *   columns    those of the run's columns that it reads
 *   kind       of the corpora that it reads; predictor_options: their options
 *   hides      tokens of columns are hidden as in training, to be found again */
typedef struct Predictor {
    Inference *inference;
    const DataColumns *given;
    CorpusKind run_kind;
    Function *function;
    const TfcProgram *program;
    const char *only;          /* the one prediction that is asked for; NULL: all */
    struct Predictor *members; /* of the inference's members, as many; NULL: none */
    Prediction *all;
    int n;
    DataColumns columns;
    Feed feed;
    CorpusKind kind;
    bool hides;
    Exec *exec; /* of predictor_each, until predictor_close */
} Predictor;

/* Finds what a model predicts. `only`: the one prediction that is wanted, by its name; NULL: all.
 * The inference may lack a vocabulary. False after errors: the model predicts nothing, or not
 * that. */
bool predictor_find(Predictor *predictor, Job *job, Inference *inference,
                    const DataColumns *columns, CorpusKind kind, const char *only);
/* The same, and compiles it; the params are to be loaded after that. Further runs of an ensemble
 * are added by predictor_add_members. */
bool predictor_prepare(Predictor *predictor, Job *job, Inference *inference,
                       const DataColumns *columns, CorpusKind kind, const char *only);
/* Prepares the further runs of the ensemble, before params are loaded, for predictor_run. False
 * after an error: one predicts or reads something else. */
bool predictor_add_members(Predictor *predictor, Job *job, RunFolder *run);
/* The same of a function whose outputs are no predictions: all but `all` and `n`, which are zero,
 * and `program`. */
void predictor_read(Predictor *predictor, Job *job, Inference *inference,
                    const DataColumns *columns, CorpusKind kind, Function *function);
/* Those of what decoding reads, after inference_prepare_decode. False after an error: nothing is
 * decoded from, or the further runs of an ensemble read other columns. */
bool predictor_read_sources(Predictor *predictor, Job *job, const RunFolder *run);
/* How many of its classes are labels: of a set those of its list. */
int64_t prediction_labels(const Predictor *predictor, const Prediction *prediction);
/* Whether the model predicts anything. */
bool predicts(const Module *module);
/* Checks that each value has a place: behind rows and positions, dimensions are constant. Of the
 * function of predictions; false after an error. */
bool predictions_check(Job *job, const Function *function);
/* Of corpora with all rows but those with a cell without positions; long ones are cut. */
CorpusOptions predictor_options(const Predictor *predictor);
/* n rows of texts from `first` on. Their counts for notes are added to *told. NULL after errors.
 * Freed by corpus_free. */
Corpus *predictor_corpus(const Predictor *predictor, Job *job, const CorpusText *text,
                         int64_t first, int64_t n, CorpusTold *told);
/* Tells what was told of all rows: how many are cut, unknown tokens. */
void predictor_tell(const Predictor *predictor, Job *job, const CorpusText *text,
                    const CorpusTold *told);

/* The words that a prediction gives values of row `row` for, and which positions are their first;
 * -1: all positions have values, or the row has. */
int64_t predicted_words(const Prediction *prediction, const Corpus *corpus, int64_t row,
                        const int32_t **firsts);
/* How many values of all predictions a row has. */
int64_t predictor_values(const Predictor *predictor, const Corpus *corpus, int64_t row);
/* Called with the values of a row: n of prediction p, which are valid until it returns. */
typedef void PredictedRow(void *context, const Corpus *corpus, int64_t row, int p,
                          const float *values, int64_t n);
/* Computes all rows in batches, of at most PREDICTED_VALUES values unless a row has more. `feed`:
 * of the corpus's columns. False after an error: memory ran out. */
enum { PREDICTED_VALUES = 1 << 22 };
bool predictor_each(Predictor *predictor, Job *job, const Corpus *corpus, const Feed *feed,
                    PredictedRow *act, void *context);
/* Frees what predictor_each and predictor_run keep from one corpus to the next. Zeros are
 * allowed. */
void predictor_close(Predictor *predictor);

/* Predicted: the values of all rows of a corpus, a list for each prediction. Those of row i are
 * values[start[i]] … values[start[i + 1] - 1]. */
typedef struct Predicted {
    float *values;
    int64_t *start; /* rows + 1 */
} Predicted;

/* Computes all rows in batches; results[p] is of predictor->all[p], in the arena. False after an
 * error: memory ran out. */
bool predictor_run(Predictor *predictor, Job *job, const Corpus *corpus, Arena *arena,
                   Predicted *results);

/* ---- ctc_lexicon.c ---- */

/* Lexicons of `tfc predict`: the words of which a search of CTC makes its results. */

/* The words of a file: a line has the labels of one, with blanks between them. `separator`: the
 * label between words; NULL: a result is one word. In the job's arena; NULL after an error, such as
 * a label that the prediction lacks. */
const CtcLexicon *ctc_lexicon_read(Job *job, const Prediction *prediction, const char *path,
                                   const char *separator);

#endif
