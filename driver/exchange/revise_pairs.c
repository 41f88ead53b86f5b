/* The consts of models that read pairs, in the files of sentence-transformers' cross-encoders. */
#include "driver/exchange/import_pairs.h"
#include "driver/exchange/import_sentences.h"
#include "driver/exchange/revise_parts.h"

#include <stdlib.h>
#include <string.h>

bool revise_pairs_say(const char *name)
{
    return !strcmp(name, "probable") || !strcmp(name, "independent") || !strcmp(name, "longest");
}

/* Under the key that the file has, in the file that import reads first. */
static void set_function(Revise *r, const char *function)
{
    const JsonValue *own = revise_read(r, SENTENCES_SETTINGS, false),
                    *object = json_member(r->config.json, PAIRS_OBJECT);
    if (own && json_member_text(own, PAIRS_KEY))
        revise_set(r, SENTENCES_SETTINGS, PAIRS_KEY, json_of_text(function));
    else if (object && object->kind == JV_OBJECT)
        revise_set(r, PUBLISHED_CONFIG, PAIRS_OBJECT "." PAIRS_KEY, json_of_text(function));
    else
        revise_set(r, PUBLISHED_CONFIG, PAIRS_OLDER, json_of_text(function));
}

void revise_pairs(Revise *r, const char *name, const char *value)
{
    if (!strcmp(name, "longest"))
        revise_set(r, "tokenizer_config.json", "model_max_length", json_of_integer(atoll(value)));
    else if (revise_pairs_say(name))
        set_function(r, !strcmp(value, "true") ? PAIRS_SIGMOID : PAIRS_IDENTITY);
}
