/* What tokenizer_config.json and added_tokens.json say of a tokenizer beside its own file. */
#include "driver/exchange/import_added_tokens.h"

#include "driver/exchange/import_json.h"

#include <stdlib.h>

const char *import_tokenizer_class(const JsonValue *settings, const ImportConfig *config)
{
    const char *name = settings ? json_member_text(settings, "tokenizer_class") : NULL;
    name = name ? name : json_member_text(config->json, "tokenizer_class");
    return name ? name : "";
}

const char *import_token_of_key(const JsonValue *json, const char *key)
{
    const JsonValue *value = json ? json_member(json, key) : NULL;
    return value && value->kind == JV_OBJECT ? json_member_text(value, "content")
           : json                            ? json_member_text(json, key)
                                             : NULL;
}

static int by_id(const void *a, const void *b)
{
    const AddedToken *one = a, *other = b;
    return (one->id > other->id) - (one->id < other->id);
}

static bool says(const JsonValue *token, const char *key)
{
    const JsonValue *value = token->kind == JV_OBJECT ? json_member(token, key) : NULL;
    return value && value->kind == JV_TRUE;
}

static bool refuse_added(Job *job, const char *folder)
{
    return job_error(job, "%s/%s: \"added_tokens_decoder\": expected ids with their tokens", folder,
                     TOKENIZER_SETTINGS);
}

bool import_added_tokens(Job *job, const char *folder, AddedTokens *added)
{
    const JsonValue *settings, *more;
    *added = (AddedTokens){0};
    if (!import_json_read(job, folder, TOKENIZER_SETTINGS, JV_OBJECT, &settings) ||
        !import_json_read(job, folder, "added_tokens.json", JV_OBJECT, &more))
        return false;
    const JsonValue *list = settings ? json_member(settings, "added_tokens_decoder") : NULL;
    if (list && list->kind != JV_OBJECT && list->kind != JV_NULL)
        return refuse_added(job, folder);
    for (size_t i = 0; list && i < list->n; i++) {
        const JsonValue *token = &list->items[i];
        const bool is_object = token->kind == JV_OBJECT;
        int64_t id;
        const bool has_id = text_whole(list->keys[i], &id) && id >= 0;
        const AddedToken is = {.id = has_id ? id : -1,
                               .text = is_object ? json_member_text(token, "content") : NULL,
                               .is_special = says(token, "special"),
                               .lstrip = says(token, "lstrip"),
                               .rstrip = says(token, "rstrip"),
                               .single_word = says(token, "single_word"),
                               .normalized = says(token, "normalized")};
        if (!has_id || !is.text)
            return refuse_added(job, folder);
        vec_push(job->arena, *added, is);
    }
    const size_t n_more = more && !added->count ? more->n : 0; /* the older file says less */
    for (size_t i = 0; i < n_more; i++) {
        const JsonValue *id = &more->items[i];
        if (id->kind != JV_INTEGER || id->integer < 0)
            return job_error(job,
                             "%s/added_tokens.json: '%s' has no id: expected tokens with theirs",
                             folder, more->keys[i]);
        vec_push(job->arena, *added,
                 ((AddedToken){.id = id->integer, .text = more->keys[i], .normalized = true}));
    }
    if (added->count)
        qsort(added->data, added->count, sizeof *added->data, by_id);
    return true;
}
