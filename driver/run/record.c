/* Reading and writing run.json. */
#include "driver/run/record.h"

#include "base/file.h"
#include "base/json_read.h"
#include "base/json_record.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/xxh64.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_JSON = 1 << 20 };
#define MOST_RUN_STEPS (INT64_C(1) << 53)

static const char RECORD[] = "run.json";

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

/* What run.json holds; "later": after 0.2.0. */
#define ROW(key, type, member, use, ...) JSON_FIELD(RunRecord, key, type, member, use, __VA_ARGS__)
#define KIND NEEDED, .words = corpus_kind_words, .n_words = CORPUS_KINDS
#define IF_GENERATION OPTIONAL, JSON_FLAG(RunRecord, knows_generation)
#define IF_IMPORTED OPTIONAL, JSON_FLAG(RunRecord, is_import)
#define OF_TEXTS WRITTEN, .of = &prepared_text_record
static const JsonField run_fields[] = {
    /* clang-format off */
    /* version */
    ROW("tfc",        TEXT,    version,    OPTIONAL),
    /* later: the commit that tfc was built from */
    ROW("commit",     TEXT,    commit,     OPTIONAL),
    /* the model's file as it was given */
    ROW("model",      TEXT,    model,      OPTIONAL),
    /* what a batch is made of */
    ROW("kind",       WORD,    kind,       KIND),
    /* consts: ["d_model=256", …], `vocab` always among them */
    ROW("settings",   TEXTS,   settings,   NEEDED),
    /* rules of the vocabulary: ["begin=<pad>", …] (runtime/data/token_rules.h) */
    ROW("tokens",     TEXTS,   tokens,     OPTIONAL),
    /* later: settings of generation that hold where no option says: "temperature=0.6" */
    ROW("generation", TEXTS,   generation, IF_GENERATION),
    /* the command as it was typed */
    ROW("command",    TEXTS,   command,    WRITTEN),
    /* the options that --resume repeats, files by absolute paths */
    ROW("arguments",  TEXTS,   arguments,  WRITTEN),
    /* the name of the machine's processor, for people to read */
    ROW("processor",  TEXT,    processor,  OPTIONAL),
    /* later: of all sessions and ranks, with what code was for: "NAME (znver4, 512 bits)" */
    ROW("processors", TEXTS,   processors, OPTIONAL),
    /* later: the step after which the run last went on with changes (--allow-change) */
    ROW("changed",    INTEGER, changed,    OPTIONAL, .most = MOST_RUN_STEPS),
    /* later: name → version of the libraries that texts are read with */
    ROW("libraries",  PAIRS,   libraries,  OPTIONAL),
    /* later: of a run of tfc quantize, a word of base/quants.def */
    ROW("quantised",  TEXT,    quantised,  OPTIONAL),
    /* later: of such a run, patterns of the params whose products and lookups are f32 */
    ROW("keep",       TEXTS,   keep,       OPTIONAL),
    /* name → value: all that the result depends on, without the texts */
    ROW("decides",    PAIRS,   facts,      WRITTEN),
    /* the texts: option, file, bytes, lines, sha256 */
    ROW("data",       RECORDS, texts,      OF_TEXTS),
    /* later: the number of the training, as its checkpoints have it (`config`) */
    ROW("training",   TEXT,    training,   OPTIONAL),
    /* name → checksum of the files beside run.json that never change: model, libraries,
     * vocabularies */
    ROW("files",      PAIRS,   files,      OPTIONAL),
    /* of an imported run: tensors of the weights that no param took */
    ROW("unused",     TEXTS,   unused,     IF_IMPORTED),
    /* clang-format on */
};
#undef ROW
static const JsonRecord run_record = JSON_RECORD_OF(RunRecord, run_fields);

/* ---- reading ---- */

/* Whether each is "NAME=VALUE". */
static bool are_settings(const TextList *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *equals = strchr(list->data[i], '=');
        if (!equals || equals == list->data[i])
            return false;
    }
    return true;
}

bool run_record_refuse(Job *job, const char *path)
{
    return job_error(
        job,
        "%s is not the folder of a run: %s; name a folder that tfc train -o or tfc import -o has written",
        path,
        file_is_folder(path) ? "it has no run.json"
        : file_exists(path)  ? "it is a file"
                             : "there is no such folder");
}

/* The file of the folder, as JSON; NULL after an error. */
static const JsonValue *read_json(Job *job, const char *folder, const char *path)
{
    const char *problem;
    const Source *source = job_read(job, folder, path, LARGEST_JSON);
    const JsonValue *json =
        source ? json_read(job->arena, source->text, source->length, &problem) : NULL;
    if (source && !json)
        job_error(job, "%s is damaged (%s): it holds the run's settings, restore it from a copy",
                  path, problem);
    return json;
}

/* The last "NAME=VALUE" of the option and the name among arguments: VALUE; NULL: there is none. */
static const char *argument_value(const TextList *arguments, const char *option, const char *name,
                                  size_t length)
{
    const char *value = NULL;
    for (size_t i = 0; i + 1 < arguments->count; i++) {
        const char *text = arguments->data[i + 1];
        if (!strcmp(arguments->data[i], option) && !strncmp(text, name, length) &&
            text[length] == '=')
            value = text + length + 1;
    }
    return value;
}

