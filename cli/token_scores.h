/* What --token-scores shows: each token of a target with its log-probability. */
#ifndef CLI_TOKEN_SCORES_H
#define CLI_TOKEN_SCORES_H

#include "base/json_write.h"
#include "runtime/data/vocabulary.h"

/* Significant digits of the numbers in results that are JSON. */
enum { RESULT_DIGITS = 9 };

/* "tokens": [[TOKEN, LOG-PROBABILITY], …] of n tokens, as the vocabulary has them, and of its end
 * where n_each is one more than n. */
void put_token_scores(JsonWriter *json, const Vocabulary *vocab, const int32_t *ids, int64_t n, int32_t end,
                      const double *each, int64_t n_each);

#endif
