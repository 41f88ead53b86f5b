/* Reading and writing run.json. */
#include "driver/run/record.h"

#include "base/file.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "base/xxh64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {"pairs", "sources", "sentences",
                                         "lines", "stream",  "records"};
enum { N_KINDS = sizeof kind_names / sizeof kind_names[0], LARGEST_JSON = 1 << 20 };

static const char RECORD[] = "run.json";

const char *corpus_kind_name(CorpusKind kind) { return kind_names[kind]; }

bool is_run_folder(const char *path)
{
    Arena *arena = arena_new();
    bool is = file_exists(file_in(arena, path, RECORD));
    arena_free(arena);
    return is;
}

const char *run_record_file(Job *job, const char *folder)
{
    return file_in(job->arena, folder, RECORD);
}

/* ---- reading ---- */

/* The member of that kind, or NULL; *ok: it is of that kind or absent. */
static const JsonValue *get_member(const JsonValue *object, const char *name, JsonKind kind,
                                   bool *ok)
{
    const JsonValue *value = json_member(object, name);
    *ok = !value || value->kind == kind;
    return *ok ? value : NULL;
}

/* A list of strings, perhaps absent. */
static bool get_list(Job *job, const JsonValue *object, const char *name, TextList *list)
{
    bool ok;
    const JsonValue *texts = get_member(object, name, JV_LIST, &ok);
    for (size_t i = 0; ok && texts && i < texts->n; i++) {
        ok = texts->items[i].kind == JV_STRING;
        vec_push(job->arena, *list, texts->items[i].text);
    }
    return ok;
}

static bool get_kind(const JsonValue *object, CorpusKind *kind)
{
    const char *name = json_member_text(object, "kind");
    for (int i = 0; name && i < N_KINDS; i++)
        if (!strcmp(name, kind_names[i])) {
            *kind = (CorpusKind)i;
            return true;
        }
    return false;
}

static bool get_facts(Job *job, const JsonValue *object, const char *name, RunFacts *to)
{
    bool ok;
    const JsonValue *facts = get_member(object, name, JV_OBJECT, &ok);
    for (size_t i = 0; ok && facts && i < facts->n; i++) {
        ok = facts->items[i].kind == JV_STRING;
        vec_push(job->arena, *to, ((RunFact){facts->keys[i], facts->items[i].text}));
    }
    return ok;
}

/* "NAME=VALUE" each. */
static bool get_settings(Job *job, const JsonValue *object, TextList *list)
{
    bool ok = json_member(object, "settings") && get_list(job, object, "settings", list);
    for (size_t i = 0; ok && i < list->count; i++) {
        const char *equals = strchr(list->data[i], '=');
        ok = equals && equals != list->data[i];
    }
    return ok;
}

/* Bytes or lines of a text: far more than a disk has, and so few that their sum over all that
 * LARGEST_JSON can name does not overflow. */
#define MOST_OF_TEXT (INT64_C(1) << 48)

/* Such a number, 0 where it is absent; false: it is another. */
static bool get_size(const JsonValue *object, const char *name, int64_t *size)
{
    bool ok;
    const JsonValue *value = get_member(object, name, JV_INTEGER, &ok);
    *size = value ? value->integer : 0;
    return ok && *size >= 0 && *size <= MOST_OF_TEXT;
}

static bool get_texts(Job *job, const JsonValue *object, RunRecord *record)
{
    bool ok;
    const JsonValue *texts = get_member(object, "data", JV_LIST, &ok);
    for (size_t i = 0; ok && texts && i < texts->n; i++) {
        const JsonValue *entry = &texts->items[i];
        RunText text = {.option = json_member_text(entry, "option"),
                        .file = json_member_text(entry, "file"),
                        .sha256 = json_member_text(entry, "sha256")};
        ok = text.option && text.file && text.sha256 && get_size(entry, "bytes", &text.bytes) &&
             get_size(entry, "lines", &text.lines);
        vec_push(job->arena, record->texts, text);
    }
    return ok;
}

/* Says what the path is, which is not the folder of a run; gives false. */
static bool refuse_folder(Job *job, const char *path)
{
    return job_error(
        job,
        "%s is not the folder of a run: %s; name a folder that tfc train --out, or tfc import -o, has written",
        path,
        file_is_folder(path) ? "it has no run.json"
        : file_exists(path)  ? "it is a file"
                             : "there is no such folder");
}