/* What the record holds twice is the same: consts, among the options that made the run, too. */
static bool check_settings(Job *job, const char *path, const RunRecord *record)
{
    const TextList none = {0}, last = merge_settings(job->arena, &record->settings, &none);
    for (size_t i = 0; i < last.count; i++) {
        const char *setting = last.data[i];
        const size_t length = strcspn(setting, "=");
        const char *given = argument_value(&record->arguments, "--set", setting, length);
        double a, b;
        if (!given || !strcmp(given, setting + length + 1) ||
            (text_real(given, &a) && text_real(setting + length + 1, &b) && a == b))
            continue;
        return job_error(job,
                         "%s contradicts itself: \"settings\" has '%s', and \"arguments\" has "
                         "'%.*s=%s': restore the file from a copy",
                         path, setting, (int)length, setting, given);
    }
    return true;
}

/* The field of "INPUT=FIELD" stands in `decides` as "INPUT of FIELD". */
static bool check_fields(Job *job, const char *path, const RunRecord *record)
{
    const char *columns = run_record_fact(record, "columns");
    for (size_t i = 0; columns && i + 1 < record->arguments.count; i++) {
        const char *given = record->arguments.data[i + 1], *equals = strchr(given, '=');
        if (strcmp(record->arguments.data[i], "--column") != 0 || !equals)
            continue;
        const char *input = arena_printf(job->arena, "%.*s of ", (int)(equals - given), given),
                   *at = strstr(columns, input);
        while (at && at > columns && at[-1] != ' ')
            at = strstr(at + 1, input);
        const char *field =
            argument_value(&record->arguments, "--column", given, (size_t)(equals - given));
        if (!at || !strncmp(at + strlen(input), field, strlen(field)))
            continue;
        return job_error(job,
                         "%s contradicts itself: \"arguments\" has the field '%.*s=%s', and "
                         "\"decides\" has '%s': restore the file from a copy",
                         path, (int)(equals - given), given, field, columns);
    }
    return true;
}

static bool read_record(Job *job, const char *folder, RunRecord *record)
{
    const char *path = run_record_file(job, folder), *wrong;
    if (!file_exists(path))
        return run_record_refuse(job, folder);
    const JsonValue *json = read_json(job, folder, path);
    if (!json)
        return false;
    bool ok = json_record_read(job->arena, &run_record, json, record, &wrong);
    if (ok && !are_settings(&record->settings)) {
        wrong = "settings";
        ok = false;
    }
    if (ok && record->quantised && !quant_of_word(record->quantised))
        return job_error(job,
                         "%s: \"quantised\" is '%s'; expected " QUANT_WORDS
                         ": restore the file from a copy, or use the tfc that wrote it",
                         path, record->quantised);
    if (ok)
        return check_settings(job, path, record) && check_fields(job, path, record);
    return job_error(job, "%s is damaged, or was not written by tfc (%s): restore it from a copy",
                     path, wrong);
}

/* ---- what a job has read ---- */

struct RunRecords {
    Map folders; /* RunRecord */
};

RunRecords *run_records_new(Arena *arena)
{
    RunRecords *records = ARENA_NEW(arena, RunRecords);
    map_init(&records->folders, arena);
    return records;
}

bool run_record_read(Job *job, const char *folder, RunRecord *record)
{
    const RunRecord *read = job->records ? map_get(&job->records->folders, folder) : NULL;
    *record = read ? *read : (RunRecord){0};
    if (read)
        return true;
    if (!read_record(job, folder, record))
        return false;
    if (job->records)
        map_set(&job->records->folders, folder, arena_copy(job->arena, record, sizeof *record));
    return true;
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

const char *run_record_library(const RunRecord *record, const char *name)
{
    return find_fact(&record->libraries, name);
}

const char *run_record_processor(Arena *arena, const RunRecord *record)
{
    const char *code = run_record_fact(record, "cpu");
    return arena_printf(arena, "%s (%s)", record->processor ? record->processor : "unknown",
                        code ? code : "unknown");
}

void run_record_add_processor(Arena *arena, RunRecord *record, const char *processor)
{
    for (size_t i = 0; i < record->processors.count; i++)
        if (!strcmp(record->processors.data[i], processor))
            return;
    vec_push(arena, record->processors, processor);
}

bool run_record_number(Job *job, const char *folder, const RunRecord *record, const char *name,
                       int64_t most, int64_t *number)
{
    const char *text = run_record_fact(record, name);
    char range[RANGE_TEXT];
    int64_t value;
    if (!text)
        return true;
    if (text_whole(text, &value) && value >= 0 && value <= most) {
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

bool run_record_write(Job *job, const char *folder, const RunRecord *record)
{
    Text text = {0};
    JsonWriter json = {.out = &text, .indent = 2};
    json_record_put_item(&json, NULL, &run_record, record);
    text_string(&text, "\n");
    bool ok = file_write_own(&job->diags, run_record_file(job, folder), text.data, text.length);
    text_free(&text);
    if (job->records)
        map_set(&job->records->folders, folder, NULL);
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
