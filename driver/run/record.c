/* Reading and writing run.json. */
#include "driver/run/record.h"

#include "base/file.h"
#include "base/json_write.h"

#include <jansson.h>
#include <string.h>

static const char *const kind_names[] = {"pairs", "sources", "sentences", "lines", "stream"};
enum { N_KINDS = sizeof kind_names / sizeof kind_names[0], LARGEST_JSON = 1 << 20 };

const char *corpus_kind_name(CorpusKind kind) { return kind_names[kind]; }

static const char *record_path(Job *job, const char *folder)
{
    return arena_printf(job->arena, "%s/run.json", folder);
}

bool is_run_folder(const char *path)
{
    Arena *arena = arena_new();
    bool is = file_exists(arena_printf(arena, "%s/run.json", path));
    arena_free(arena);
    return is;
}

/* ---- reading ---- */

/* A copy of a string, or NULL. */
static const char *get_text(Job *job, const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? arena_strdup(job->arena, text) : NULL;
}

/* A list of strings, perhaps absent. */
static bool get_list(Job *job, const json_t *object, const char *name, TextList *list)
{
    const json_t *array = json_object_get(object, name);
    bool ok = !array || json_is_array(array);
    for (size_t i = 0; ok && i < json_array_size(array); i++) {
        const char *text = json_string_value(json_array_get(array, i));
        ok = text != NULL;
        if (ok)
            vec_push(job->arena, *list, arena_strdup(job->arena, text));
    }
    return ok;
}

static bool get_kind(const json_t *object, CorpusKind *kind)
{
    const char *name = json_string_value(json_object_get(object, "kind"));
    for (int i = 0; name && i < N_KINDS; i++)
        if (!strcmp(name, kind_names[i])) {
            *kind = (CorpusKind)i;
            return true;
        }
    return false;
}

static bool get_facts(Job *job, json_t *object, RunRecord *record)
{
    const char *name;
    json_t *value, *facts = json_object_get(object, "decides");
    bool ok = !facts || json_is_object(facts);
    json_object_foreach(facts, name, value) {
        ok = ok && json_is_string(value);
        if (ok)
            vec_push(job->arena, record->facts,
                     ((RunFact){arena_strdup(job->arena, name),
                                arena_strdup(job->arena, json_string_value(value))}));
    }
    return ok;
}

static bool get_texts(Job *job, const json_t *object, RunRecord *record)
{
    const json_t *array = json_object_get(object, "data");
    bool ok = !array || json_is_array(array);
    for (size_t i = 0; ok && i < json_array_size(array); i++) {
        const json_t *entry = json_array_get(array, i);
        RunText text = {.option = get_text(job, entry, "option"),
                        .file = get_text(job, entry, "file"),
                        .sha256 = get_text(job, entry, "sha256"),
                        .bytes = json_integer_value(json_object_get(entry, "bytes")),
                        .lines = json_integer_value(json_object_get(entry, "lines"))};
        ok = text.option && text.file && text.sha256;
        vec_push(job->arena, record->texts, text);
    }
    return ok;
}

bool run_record_read(Job *job, const char *folder, RunRecord *record)
{
    const char *path = record_path(job, folder);
    *record = (RunRecord){0};
    if (!file_exists(path))
        return job_error(job, "%s is not the folder of a run: it has no run.json", folder);
    const Source *source = file_read(&job->diags, job->arena, path, LARGEST_JSON);
    if (!source)
        return false;
    json_error_t error;
    json_t *json = json_loadb(source->text, source->length, 0, &error);
    if (!json)
        return job_error(job, "%s:%d: %s", path, error.line, error.text);
    record->version = get_text(job, json, "tfc");
    record->model = get_text(job, json, "model");
    record->processor = get_text(job, json, "processor");
    record->is_import = json_object_get(json, "unused") != NULL;
    bool ok = get_kind(json, &record->kind) && get_list(job, json, "unused", &record->unused) && json_object_get(json, "settings") &&
              get_list(job, json, "settings", &record->settings) &&
              get_list(job, json, "tokens", &record->tokens) &&
              get_list(job, json, "command", &record->command) &&
              get_list(job, json, "arguments", &record->arguments) &&
              get_facts(job, json, record) && get_texts(job, json, record);
    json_decref(json);
    return ok || job_error(job, "%s: not what tfc train writes", path);
}

const char *run_record_fact(const RunRecord *record, const char *name)
{
    for (size_t i = 0; i < record->facts.count; i++)
        if (!strcmp(record->facts.data[i].name, name))
            return record->facts.data[i].value;
    return NULL;
}

/* ---- writing ---- */

static void put_text(JsonWriter *json, const char *name, const char *text)
{
    if (text)
        json_put_text(json, name, text);
}

static void put_list(JsonWriter *json, const char *name, const TextList *list)
{
    json_open(json, name, '[');
    for (size_t i = 0; i < list->count; i++)
        json_put_text(json, NULL, list->data[i]);
    json_close(json, ']');
}

static void put_facts(JsonWriter *json, const RunRecord *record)
{
    json_open(json, "decides", '{');
    for (size_t i = 0; i < record->facts.count; i++)
        put_text(json, record->facts.data[i].name, record->facts.data[i].value);
    json_close(json, '}');
}

static void put_texts(JsonWriter *json, const RunRecord *record)
{
    json_open(json, "data", '[');
    for (size_t i = 0; i < record->texts.count; i++) {
        const RunText *text = &record->texts.data[i];
        json_open(json, NULL, '{');
        put_text(json, "option", text->option);
        put_text(json, "file", text->file);
        json_put_integer(json, "bytes", text->bytes);
        json_put_integer(json, "lines", text->lines);
        put_text(json, "sha256", text->sha256);
        json_close(json, '}');
    }
    json_close(json, ']');
}

bool run_record_write(Job *job, const char *folder, const RunRecord *record)
{
    Text text = {0};
    JsonWriter json = {.out = &text, .indent = 2};
    json_open(&json, NULL, '{');
    put_text(&json, "tfc", record->version);
    put_text(&json, "model", record->model);
    put_text(&json, "kind", kind_names[record->kind]);
    put_list(&json, "settings", &record->settings);
    if (record->tokens.count)
        put_list(&json, "tokens", &record->tokens);
    put_list(&json, "command", &record->command);
    put_list(&json, "arguments", &record->arguments);
    put_text(&json, "processor", record->processor);
    put_facts(&json, record);
    put_texts(&json, record);
    if (record->is_import)
        put_list(&json, "unused", &record->unused);
    json_close(&json, '}');
    text_string(&text, "\n");
    bool ok = file_write_all(&job->diags, record_path(job, folder), text.data, text.length);
    text_free(&text);
    return ok;
}

/* ---- the model within ---- */

static bool names_same(const char *a, const char *b)
{
    size_t length = strcspn(a, "=");
    return length == strcspn(b, "=") && !strncmp(a, b, length);
}

TextList merge_settings(Arena *arena, const TextList *settings, const TextList *more)
{
    TextList all = {0}, merged = {0};
    for (size_t i = 0; i < settings->count; i++)
        vec_push(arena, all, settings->data[i]);
    for (size_t i = 0; i < more->count; i++)
        vec_push(arena, all, more->data[i]);
    for (size_t i = 0; i < all.count; i++) {
        size_t later = i + 1;
        while (later < all.count && !names_same(all.data[i], all.data[later]))
            later++;
        if (later == all.count)
            vec_push(arena, merged, all.data[i]);
    }
    return merged;
}
