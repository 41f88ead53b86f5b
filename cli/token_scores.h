/* What --token-scores shows: each token of a target with its log-probability. */
#ifndef CLI_TOKEN_SCORES_H
#define CLI_TOKEN_SCORES_H

#include "runtime/data/vocabulary.h"

#include <jansson.h>

/* Precision of the numbers in results that are JSON. */
#define RESULT_DIGITS JSON_REAL_PRECISION(9)

/* [[TOKEN, LOG-PROBABILITY], …] of n tokens, as the vocabulary has them, and of its end where
 * n_each is one more than n; a number that is not finite is null. NULL: out of memory. */
json_t *token_scores(const Vocabulary *vocab, const int32_t *ids, int64_t n, const double *each,
                     int64_t n_each);
/* Adds the object as a line, which it takes with it. */
void put_json_line(Text *out, json_t *json);

#endif
