/* Measures of sets of labels: a truth value and a probability for each label of each row. */
#include "runtime/data/measures.h"

#include "base/arena.h"
#include "runtime/data/label_thresholds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sets_begin(SetCounts *counts, int64_t n) { *counts = (SetCounts){.n = n}; }

void sets_add(SetCounts *counts, const int32_t *labels, const float *values)
{
    const size_t n = (size_t)counts->n;
    if (counts->rows == counts->room) {
        counts->room = 2 * counts->room + 64;
        counts->values =
            memory_resized(counts->values, (size_t)counts->room * n * sizeof *counts->values);
        counts->labels = memory_resized(counts->labels, (size_t)counts->room * n);
    }
    const size_t at = (size_t)counts->rows++ * n;
    memcpy(counts->values + at, values, n * sizeof *values);
    for (size_t i = 0; i < n; i++)
        counts->labels[at + i] = labels[i] != 0;
}

void sets_free(SetCounts *counts)
{
    free(counts->values);
    free(counts->labels);
    *counts = (SetCounts){0};
}

/* ---- one label ---- */

/* A row's probability of a label; -1: it is no number. */
typedef struct SetRank {
    float value;
    uint8_t is_there;
} SetRank;

static int by_value_down(const void *a, const void *b)
{
    const float x = ((const SetRank *)a)->value, y = ((const SetRank *)b)->value;
    return (x < y) - (x > y);
}

/* The rows by their probabilities of a label, the greatest first; `positive`: how many have it. */
static void rank_rows(const SetCounts *counts, int64_t label, SetRank *ranks, int64_t *positive)
{
    *positive = 0;
    for (int64_t row = 0; row < counts->rows; row++) {
        const int64_t at = row * counts->n + label;
        const float value = counts->values[at];
        ranks[row] = (SetRank){isnan(value) ? -1 : value, counts->labels[at]};
        *positive += ranks[row].is_there;
    }
    qsort(ranks, (size_t)counts->rows, sizeof *ranks, by_value_down);
}

static bool is_last_of_equal(const SetRank *ranks, int64_t row, int64_t rows)
{
    return row + 1 == rows || ranks[row + 1].value < ranks[row].value;
}

static double precision_of_label(const SetRank *ranks, int64_t rows, int64_t positive)
{
    int64_t right = 0, before = 0;
    double sum = 0;
    for (int64_t row = 0; row < rows; row++) {
        right += ranks[row].is_there;
        if (!is_last_of_equal(ranks, row, rows))
            continue;
        sum += (double)(right - before) * (double)right / (double)(row + 1);
        before = right;
    }
    return positive ? sum / (double)positive : 0;
}

/* Half way to the next lower probability, but above it. */
static float threshold_between(float above, float below)
{
    const float middle = (float)(((double)above + (double)below) / 2);
    return middle > below ? middle : above;
}

static float threshold_of_label(const SetRank *ranks, int64_t rows, int64_t positive)
{
    MatchCount count = {.labels = positive};
    double best = 0;
    float threshold = (float)SETS_THRESHOLD;
    for (int64_t row = 0; row < rows && ranks[row].value >= 0; row++) {
        count.right += ranks[row].is_there;
        count.predictions = row + 1;
        if (!is_last_of_equal(ranks, row, rows) || !(match_f1(&count) > best))
            continue;
        best = match_f1(&count);
        const float below = row + 1 < rows ? ranks[row + 1].value : 0;
        threshold = threshold_between(ranks[row].value, below > 0 ? below : 0);
    }
    return threshold;
}

/* ---- all labels ---- */

void sets_choose(const SetCounts *counts, float *thresholds)
{
    SetRank *ranks = memory_resized(NULL, (size_t)(counts->rows + 1) * sizeof *ranks);
    int64_t positive;
    for (int64_t label = 0; label < counts->n; label++) {
        rank_rows(counts, label, ranks, &positive);
        thresholds[label] = threshold_of_label(ranks, counts->rows, positive);
    }
    free(ranks);
}

/* Counts the labels of a row; whether all of them are right. */
static bool count_set(const SetCounts *counts, int64_t row, int64_t labels, const float *thresholds,
                      SetMatch *of)
{
    bool exact = true;
    for (int64_t label = 0; label < labels; label++) {
        const int64_t at = row * counts->n + label;
        const bool predicted = counts->values[at] >= thresholds[label],
                   is_there = counts->labels[at] != 0;
        of[label].count.labels += is_there;
        of[label].count.predictions += predicted;
        of[label].count.right += predicted && is_there;
        exact = exact && predicted == is_there;
    }
    return exact;
}

SetFigures sets_figures(const SetCounts *counts, int64_t labels, const float *thresholds,
                        SetMatch *of)
{
    SetRank *ranks = memory_resized(NULL, (size_t)(counts->rows + 1) * sizeof *ranks);
    MatchCount all = {0};
    SetFigures figures = {0};
    int64_t positive, exact = 0;
    memset(of, 0, (size_t)labels * sizeof *of);
    for (int64_t row = 0; row < counts->rows; row++)
        exact += count_set(counts, row, labels, thresholds, of);
    for (int64_t label = 0; label < labels; label++) {
        const MatchCount *count = &of[label].count;
        rank_rows(counts, label, ranks, &positive);
        of[label].average_precision = precision_of_label(ranks, counts->rows, positive);
        figures.average_precision += of[label].average_precision / (double)labels;
        figures.macro_f1 += match_f1(count) / (double)labels;
        all.labels += count->labels;
        all.predictions += count->predictions;
        all.right += count->right;
    }
    free(ranks);
    figures.micro_f1 = match_f1(&all);
    figures.exact = (double)exact / (double)counts->rows;
    return counts->rows ? figures : (SetFigures){NAN, NAN, NAN, NAN};
}
