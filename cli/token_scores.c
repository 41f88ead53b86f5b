/* Tokens with their scores, as JSON. */
#include "cli/token_scores.h"

void put_token_scores(JsonWriter *json, const Vocabulary *vocab, const int32_t *ids, int64_t n, int32_t end,
                      const double *each, int64_t n_each)
{
    json_open(json, "tokens", '[');
    for (int64_t i = 0; i < n_each; i++) {
        json_open(json, NULL, '[');
        json_put_text(json, NULL, vocab_token(vocab, i < n ? ids[i] : end));
        json_put_number(json, NULL, each[i], RESULT_DIGITS);
        json_close(json, ']');
    }
    json_close(json, ']');
}
