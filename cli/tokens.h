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
     "what each token of a target was made from, in the mean of the heads of the last attention\n" \
     "over the source: TEXT ||| a row of weights a token, the end too; of a JSON line \"attention\""}
/* clang-format on */

/* "attention": {"source": [TOKEN, …], "target": [TOKEN, …], "weights": [[…], …]}. */
void put_alignment(JsonWriter *json, const Vocabulary *vocab, const Alignment *alignment);
/* " ||| 0.9,0.1 0.2,0.8": a row for each target token, as Marian's soft alignments. */
void put_soft_alignment(Text *out, const Alignment *alignment);

#endif
