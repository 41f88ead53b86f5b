/* Measures of classes, sequences and numbers. Those of tags are in measures_tags.c, those of
 * retrieval in measures_retrieval.c. */
#include "runtime/data/measures.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

void numbers_reserve(NumberPairs *pairs, int64_t n)
{
    if (n <= pairs->room)
        return;
    pairs->room = n;
    pairs->labels = memory_resized(pairs->labels, (size_t)n * sizeof(float));
    pairs->predicted = memory_resized(pairs->predicted, (size_t)n * sizeof(float));
}

void numbers_add(NumberPairs *pairs, float label, float predicted)
{
    if (pairs->n == pairs->room)
        numbers_reserve(pairs, pairs->room ? 2 * pairs->room : 64);
    pairs->labels[pairs->n] = label;
    pairs->predicted[pairs->n++] = predicted;
}

void numbers_free(NumberPairs *pairs)
{
    free(pairs->labels);
    free(pairs->predicted);
    *pairs = (NumberPairs){0};
}

/* Element i of a series, in f64. */
typedef double SeriesAt(const float *series, int64_t i);

/* A number less the first of them: exactly 0 where all are equal. */
static double number_moved(const float *numbers, int64_t i)
{
    return (double)numbers[i] - (double)numbers[0];
}

static double mean_of(const float *series, int64_t n, SeriesAt *at)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += at(series, i);
    return sum / (double)n;
}

/* 0/0 is NAN. */
static double correlation(const float *x, const float *y, int64_t n, SeriesAt *at)
{
    const double mean_x = mean_of(x, n, at), mean_y = mean_of(y, n, at);
    double xx = 0, yy = 0, xy = 0;
    for (int64_t i = 0; i < n; i++) {
        const double dx = at(x, i) - mean_x, dy = at(y, i) - mean_y;
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    const double value = xy / (sqrt(xx) * sqrt(yy));
    return value > 1 ? 1 : value < -1 ? -1 : value; /* rounding may exceed 1 */
}

double numbers_pearson(const NumberPairs *pairs)
{
    return correlation(pairs->labels, pairs->predicted, pairs->n, number_moved);
}

/* ---- ranks ---- */

enum { KEY_BITS = 32 };

/* A number and its place: the upper half has the order of the numbers, both zeros being one. */
static uint64_t sort_key(float number, int64_t at)
{
    uint32_t bits;
    const float one_zero = number + 0.0F;
    memcpy(&bits, &one_zero, sizeof bits);
    bits ^= bits >> 31 ? UINT32_MAX : UINT32_C(1) << 31;
    return (uint64_t)bits << KEY_BITS | (uint64_t)at;
}

/* Sorts by the bits from `bit` down to those of the number: parts those without it from those with
 * it, then sorts both (radix exchange, Hildebrandt and Isbitz 1959), in place. */
static void sort_keys(uint64_t *keys, int64_t n, int bit)
{
    while (n > 1 && bit >= KEY_BITS) {
        int64_t without = 0, with = n;
        while (without < with)
            if (keys[without] >> bit & 1) {
                const uint64_t key = keys[without];
                keys[without] = keys[--with];
                keys[with] = key;
            } else
                without++;
        sort_keys(keys, without, --bit);
        keys += without;
        n -= without;
    }
}

/* The end of the equal numbers that begin at `first`. */
static int64_t end_of_equal(const uint64_t *keys, int64_t n, int64_t first)
{
    int64_t end = first + 1;
    while (end < n && keys[end] >> KEY_BITS == keys[first] >> KEY_BITS)
        end++;
    return end;
}

/* Twice the rank, from 0, in the bits of a float. */
static double rank_at(const float *ranks, int64_t i)
{
    uint32_t twice;
    memcpy(&twice, &ranks[i], sizeof twice);
    return (double)twice / 2;
}

/* Puts ranks in the place of numbers; equal ones share the mean of theirs. None is NaN. */
static void rank_numbers(float *numbers, int64_t n, uint64_t *keys)
{
    for (int64_t i = 0; i < n; i++)
        keys[i] = sort_key(numbers[i], i);
    sort_keys(keys, n, 2 * KEY_BITS - 1);
    for (int64_t first = 0, end; first < n; first = end) {
        end = end_of_equal(keys, n, first);
        const uint32_t twice = (uint32_t)(first + end - 1);
        for (int64_t i = first; i < end; i++)
            memcpy(&numbers[(uint32_t)keys[i]], &twice, sizeof twice);
    }
}

static bool any_nan(const NumberPairs *pairs)
{
    for (int64_t i = 0; i < pairs->n; i++)
        if (isnan(pairs->labels[i]) || isnan(pairs->predicted[i]))
            return true;
    return false;
}

/* Ranks sum to n (n - 1) / 2, so the mean is exact and all equal ranks give 0/0. */
double numbers_spearman(NumberPairs *pairs)
{
    const int64_t n = pairs->n;
    double value = NAN;
    if (n <= INT32_MAX && !any_nan(pairs)) {
        uint64_t *keys = memory_resized(NULL, (size_t)n * sizeof *keys);
        rank_numbers(pairs->labels, n, keys);
        rank_numbers(pairs->predicted, n, keys);
        free(keys);
        value = correlation(pairs->labels, pairs->predicted, n, rank_at);
    }
    numbers_free(pairs);
    return value;
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
