/* Measures: how well predictions fit labels, for each kind of output. BLEU is in bleu.h.
 *
 *   classes     accuracy, macro F1, table of labels and predictions
 *   tags        token accuracy, F1 of spans
 *   sets        micro and macro F1, exact matches, mean average precision; thresholds
 *   sequences   token error rate, rate of wrong sequences
 *   numbers     Spearman's and Pearson's correlation, mean squared error
 *   retrieval   recall at k
 *
 *   ClassCounts counts;
 *   if (!classes_begin(&counts, arena, diags, 3, false))
 *       return false;
 *   for each item: classes_add(&counts, label, predicted);
 *   printf("%f\n", classes_macro_f1(&counts));
 *
 * A structure that begins as zeros needs no `begin`. Only sets, numbers and retrieval keep more
 * than counts. A share of nothing is NAN: the accuracy of no items, the error rate of no tokens. */
#ifndef RUNTIME_DATA_MEASURES_H
#define RUNTIME_DATA_MEASURES_H

#include "base/diag.h"

#include <stdint.h>

/* MatchCount: items of one class, or spans of one type. `right`: in both labels and predictions. */
typedef struct MatchCount {
    int64_t labels, predictions, right;
} MatchCount;

/* right / predictions, right / labels, and their harmonic mean 2 right / (labels + predictions)
 * (van Rijsbergen 1979). Each is 0 instead of 0/0. */
double match_precision(const MatchCount *count);
double match_recall(const MatchCount *count);
double match_f1(const MatchCount *count);

/* ---- classes ---- */

/* The most classes, and the most of which a table is counted (128 MB). */
enum { CLASSES_MOST = 1 << 24, CLASSES_MOST_TABLE = 1 << 12 };

/* ClassCounts: items by class, in the arena.
 *   n       how many classes there are: ids from 0 to n - 1
 *   items   how many have been added; `right` of them have their label as prediction
 *   of      the counts of each class
 *   table   n × n: items of label l and prediction p at l × n + p; NULL: not counted */
typedef struct ClassCounts {
    int64_t n, items, right;
    MatchCount *of;
    int64_t *table;
} ClassCounts;

/* False after an error: `n` is out of range, or memory ran out (an arena of arena_try_new). */
bool classes_begin(ClassCounts *counts, Arena *arena, Diagnostics *diags, int64_t n, bool table);
/* False: an id is not from 0 to n - 1, and the item is not counted. */
bool classes_add(ClassCounts *counts, int64_t label, int64_t predicted);
double classes_accuracy(const ClassCounts *counts); /* right / items */
/* The mean of F1 over the classes that occur among labels or predictions ("averaged F1" of Opitz
 * and Burst 2019, as scikit-learn computes it). NAN: no class occurs. */
double classes_macro_f1(const ClassCounts *counts);

/* ---- tags: a label for each token ---- */

/* Whether a list of labels describes spans: each is "O", special ("<pad>"), or one of "B-TYPE",
 * "I-TYPE", "E-TYPE", "S-TYPE" with a type that is not empty, and at least one has a prefix other
 * than E. */
bool tags_have_spans(const char *const *labels, int64_t n);

/* TagCounts: tokens and spans, in the arena.
 *   has_spans   tags_have_spans; if not, only tokens are counted
 *   spans       spans of all types: their F1 is the micro mean
 *   of          the spans of each type; `types` has the names, in the order of the labels
 *
 * Spans are those of conlleval (Tjong Kim Sang and Buchholz 2000) and of seqeval's default mode.
 * I or E continues a span if the label before is B or I of the same type. All other labels but O
 * begin a span, so I after O begins one, too. A span ends before the first label that does not
 * continue it. A predicted span is right if first token, last token and type are those of a span of
 * the labels. */
typedef struct TagCounts {
    int64_t tokens, right;
    bool has_spans;
    MatchCount spans;
    int64_t n_types;
    const char **types;
    MatchCount *of;
    int64_t n_labels;     /* private, as is `tags` */
    struct SpanTag *tags; /* what each label says */
} TagCounts;

/* Copies what it needs of n labels, whose ids are their places. False after an error: there are
 * none, or more than CLASSES_MOST, or memory ran out. */
bool tags_begin(TagCounts *counts, Arena *arena, Diagnostics *diags, const char *const *labels,
                int64_t n);
/* Adds a sequence of n tokens. False: an id is no label's, and nothing is counted. */
bool tags_add(TagCounts *counts, const int32_t *labels, const int32_t *predicted, int64_t n);
double tags_accuracy(const TagCounts *counts); /* right / tokens */

/* ---- sets of labels ---- */

/* SetCounts: of each row what is right and what is predicted, n values each, 5 bytes a value. */
typedef struct SetCounts {
    int64_t n, rows, room; /* labels; rows that have been added; for this many there is room */
    float *values;
    uint8_t *labels;
} SetCounts;

