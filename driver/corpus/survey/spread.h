/* Distributions of lengths, and of ratios of two lengths, counted in classes. */
#ifndef DRIVER_CORPUS_SURVEY_SPREAD_H
#define DRIVER_CORPUS_SURVEY_SPREAD_H

#include "driver/corpus/survey/survey.h"

/* LengthSpread: a histogram of lengths, exact below 4096, from there on to 12 significant bits. */
enum { LENGTH_EXACT = 4096, LENGTH_CLASSES = LENGTH_EXACT + 32 * (LENGTH_EXACT / 2) };
typedef struct LengthSpread {
    int64_t *counts;        /* malloc'd; NULL before the first length */
    int64_t n, total, most; /* how many lengths, their sum, the longest */
} LengthSpread;

void length_spread_add(LengthSpread *spread, int64_t length);
SurveyLengths length_spread_of(const LengthSpread *spread);
void length_spread_free(LengthSpread *spread);

/* RatioSpread: histograms of log(target / source): one of all pairs, and one for each class of
 * pairs, which are classified by the sum of both lengths, since ratios of short pairs vary more. A
 * new RatioSpread is zeros.
 *
 * A pair is an outlier if its log ratio is more than RATIO_DEVIATIONS standard deviations from the
 * median of its class, and its ratio by more than a factor of RATIO_FACTOR. The standard deviation
 * is estimated by the median absolute deviation (Hampel 1974). Pairs of a class with fewer than
 * RATIO_LEAST pairs are judged by the histogram of all pairs; if there are fewer pairs in all, none
 * is an outlier. */
#define RATIO_DEVIATIONS 4.5
#define RATIO_FACTOR 2.0
enum { RATIO_SIZES = 24, RATIO_CLASSES = 1601, RATIO_LEAST = 50 };
typedef struct RatioSpread {
    int64_t counts[RATIO_SIZES + 1][RATIO_CLASSES]; /* the last: of all pairs */
    int64_t n[RATIO_SIZES + 1];
    /* median of the log ratios, and distance allowed from the median; set by ratio_spread_settle */
    double median[RATIO_SIZES + 1], allowed[RATIO_SIZES + 1];
} RatioSpread;

/* Adds a pair by its lengths in characters, both above 0. */
void ratio_spread_add(RatioSpread *spread, int64_t source, int64_t target);
/* Computes medians and allowed distances: once all pairs were added, before the next two calls. */
void ratio_spread_settle(RatioSpread *spread);
/* Whether a pair of these lengths is an outlier. */
bool ratio_spread_is_off(const RatioSpread *spread, int64_t source, int64_t target);
/* The median ratio of all pairs; 0: there were no pairs. */
double ratio_spread_typical(const RatioSpread *spread);

#endif
