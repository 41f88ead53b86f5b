/* Distributions of lengths, and of ratios of two lengths, counted in classes. */
#ifndef DRIVER_CORPUS_SURVEY_SPREAD_H
#define DRIVER_CORPUS_SURVEY_SPREAD_H

#include "driver/corpus/survey/survey.h"

/* LengthSpread: a histogram of lengths, exact below 4096, above that to 12 significant bits. */
enum { LENGTH_EXACT = 4096, LENGTH_CLASSES = LENGTH_EXACT + 32 * (LENGTH_EXACT / 2) };
typedef struct LengthSpread {
    int64_t *counts; /* malloc'd; NULL before the first */
    int64_t n, total, most;
} LengthSpread;

void length_spread_add(LengthSpread *spread, int64_t length);
SurveyLengths length_spread_of(const LengthSpread *spread);
void length_spread_free(LengthSpread *spread);

/* RatioSpread: histograms of log(target / source), one for each class of pairs of similar length,
 * since ratios of short pairs vary more. Begins with zeros. A pair is an outlier if its logarithm
 * is more than RATIO_DEVIATIONS standard deviations from the median, and its ratio at least a
 * factor of RATIO_FACTOR from it. The standard deviation is estimated by the median absolute
 * deviation (Hampel 1974). A class of fewer than RATIO_LEAST pairs is judged as all pairs are, and
 * of fewer in all no pair is an outlier. */
#define RATIO_DEVIATIONS 4.5
#define RATIO_FACTOR 2.0
enum { RATIO_SIZES = 24, RATIO_CLASSES = 1601, RATIO_LEAST = 50 };
typedef struct RatioSpread {
    int64_t counts[RATIO_SIZES + 1][RATIO_CLASSES]; /* the last: of all pairs */
    int64_t n[RATIO_SIZES + 1];
    /* of the logarithms: the median, and the distance allowed from it; by ratio_spread_settle */
    double median[RATIO_SIZES + 1], allowed[RATIO_SIZES + 1];
} RatioSpread;

/* Adds a pair by its lengths in characters, both above 0. */
void ratio_spread_add(RatioSpread *spread, int64_t source, int64_t target);
void ratio_spread_settle(RatioSpread *spread); /* once all were added, before the next two */
bool ratio_spread_is_off(const RatioSpread *spread, int64_t source, int64_t target);
/* The median ratio; 0: there were no pairs. */
double ratio_spread_typical(const RatioSpread *spread);

#endif
