/* Tokens with their scores and alignments, as JSON and as text. */
#include "cli/tokens.h"

void put_token_scores(JsonWriter *json, const Vocabulary *vocab, const int32_t *ids, int64_t n,
                      int32_t end, const double *each, int64_t n_each)
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

static void put_tokens(JsonWriter *json, const char *key, const Vocabulary *vocab,
                       const int32_t *ids, int64_t n)
{
    json_open(json, key, '[');
    for (int64_t i = 0; i < n; i++)
        json_put_text(json, NULL, vocab_token(vocab, ids[i]));
    json_close(json, ']');
}

void put_alignment(JsonWriter *json, const Vocabulary *vocab, const Alignment *a)
{
    json_open(json, "attention", '{');
    put_tokens(json, "source", vocab_source(vocab), a->source, a->n_source);
    put_tokens(json, "target", vocab, a->target, a->n_target);
    json_put_rows(json, "weights", a->weights, a->n_target, a->n_source, ALIGNMENT_DECIMALS);
    json_close(json, '}');
}

void put_soft_alignment(Text *out, const Alignment *a)
{
    text_string(out, " |||");
    for (int64_t t = 0; t < a->n_target; t++)
        for (int64_t s = 0; s < a->n_source; s++)
            text_add(out, "%c%.*f", s ? ',' : ' ', ALIGNMENT_DECIMALS,
                     a->weights[t * a->n_source + s]);
}