bool run_record_read(Job *job, const char *folder, RunRecord *record)
{
    const char *path = run_record_file(job, folder);
    *record = (RunRecord){0};
    if (!file_exists(path))
        return refuse_folder(job, folder);
    const Source *source = job_read(job, folder, path, LARGEST_JSON);
    if (!source)
        return false;
    const char *problem;
    const JsonValue *json = json_read(job->arena, source->text, source->length, &problem);
    if (!json)
        return job_error(job,
                         "%s is damaged (%s): it holds the run's settings, restore it from a copy",
                         path, problem);
    record->version = json_member_text(json, "tfc");
    record->model = json_member_text(json, "model");
    record->processor = json_member_text(json, "processor");
    record->quantised = json_member_text(json, "quantised");
    record->is_import = json_member(json, "unused") != NULL;
    record->knows_generation = json_member(json, "generation") != NULL;
    bool ok = get_kind(json, &record->kind) && get_list(job, json, "unused", &record->unused) &&
              get_settings(job, json, &record->settings) &&
              get_list(job, json, "tokens", &record->tokens) &&
              get_list(job, json, "generation", &record->generation) &&
              get_list(job, json, "command", &record->command) &&
              get_list(job, json, "keep", &record->keep) &&
              get_list(job, json, "arguments", &record->arguments) &&
              get_facts(job, json, "decides", &record->facts) &&
              get_facts(job, json, "files", &record->files) && get_texts(job, json, record);
    if (ok && record->quantised && !quant_of_word(record->quantised))
        return job_error(job,
                         "%s: \"quantised\" is '%s'; expected " QUANT_WORDS
                         ": restore the file from a copy, or use the tfc that wrote it",
                         path, record->quantised);
    return ok ||
           job_error(job, "%s is damaged, or was not written by tfc: restore it from a copy", path);
}

static const char *find_fact(const RunFacts *facts, const char *name)
{
    for (size_t i = 0; i < facts->count; i++)
        if (!strcmp(facts->data[i].name, name))
            return facts->data[i].value;
    return NULL;
}

const char *run_record_fact(const RunRecord *record, const char *name)
{
    return find_fact(&record->facts, name);
}

bool run_record_number(Job *job, const char *folder, const RunRecord *record, const char *name,
                       int64_t most, int64_t *number)
{
    const char *text = run_record_fact(record, name);
    char *end, range[RANGE_TEXT];
    errno = 0;
    const long long value = text ? strtoll(text, &end, 10) : *number;
    if (!text || (end != text && !*end && !errno && value >= 0 && value <= most)) {
        *number = value;
        return true;
    }
    range_text(range, true, 0, (double)most);
    return job_error(job, "%s: \"%s\" is '%s'; expected %s", run_record_file(job, folder), name,
                     text, range);
}

/* ---- the files beside it ---- */

static const char *checksum(Job *job, const void *bytes, size_t size)
{
    return arena_printf(job->arena, "%016llx", (unsigned long long)xxh64(bytes, size, 0));
}

void run_record_add_file(Job *job, RunRecord *record, const char *name, const void *bytes,
                         size_t size)
{
    vec_push(job->arena, record->files, ((RunFact){name, checksum(job, bytes, size)}));
}

bool run_record_has_changed(Job *job, const RunRecord *record, const char *name, const void *bytes,
                            size_t size)
{
    const char *was = find_fact(&record->files, name);
    return was && strcmp(was, checksum(job, bytes, size));
}

bool run_record_check_files(Job *job, const char *folder, const RunRecord *record)
{
    const char *first = NULL;
    int missing = 0;
    for (size_t i = 0; i < record->files.count; i++) {
        const char *path = file_in(job->arena, folder, record->files.data[i].name);
        if (file_exists(path))
            continue;
        first = first ? first : path;
        missing++;
    }
    if (missing > 1)
        return job_error(job,
                         "%s and %d more files of the run are missing: restore them from a copy",
                         first, missing - 1);
    return !first ||
           job_error(job, "%s, a file of the run, is missing: restore it from a copy", first);
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

static void put_facts(JsonWriter *json, const char *name, const RunFacts *facts)
{
    json_open(json, name, '{');
    for (size_t i = 0; i < facts->count; i++)
        put_text(json, facts->data[i].name, facts->data[i].value);
    json_close(json, '}');
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
    if (record->generation.count || (record->is_import && record->knows_generation))
        put_list(&json, "generation", &record->generation);
    put_list(&json, "command", &record->command);
    put_list(&json, "arguments", &record->arguments);
    put_text(&json, "processor", record->processor);
    put_text(&json, "quantised", record->quantised);
    if (record->keep.count)
        put_list(&json, "keep", &record->keep);
    put_facts(&json, "decides", &record->facts);
    prepared_put_texts(&json, "data", record->texts.data, record->texts.count);
    if (record->files.count)
        put_facts(&json, "files", &record->files);
    if (record->is_import)
        put_list(&json, "unused", &record->unused);
    json_close(&json, '}');
    text_string(&text, "\n");
    bool ok = file_write_own(&job->diags, run_record_file(job, folder), text.data, text.length);
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
