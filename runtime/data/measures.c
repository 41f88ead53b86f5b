/* Measures of classes, sequences and numbers. Those of tags are in measures_tags.c, those of
 * retrieval in measures_retrieval.c. */
#include "runtime/data/measures.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static double share_of(int64_t part, int64_t whole, double of_nothing)
{
    return whole ? (double)part / (double)whole : of_nothing;
}

double match_precision(const MatchCount *count)
{
    return share_of(count->right, count->predictions, 0);
}

double match_recall(const MatchCount *count) { return share_of(count->right, count->labels, 0); }

double match_f1(const MatchCount *count)
{
    return share_of(2 * count->right, count->labels + count->predictions, 0);
}

/* ---- classes ---- */

bool classes_begin(ClassCounts *counts, Arena *arena, Diagnostics *diags, int64_t n, bool table)
{
    *counts = (ClassCounts){.n = n};
    if (n < 1 || n > CLASSES_MOST) {
        diag_error(diags, (Loc){0}, "%" PRId64 " classes: the number must be from 1 to %d", n,
                   CLASSES_MOST);
        return false;
    }
    if (table && n > CLASSES_MOST_TABLE) {
        diag_error(diags, (Loc){0},
                   "a table of %" PRId64 " classes is too large: compare at most %d, or count "
                   "without a table",
                   n, CLASSES_MOST_TABLE);
        return false;
    }
    counts->of = ARENA_ARRAY(arena, MatchCount, n);
    counts->table = table ? ARENA_ARRAY(arena, int64_t, n *n) : NULL;
    diags->out_of_memory |= arena_failed(arena);
    return !arena_failed(arena);
}

bool classes_add(ClassCounts *counts, int64_t label, int64_t predicted)
{
    if (label < 0 || label >= counts->n || predicted < 0 || predicted >= counts->n)
        return false;
    const bool right = label == predicted;
    counts->items++;
    counts->right += right;
    counts->of[label].labels++;
    counts->of[label].right += right;
    counts->of[predicted].predictions++;
    if (counts->table)
        counts->table[label * counts->n + predicted]++;
    return true;
}

double classes_accuracy(const ClassCounts *counts)
{
    return share_of(counts->right, counts->items, NAN);
}

double classes_macro_f1(const ClassCounts *counts)
{
    double sum = 0;
    int64_t occurring = 0;
    for (int64_t i = 0; i < counts->n; i++) {
        sum += match_f1(&counts->of[i]);
        occurring += counts->of[i].labels + counts->of[i].predictions > 0;
    }
    return occurring ? sum / (double)occurring : NAN;
}

/* ---- sequences ---- */