void sets_begin(SetCounts *counts, int64_t n);
/* Adds a row: of each label whether it is there, and its probability. */
void sets_add(SetCounts *counts, const int32_t *labels, const float *values);
void sets_free(SetCounts *counts);
/* The threshold of each label that has the greatest F1 on these rows, a label counting as predicted
 * where its probability is at least that: half way between the two probabilities that it parts (of
 * equally good ones the greatest). Of a label that no row has SETS_THRESHOLD
 * (label_thresholds.h). */
void sets_choose(const SetCounts *counts, float *thresholds);

/* SetFigures, as scikit-learn computes them of multilabel indicators with zero_division = 0:
 *   micro_f1           of all labels together
 *   macro_f1           the mean of F1 over all labels; that of a label that is neither there nor
 *                      predicted is 0
 *   exact              the share of rows whose set is predicted as it is
 *   average_precision  the mean over all labels of the sum over their different probabilities,
 *                      from the greatest on, of (recall - recall before) × precision; 0 of a label
 *                      that no row has
 * NAN where there are no rows. */
typedef struct SetFigures {
    double micro_f1, macro_f1, exact, average_precision;
} SetFigures;
/* SetMatch: of one label. */
typedef struct SetMatch {
    MatchCount count;
    double average_precision;
} SetMatch;

/* Of the first `labels` of the n. `of`: gets what is counted of each. */
SetFigures sets_figures(const SetCounts *counts, int64_t labels, const float *thresholds,
                        SetMatch *of);

/* ---- sequences ---- */

/* The fewest insertions, deletions and replacements that turn a into b (Levenshtein 1966). */
int64_t edit_distance(const int32_t *a, int64_t n, const int32_t *b, int64_t m);

/* ErrorCounts: `edits` from predictions to labels, `tokens` of the labels, `wrong` sequences: those
 * that differ in any token. */
typedef struct ErrorCounts {
    int64_t sequences, wrong, edits, tokens;
} ErrorCounts;

void errors_add(ErrorCounts *counts, const int32_t *predicted, int64_t n, const int32_t *labels,
                int64_t m);
/* edits / tokens: the word, character or phoneme error rate, by what tokens are. Above 1 if there
 * are more edits than tokens. */
double errors_token_rate(const ErrorCounts *counts);
double errors_sequence_rate(const ErrorCounts *counts); /* wrong / sequences */
double errors_exact_rate(const ErrorCounts *counts);    /* the share of all other sequences */

/* ---- numbers ---- */

/* NumberPairs: labels and predictions, all of them kept. Begins as zeros; freed by numbers_free. */
typedef struct NumberPairs {
    int64_t n, room; /* room: for this many */
    float *labels, *predicted;
} NumberPairs;

/* Reserves memory for n pairs, in place of memory that grows. */
void numbers_reserve(NumberPairs *pairs, int64_t n);
void numbers_add(NumberPairs *pairs, float label, float predicted);
void numbers_free(NumberPairs *pairs);
/* With labels x and predictions y; a NaN among them makes each measure NAN, as in scipy.
 *
 *   Pearson    Σ (x - x̄)(y - ȳ) / √(Σ (x - x̄)² Σ (y - ȳ)²)            (Pearson 1895)
 *   Spearman   Pearson's correlation of ranks; equal values have the
 *              mean of the ranks that they share                       (Spearman 1904)
 *   mean squared error   Σ (x - y)² / n
 *
 * Correlations are from -1 to 1. They are NAN if all labels or all predictions are equal, Pearson's
 * also if a value is infinite, Spearman's of more than 2^31 - 1 pairs. */
double numbers_pearson(const NumberPairs *pairs);
double numbers_squared_error(const NumberPairs *pairs);
/* Puts ranks in the place of the numbers, for which it needs 8 bytes a pair more: the pairs are
 * empty then, and freed. */
double numbers_spearman(NumberPairs *pairs);

/* ---- retrieval ---- */

/* The ranks of partners in two sets of n vectors, [n × width], where row i of one belongs to row i
 * of the other. ranks_a[i] is 1 + the number of rows j other than i of b whose dot product with row
 * i of a is not less than that of row i of b: equal ones count against. ranks_b[i] is the same with
 * a and b exchanged. A partner whose own product is NaN has the rank INT64_MAX; other products that
 * are NaN count against. Takes n² × width multiplications, which `threads` share, and memory for n
 * numbers. */
void retrieval_ranks(const float *a, const float *b, int64_t n, int64_t width, int threads,
                     int64_t *ranks_a, int64_t *ranks_b);
/* Recall at k: the share of n ranks that are at most k (Hodosh et al. 2013). */
double retrieval_recall(const int64_t *ranks, int64_t n, int64_t k);

#endif
