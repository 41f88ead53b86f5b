/* Choosing tokens from a row of logits. */
#ifndef RUNTIME_DECODE_PICK_H
#define RUNTIME_DECODE_PICK_H

#include "runtime/decode/decode.h"

typedef struct Candidate {
    int32_t token;
    double log_probability;
} Candidate;

/* The index of the greatest of n numbers, n at least 1; of equal ones the first. A NaN is greater
 * than none. */
static inline int64_t pick_greatest(const float *row, int64_t n)
{
    int64_t at = 0;
    for (int64_t i = 1; i < n; i++)
        if (row[i] > row[at])
            at = i;
    return at;
}
/* log Σ exp of the row's n logits; the error is near 1e-6. */
double pick_logsumexp(const float *logits, int32_t n);
/* The logarithm of the mean of n models' probabilities: out[v] = log (1/n) Σᵢ softmax(xᵢ)[v], where
 * xᵢ is row `row` of logits[i]. All NaN if a softmax has no finite sum. `totals`: scratch, n
 * numbers. */
void pick_mean(const float *const *logits, int32_t n, int64_t row, int32_t vocab, float *totals,
               float *out);
/* The k most probable tokens that are not forbidden, the best first; of equal ones the lower id
 * first. A token whose logit is NaN is left out. `out`: room for k. Returns how many there are. */
int32_t pick_best(const float *logits, int32_t vocab, const int32_t forbidden[4], int32_t k,
                  Candidate *out);
/* Draws a token by temperature, top-k and top-p, with the random numbers of (seed, counter). The
 * log-probability is the model's, before all three. Token -1: no token is left. `scratch`: room for
 * `vocab` candidates. */
Candidate pick_sample(const float *logits, int32_t vocab, const DecodeSettings *settings,
                      const uint32_t counter[4], Candidate *scratch);

#endif
