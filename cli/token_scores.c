/* Results as lines of JSON. */
#include "cli/token_scores.h"

#include <math.h>
#include <stdlib.h>

/* Bytes that are no text, as a token of a byte may be, stand as U+FFFD. */
static json_t *token_text(const char *token)
{
    json_t *text = json_string(token);
    return text ? text : json_string("\xef\xbf\xbd");
}

json_t *token_scores(const Vocabulary *vocab, const int32_t *ids, int64_t n, const double *each,
                     int64_t n_each)
{
    json_t *list = json_array();
    for (int64_t i = 0; list && i < n_each; i++) {
        int32_t id = i < n ? ids[i] : vocab_rules(vocab)->end;
        json_t *value = isfinite(each[i]) ? json_real(each[i]) : json_null();
        json_t *pair = json_pack("[o, o]", token_text(vocab_token(vocab, id)), value);
        if (json_array_append_new(list, pair)) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

void put_json_line(Text *out, json_t *json)
{
    char *dumped = json ? json_dumps(json, RESULT_DIGITS) : NULL;
    text_add(out, "%s\n", dumped ? dumped : "{}");
    free(dumped);
    json_decref(json);
}
