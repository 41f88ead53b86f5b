/* What translate and score write about a target besides its text: --token-scores and
 * --attention. */
#ifndef CLI_TOKENS_H
#define CLI_TOKENS_H

#include "base/json_write.h"
#include "driver/analysis/attention.h"

/* Significant digits of the numbers in results that are JSON. */
enum { RESULT_DIGITS = 9 };

/* "tokens": [[TOKEN, LOG-PROBABILITY], …] of n tokens, as the vocabulary has them, and of `end` if
 * n_each is one more than n. */
void put_token_scores(JsonWriter *json, const Vocabulary *vocab, const int32_t *ids, int64_t n,
                      int32_t end, const double *each, int64_t n_each);

/* clang-format off */
#define OPTION_ATTENTION(record)                                                                   \
    {"attention", NULL, FIELD(record, attention), 0, NULL,                                         \
     "add the weights of the last attention over the source, as the mean of its heads: after "     \
     "|||, a row for each token of the target and for its end; in JSON as \"attention\""}
/* clang-format on */

/* "attention": {"source": [TOKEN, …], "target": [TOKEN, …], "weights": [[…], …]}. */
void put_alignment(JsonWriter *json, const Vocabulary *vocab, const Alignment *alignment);
/* " ||| 0.9,0.1 0.2,0.8": a row for each target token, as Marian's soft alignments. */
void put_soft_alignment(Text *out, const Alignment *alignment);

#endif