int64_t edit_distance(const int32_t *a, int64_t n, const int32_t *b, int64_t m)
{
    int64_t *row = memory_resized(NULL, ((size_t)m + 1) * sizeof *row);
    for (int64_t j = 0; j <= m; j++)
        row[j] = j;
    for (int64_t i = 1; i <= n; i++) {
        int64_t diagonal = row[0];
        row[0] = i;
        for (int64_t j = 1; j <= m; j++) {
            int64_t best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    int64_t distance = row[m];
    free(row);
    return distance;
}

void errors_add(ErrorCounts *counts, const int32_t *predicted, int64_t n, const int32_t *labels,
                int64_t m)
{
    const int64_t edits = edit_distance(predicted, n, labels, m);
    counts->sequences++;
    counts->wrong += edits > 0;
    counts->edits += edits;
    counts->tokens += m;
}

double errors_token_rate(const ErrorCounts *counts)
{
    return share_of(counts->edits, counts->tokens, NAN);
}

double errors_sequence_rate(const ErrorCounts *counts)
{
    return share_of(counts->wrong, counts->sequences, NAN);
}

double errors_exact_rate(const ErrorCounts *counts)
{
    return share_of(counts->sequences - counts->wrong, counts->sequences, NAN);
}

/* ---- numbers ---- */

void numbers_add(NumberPairs *pairs, float label, float predicted)
{
    if (pairs->n == pairs->room) {
        pairs->room = pairs->room ? 2 * pairs->room : 64;
        const size_t bytes = (size_t)pairs->room * sizeof(float);
        pairs->labels = memory_resized(pairs->labels, bytes);
        pairs->predicted = memory_resized(pairs->predicted, bytes);
    }
    pairs->labels[pairs->n] = label;
    pairs->predicted[pairs->n++] = predicted;
}

void numbers_free(NumberPairs *pairs)
{
    free(pairs->labels);
    free(pairs->predicted);
    *pairs = (NumberPairs){0};
}

/* The numbers less the first of them: exactly 0 where all are equal. */
static double *numbers_moved(const float *numbers, int64_t n)
{
    double *moved = memory_resized(NULL, (size_t)n * sizeof *moved);
    for (int64_t i = 0; i < n; i++)
        moved[i] = (double)numbers[i] - (double)numbers[0];
    return moved;
}

static double mean_of(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

/* Frees x and y. 0/0 is NAN. */
static double correlation(double *x, double *y, int64_t n)
{
    const double mean_x = mean_of(x, n), mean_y = mean_of(y, n);
    double xx = 0, yy = 0, xy = 0;
    for (int64_t i = 0; i < n; i++) {
        const double dx = x[i] - mean_x, dy = y[i] - mean_y;
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    free(x);
    free(y);
    const double value = xy / (sqrt(xx) * sqrt(yy));
    return value > 1 ? 1 : value < -1 ? -1 : value; /* rounding may exceed 1 */
}

double numbers_pearson(const NumberPairs *pairs)
{
    const int64_t n = pairs->n;
    return correlation(numbers_moved(pairs->labels, n), numbers_moved(pairs->predicted, n), n);
}

/* RankedNumber: a number and its place before sorting. */
typedef struct RankedNumber {
    float number;
    int64_t at;
} RankedNumber;

static int compare_numbers(const void *a, const void *b)
{
    const RankedNumber *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* The end of the equal numbers that begin at `first`. */
static int64_t end_of_equal(const RankedNumber *sorted, int64_t n, int64_t first)
{
    int64_t end = first + 1;
    while (end < n && sorted[end].number == sorted[first].number)
        end++;
    return end;
}

/* Ranks from 0; numbers at sorted places first … end - 1 share their mean. None is NaN. */
static double *ranks_of(const float *numbers, int64_t n)
{
    RankedNumber *sorted = memory_resized(NULL, (size_t)n * sizeof *sorted);
    double *ranks = memory_resized(NULL, (size_t)n * sizeof *ranks);
    for (int64_t i = 0; i < n; i++)
        sorted[i] = (RankedNumber){numbers[i], i};
    qsort(sorted, (size_t)n, sizeof *sorted, compare_numbers);
    for (int64_t first = 0, end; first < n; first = end) {
        end = end_of_equal(sorted, n, first);
        for (int64_t i = first; i < end; i++)
            ranks[sorted[i].at] = (double)(first + end - 1) / 2;
    }
    free(sorted);
    return ranks;
}

static bool any_nan(const NumberPairs *pairs)
{
    for (int64_t i = 0; i < pairs->n; i++)
        if (isnan(pairs->labels[i]) || isnan(pairs->predicted[i]))
            return true;
    return false;
}

/* Ranks sum to n (n - 1) / 2, so the mean is exact and all equal ranks give 0/0. */
double numbers_spearman(const NumberPairs *pairs)
{
    const int64_t n = pairs->n;
    if (any_nan(pairs))
        return NAN;
    return correlation(ranks_of(pairs->labels, n), ranks_of(pairs->predicted, n), n);
}

double numbers_squared_error(const NumberPairs *pairs)
{
    double sum = 0;
    for (int64_t i = 0; i < pairs->n; i++) {
        const double difference = (double)pairs->labels[i] - (double)pairs->predicted[i];
        sum += difference * difference;
    }
    return pairs->n ? sum / (double)pairs->n : NAN;
}
