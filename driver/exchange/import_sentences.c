/* What sentence-transformers' files say of pooling. */
#include "driver/exchange/import_sentences.h"

#include "base/file.h"
#include "driver/exchange/import_json.h"

#include <string.h>

static const char modules_file[] = SENTENCES_MODULES;

const SentencesPooling sentences_poolings[] = {
    {"pooling_mode_mean_tokens", "mean", "mean"},
    {"pooling_mode_cls_token", "cls", "cls"},
    {"pooling_mode_max_tokens", "max", "max"},
    {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", "mean_sqrt_len"},
    {NULL, NULL, NULL}};

bool import_sentences_is(Job *job, const char *folder)
{
    return file_exists(file_in(job->arena, folder, modules_file));
}

/* ---- pooling ---- */

/* Of a key, or of a word. */
static const char *pooling_of(const char *said)
{
    for (const SentencesPooling *pooling = sentences_poolings; pooling->key; pooling++)
        if (!strcmp(said, pooling->key) || !strcmp(said, pooling->word))
            return pooling->ours;
    return NULL;
}

/* The model's word for how tokens are pooled. NULL after an error: of several ways the vectors
 * stand one after the other, which the model does not do. */
static const char *find_pooling(Job *job, const char *path, const JsonValue *json)
{
    const char *chosen = NULL, *first = NULL;
    for (size_t i = 0; i < json->n; i++) {
        const char *key = json->keys[i];
        const JsonValue *is = NULL;
        if (strncmp(key, "pooling_mode_", strlen("pooling_mode_")) != 0)
            continue;
        if (!import_json_member(job, file_in(job->arena, path, "config.json"), json, key, IS_FLAG,
                                &is))
            return NULL;
        if (!is || is->kind != JV_TRUE)
            continue;
        if (first || !pooling_of(key)) {
            job_error(job,
                      "%s/config.json: \"%s\" is true%s: models/sentences.tfg pools in one of the "
                      "ways mean, cls, max and mean_sqrt_len",
                      path, key, first ? " and another way, too" : "");
            return NULL;
        }
        first = key;
        chosen = pooling_of(key);
    }
    const char *word = json_member_text(json, "pooling_mode");
    if (!chosen && word)
        chosen = pooling_of(word);
    if (!chosen)
        job_error(job,
                  word
                      ? "%s/config.json: \"pooling_mode\" is \"%s\": models/sentences.tfg pools in "
                        "one of the ways mean, cls, max and mean_sqrt_len_tokens"
                      : "%s/config.json: it has no \"pooling_mode\", and no \"pooling_mode_…\" is "
                        "true",
                  path, word);
    return chosen;
}

static const char *read_pooling(Job *job, const char *folder, const char *module)
{
    const char *path = file_in(job->arena, folder, module);
    const JsonValue *json;
    if (!import_json_read(job, folder, file_in(job->arena, module, "config.json"), JV_OBJECT,
                          &json))
        return NULL;
    if (!json) {
        job_error(job, "%s has no config.json, which says how tokens are pooled", path);
        return NULL;
    }
    const JsonValue *prompt = json_member(json, "include_prompt");
    if (prompt && prompt->kind == JV_FALSE)
        diag_warning(&job->diags, (Loc){0},
                     "%s/config.json: a prompt is not pooled there; what stands before a text is "
                     "pooled here",
                     path);
    return find_pooling(job, path, json);
}

/* ---- modules ---- */

/* "Pooling" of "sentence_transformers.models.Pooling"; "" of what is no text. */
static const char *kind_of(const JsonValue *module)
{
    const char *type = json_member_text(module, "type"), *dot = type ? strrchr(type, '.') : NULL;
    return dot ? dot + 1 : type ? type : "";
}

/* The encoder, pooling, and perhaps normalisation, in this order. */
static bool read_modules(Job *job, const char *folder, const JsonValue *modules,
                         ImportSentences *sentences)
{
    static const char *const order[] = {"Transformer", "Pooling", "Normalize"};
    bool ok = modules->n >= 2;
    for (size_t i = 0; ok && i < modules->n; i++) {
        const char *path = json_member_text(&modules->items[i], "path");
        const char *kind = kind_of(&modules->items[i]);
        if (i > 2 || strcmp(kind, order[i]) != 0 || !path)
            return job_error(job,
                             "%s/%s: module %zu is '%s': those that are known are Transformer, "
                             "Pooling and Normalize, in this order",
                             folder, modules_file, i, kind);
        if (!i && *path)
            return job_error(job,
                             "%s/%s: the encoder is in the folder %s: import that one, and set "
                             "pooling and normalised in the run's model.tfg",
                             folder, modules_file, path);
        if (i == 1)
            ok = (sentences->pooling = read_pooling(job, folder, path)) != NULL;
    }
    sentences->is_normalised = modules->n > 2;
    return ok || (modules->n < 2 &&
                  job_error(job, "%s/%s: there is no module Pooling", folder, modules_file));
}

bool import_sentences_longest(Job *job, const char *folder, const char *file, const char *key,
                              bool *found, Text *out)
{
    const JsonValue *json;
    if (!import_json_read(job, folder, file, JV_OBJECT, &json))
        return false;
    const JsonValue *length;
    if (!import_json_member(job, file_in(job->arena, folder, file), json, key, IS_NUMBER, &length))
        return false;
    *found = length && length->number < INT32_MAX;
    if (!*found)
        return true;
    if (length->kind != JV_INTEGER || length->integer < 1)
        return job_error(job, "%s/%s: \"%s\": expected a number of tokens", folder, file, key);
    text_add(out, "const longest = minimum(context - first_position, %lld)\n",
             (long long)length->integer);
    return true;
}

/* The longest text; and what is done to texts before the tokenizer. */
static bool read_texts(Job *job, const char *folder, Text *out)
{
    static const char file[] = SENTENCES_TEXTS;
    const JsonValue *json;
    bool found;
    if (!import_json_read(job, folder, file, JV_OBJECT, &json))
        return false;
    const JsonValue *lower;
    if (!import_json_member(job, file_in(job->arena, folder, file), json, "do_lower_case", IS_FLAG,
                            &lower))
        return false;
    if (lower && lower->kind == JV_TRUE)
        diag_warning(&job->diags, (Loc){0},
                     "%s/%s: \"do_lower_case\" is true: capitals become small there before the "
                     "tokenizer; if yours keeps them, write texts in small letters",
                     folder, file);
    return import_sentences_longest(job, folder, file, SENTENCES_LONGEST, &found, out) &&
           (found || import_sentences_longest(job, folder, "tokenizer_config.json",
                                              "model_max_length", &found, out));
}

static bool check_prompts(Job *job, const char *folder)
{
    static const char file[] = SENTENCES_SETTINGS, key[] = "default_prompt_name";
    const JsonValue *json;
    if (!import_json_read(job, folder, file, JV_OBJECT, &json))
        return false;
    const JsonValue *name;
    if (!import_json_member(job, file_in(job->arena, folder, file), json, key, IS_TEXT, &name))
        return false;
    return !name || job_error(job,
                              "%s/%s: \"%s\" is \"%s\": a prompt stands before each text, which is "
                              "not written here; put it before the texts, and remove the key",
                              folder, file, key, name->text);
}

bool import_sentences_read(Job *job, const char *folder, ImportSentences *sentences)
{
    const JsonValue *modules;
    *sentences = (ImportSentences){.pooling = "mean"};
    return import_json_read(job, folder, modules_file, JV_LIST, &modules) &&
           (!modules || read_modules(job, folder, modules, sentences));
}

bool import_sentences_model(Job *job, const char *folder, Text *out)
{
    ImportSentences sentences;
    if (!import_sentences_read(job, folder, &sentences))
        return false;
    text_add(out, "const pooling = \"%s\"\nconst normalised = %s\n", sentences.pooling,
             sentences.is_normalised ? "true" : "false");
    return read_texts(job, folder, out) && check_prompts(job, folder);
}
