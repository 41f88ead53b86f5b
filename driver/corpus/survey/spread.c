/* Classes of lengths and of ratios. */
#include "driver/corpus/survey/spread.h"

#include "base/arena.h"
#include "base/portable_math.h"

#include <math.h>
#include <stdlib.h>

/* ---- lengths ---- */

static int class_of(int64_t length)
{
    int shift = 0;
    while (length >> shift >= LENGTH_EXACT)
        shift++;
    if (!shift)
        return (int)length;
    return LENGTH_EXACT + (shift - 1) * (LENGTH_EXACT / 2) + (int)(length >> shift) -
           LENGTH_EXACT / 2;
}

static int64_t least_of(int class_)
{
    if (class_ < LENGTH_EXACT)
        return class_;
    int shift = (class_ - LENGTH_EXACT) / (LENGTH_EXACT / 2) + 1;
    return (int64_t)((class_ - LENGTH_EXACT) % (LENGTH_EXACT / 2) + LENGTH_EXACT / 2) << shift;
}

void length_spread_add(LengthSpread *spread, int64_t length)
{
    if (!spread->counts)
        spread->counts = memory_zeroed(LENGTH_CLASSES, sizeof *spread->counts);
    spread->counts[class_of(length)]++;
    spread->n++;
    spread->total += length;
    if (length > spread->most)
        spread->most = length;
}

/* The least length that so large a part of all does not exceed. */
static int64_t percentile(const LengthSpread *spread, int percent)
{
    int64_t wanted = (spread->n * percent + 99) / 100, seen = 0;
    for (int i = 0; i < LENGTH_CLASSES; i++)
        if ((seen += spread->counts[i]) >= wanted)
            return least_of(i);
    return spread->most;
}

SurveyLengths length_spread_of(const LengthSpread *spread)
{
    if (!spread->n)
        return (SurveyLengths){0};
    return (SurveyLengths){.total = spread->total,
                           .p50 = percentile(spread, 50),
                           .p90 = percentile(spread, 90),
                           .p99 = percentile(spread, 99),
                           .most = spread->most,
                           .mean = (double)spread->total / (double)spread->n};
}

void length_spread_free(LengthSpread *spread) { free(spread->counts); }

/* ---- ratios ---- */

static double log_ratio(int64_t source, int64_t target)
{
    return portable_log((double)target / (double)source);
}

/* Two classes for each doubling of the sum of both lengths. */
static int size_of(int64_t source, int64_t target)
{
    int size = (int)(2 * log2((double)source + (double)target)) - 2;
    return size < 0 ? 0 : size < RATIO_SIZES ? size : RATIO_SIZES - 1;
}

static int ratio_class(double ratio)
{
    int class_ = (int)lround(ratio * 100) + RATIO_CLASSES / 2;
    return class_ < 0 ? 0 : class_ < RATIO_CLASSES ? class_ : RATIO_CLASSES - 1;
}

void ratio_spread_add(RatioSpread *spread, int64_t source, int64_t target)
{
    int class_ = ratio_class(log_ratio(source, target)), size = size_of(source, target);
    spread->counts[size][class_]++;
    spread->n[size]++;
    spread->counts[RATIO_SIZES][class_]++;
    spread->n[RATIO_SIZES]++;
}

/* The half of the distances from a class is at most so many classes. */
static int median_distance(const int64_t *counts, int64_t n, int from)
{
    int64_t seen = counts[from];
    int distance = 0;
    while (2 * seen < n && distance < RATIO_CLASSES) {
        distance++;
        seen += from >= distance ? counts[from - distance] : 0;
        seen += from + distance < RATIO_CLASSES ? counts[from + distance] : 0;
    }
    return distance;
}

void ratio_spread_settle(RatioSpread *spread)
{
    static const double deviation_of_mad = 1.4826; /* of a normal distribution */
    for (int size = RATIO_SIZES; size >= 0; size--) {
        const int64_t *counts = spread->counts[size];
        bool few = spread->n[size] < RATIO_LEAST;
        if (few && size < RATIO_SIZES) {
            spread->median[size] = spread->median[RATIO_SIZES];
            spread->allowed[size] = spread->allowed[RATIO_SIZES];
            continue;
        }
        int64_t seen = 0;
        int class_ = 0;
        while (class_ < RATIO_CLASSES - 1 && 2 * (seen += counts[class_]) < spread->n[size])
            class_++;
        double mad = median_distance(counts, spread->n[size], class_) / 100.0;
        spread->median[size] = (class_ - RATIO_CLASSES / 2) / 100.0;
        spread->allowed[size] =
            few ? INFINITY
                : fmax(RATIO_DEVIATIONS * deviation_of_mad * mad, portable_log(RATIO_FACTOR));
    }
}

bool ratio_spread_is_off(const RatioSpread *spread, int64_t source, int64_t target)
{
    int size = size_of(source, target);
    return fabs(log_ratio(source, target) - spread->median[size]) > spread->allowed[size];
}

double ratio_spread_typical(const RatioSpread *spread)
{
    return spread->n[RATIO_SIZES] ? portable_exp(spread->median[RATIO_SIZES]) : 0;
}
