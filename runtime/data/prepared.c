/* Reading and writing prepared.json. */
#include "runtime/data/prepared.h"

#include "base/file.h"
#include "base/json_read.h"
#include "base/sha256.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION_TEXT = 1, VERSION_COLUMNS = 2, LARGEST_JSON = 256 << 20 };

static const char *const kinds[] = {[CORPUS_PAIRS] = "pairs",
                                    [CORPUS_LINES] = "lines",
                                    [CORPUS_STREAM] = "stream",
                                    [CORPUS_RECORDS] = "records"};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const char *json_path(Arena *arena, const char *folder)
{
    return arena_printf(arena, "%s/prepared.json", folder);
}

bool is_prepared(const char *folder)
{
    Arena *arena = arena_new();
    bool is = file_exists(json_path(arena, folder));
    arena_free(arena);
    return is;
}

const char *prepared_shard_path(Arena *arena, const char *folder, int64_t i)
{
    return arena_printf(arena, "%s/shard-%05" PRId64 ".tokens", folder, i);
}

const char *prepared_vocabulary(Arena *arena, const Vocabulary *vocab)
{
    return arena_printf(arena, "%d tokens, %016" PRIx64, (int)vocab_size(vocab), vocab_hash(vocab));
}

/* ---- reading ---- */

/* A number from 0 on. */
static bool get_number(const JsonValue *object, const char *name, int64_t *number)
{
    const JsonValue *value = json_member(object, name);
    bool ok = value && value->kind == JV_INTEGER && value->integer >= 0;
    *number = ok ? value->integer : 0;
    return ok;
}

static bool get_text(const JsonValue *object, const char *name, const char **text)
{
    *text = json_member_text(object, name);
    return *text != NULL;
}

/* 16 hexadecimal digits. */
static bool get_hash(const JsonValue *object, const char *name, uint64_t *hash)
{
    const char *text;
    char *end;
    if (!get_text(object, name, &text) || strlen(text) != 16 ||
        strspn(text, "0123456789abcdef") != 16)
        return false;
    *hash = strtoull(text, &end, 16);
    return true;
}

static bool get_kind(const JsonValue *object, CorpusKind *kind)
{
    const char *name;
    if (!get_text(object, "kind", &name))
        return false;
    for (int i = 0; i < KINDS; i++)
        if (kinds[i] && !strcmp(name, kinds[i])) {
            *kind = (CorpusKind)i;
            return true;
        }
    return false;
}

/* A text that may not be there. */
static bool get_any_text(const JsonValue *object, const char *name, const char **text)
{
    *text = NULL;
    return !json_member(object, name) || get_text(object, name, text);
}

static bool get_side(const JsonValue *value, PreparedSide *side)
{
    *side = (PreparedSide){.unknown = -1};
    return value && get_number(value, "tokens", &side->tokens) &&
           get_number(value, "longest", &side->longest) &&
           (!json_member(value, "unknown") || get_number(value, "unknown", &side->unknown)) &&
           get_any_text(value, "input", &side->input) &&
           get_any_text(value, "field", &side->field) &&
           get_any_text(value, "holds", &side->holds) && side->longest <= side->tokens &&
           !side->input == !side->field;
}

static bool get_columns(Arena *arena, const JsonValue *object, Prepared *p)
{
    const JsonValue *list = json_member(object, "columns");
    bool ok = !list || (list->kind == JV_LIST && list->n && list->n <= MOST_COLUMNS);
    for (size_t i = 0; ok && list && i < list->n; i++) {
        PreparedSide side;
        ok = get_side(&list->items[i], &side) && side.input && side.holds;
        vec_push(arena, p->columns, side);
    }
    return ok && (p->kind != CORPUS_RECORDS || p->columns.count);
}

static bool get_tokens(Arena *arena, const JsonValue *object, Prepared *p)
{
    const JsonValue *list = json_member(object, "tokens");
    bool ok = list && list->kind == JV_LIST;
    for (size_t i = 0; ok && i < list->n; i++) {
        ok = list->items[i].kind == JV_STRING;
        if (ok)
            vec_push(arena, p->tokens, list->items[i].text);
    }
    return ok;
}

static bool get_texts(Arena *arena, const JsonValue *object, Prepared *p)
{
    const JsonValue *list = json_member(object, "texts");
    bool ok = list && list->kind == JV_LIST;
    for (size_t i = 0; ok && i < list->n; i++) {
        const JsonValue *entry = &list->items[i];
        PreparedText text;
        ok = get_text(entry, "option", &text.option) && get_text(entry, "file", &text.file) &&
             get_text(entry, "sha256", &text.sha256) && get_number(entry, "bytes", &text.bytes) &&
             get_number(entry, "lines", &text.lines);
        if (ok)
            vec_push(arena, p->texts, text);
    }
    return ok;
}

/* What a row or a token takes in a file bounds their numbers: sums do not overflow. */
#define MOST (INT64_C(1) << 48)

static bool get_shards(Arena *arena, const JsonValue *object, Prepared *p)
{
    const JsonValue *list = json_member(object, "shards");
    bool ok = list && list->kind == JV_LIST && list->n > 0;
    int64_t rows = 0, source = 0, target = 0, values = 0, all_values = 0;
    for (size_t c = 0; c < p->columns.count; c++)
        ok = ok && p->columns.data[c].tokens < MOST - all_values &&
             (all_values += p->columns.data[c].tokens, true);
    for (size_t i = 0; ok && i < list->n; i++) {
        const JsonValue *entry = &list->items[i];
        PreparedShard shard = {0};
        ok = get_number(entry, "rows", &shard.rows) && get_number(entry, "source", &shard.source) &&
             get_number(entry, "target", &shard.target) &&
             (!p->columns.count || get_number(entry, "values", &shard.values)) &&
             get_hash(entry, "parameters", &shard.parameters) &&
             get_hash(entry, "checksum", &shard.checksum) && shard.rows < MOST - rows &&
             shard.source < MOST - source && shard.target < MOST - target &&
             shard.values < MOST - values;
        if (!ok)
            break;
        rows += shard.rows;
        source += shard.source;
        target += shard.target;
        values += shard.values;
        vec_push(arena, p->shards, shard);
    }
    return ok && rows == p->rows && source == p->source.tokens && target == p->target.tokens &&
           values == all_values && rows > 0;
}

static bool get_all(Arena *arena, const JsonValue *json, Prepared *p)
{
    int64_t id_bytes;
    bool ok = get_kind(json, &p->kind) && get_number(json, "id_bytes", &id_bytes) &&
              (id_bytes == 2 || id_bytes == 4) && get_number(json, "max_length", &p->max_length) &&
              get_number(json, "window_rows", &p->window_rows) && p->window_rows > 0 &&
              p->window_rows < MOST / WINDOW_TOKENS && get_number(json, "lines", &p->lines) &&
              get_number(json, "rows", &p->rows) && get_number(json, "empty", &p->empty) &&
              get_number(json, "long", &p->long_) &&
              get_side(json_member(json, "source"), &p->source) &&
              get_side(json_member(json, "target"), &p->target) && get_columns(arena, json, p) &&
              get_text(json, "vocabulary", &p->vocabulary) && get_tokens(arena, json, p) &&
              get_hash(json, "parameters", &p->parameters) && get_texts(arena, json, p) &&
              get_shards(arena, json, p);
    if (ok)
        p->id_bytes = (int)id_bytes;
    return ok;
}

Prepared *prepared_parse(Diagnostics *diags, Arena *arena, const char *folder, const Source *text)
{
    Prepared *p = ARENA_NEW(arena, Prepared);
    Loc loc = {.source = diag_source(arena, text->path, "", 0)};
    const char *problem = NULL;
    int64_t version;
    const JsonValue *json = json_read(arena, text->text, text->length, &problem);
    if (!json)
        diag_error(diags, loc, "%s", problem ? problem : "out of memory");
    else if (!get_number(json, "prepared", &version))
        diag_error(diags, loc, "not what tfc prepare writes: prepare the texts again");
    else if (version != VERSION_TEXT && version != VERSION_COLUMNS)
        diag_error(diags, loc, "another version of tfc prepare wrote it: prepare the texts again");
    else if (!get_all(arena, json, p))
        diag_error(diags, loc, "not what tfc prepare writes, or damaged: prepare the texts again");
    else {
        Sha256 sha;
        char *hash = arena_alloc(arena, 2 * SHA256_BYTES + 1);
        sha256_init(&sha);
        sha256_add(&sha, text->text, text->length);
        sha256_finish_text(&sha, hash);
        p->folder = arena_strdup(arena, folder);
        p->sha256 = hash;
        p->bytes = (int64_t)text->length;
        return p;
    }
    return NULL;
}

Prepared *prepared_open(Diagnostics *diags, Arena *arena, FileReach data)
{
    const char *folder = data.folder;
    if (!is_prepared(folder)) {
        diag_error(diags, (Loc){0}, "%s is not a folder that tfc prepare has finished: %s", folder,
                   file_exists(folder) ? "it has no prepared.json" : "there is no such folder");
        return NULL;
    }
    const Source *text =
        file_read_within(diags, arena, data, json_path(arena, folder), LARGEST_JSON);
    return text ? prepared_parse(diags, arena, folder, text) : NULL;
}

/* ---- unknown tokens ---- */

static UnknownCount unknown_of(const PreparedSide *side)
{
    return (UnknownCount){side->tokens, side->unknown > 0 ? side->unknown : 0};
}

SidesUnknown prepared_unknown(const Prepared *p)
{
    SidesUnknown sides = {unknown_of(&p->source), unknown_of(&p->target)};
    for (size_t c = 0; c < p->columns.count; c++)
        if (p->columns.data[c].unknown >= 0) { /* a text */
            const UnknownCount column = unknown_of(&p->columns.data[c]);
            sides.source.tokens += column.tokens;
            sides.source.unknown += column.unknown;
        }
    return sides;
}

bool prepared_is_table(const Prepared *p) { return p->columns.count > 0; }

void prepared_tell_unknown(Diagnostics *diags, const Prepared *p)
{
    const SidesUnknown sides = prepared_unknown(p);
    const Source *folder = diag_source(diags->arena, p->folder, "", 0), *const texts[] = {folder,
                                                                                          folder};
    corpus_tell_unknown(diags, p->kind, &sides, texts);
}

/* ---- writing ---- */

static void put_hash(JsonWriter *json, const char *key, uint64_t hash)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    json_put_text(json, key, text);
}

static void put_side(JsonWriter *json, const char *key, const PreparedSide *side)
{
    json_open(json, key, '{');
    if (side->input) {
        json_put_text(json, "input", side->input);
        json_put_text(json, "field", side->field);
    }
    if (side->holds)
        json_put_text(json, "holds", side->holds);
    json_put_integer(json, "tokens", side->tokens);
    json_put_integer(json, "longest", side->longest);
    if (side->unknown >= 0)
        json_put_integer(json, "unknown", side->unknown);
    json_close(json, '}');
}

void prepared_put_texts(JsonWriter *json, const char *key, const PreparedText *texts, size_t n)
{
    json_open(json, key, '[');
    for (size_t i = 0; i < n; i++) {
        const PreparedText *text = &texts[i];
        json_open(json, NULL, '{');
        json_put_text(json, "option", text->option);
        json_put_text(json, "file", text->file);
        json_put_integer(json, "bytes", text->bytes);
        json_put_integer(json, "lines", text->lines);
        json_put_text(json, "sha256", text->sha256);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* A shard a line. */
static void put_shards(JsonWriter *json, const Prepared *p)
{
    int indent = json->indent;
    json_open(json, "shards", '[');
    for (size_t i = 0; i < p->shards.count; i++) {
        const PreparedShard *shard = &p->shards.data[i];
        json_open(json, NULL, '{');
        json->indent = 0;
        json_put_integer(json, "rows", shard->rows);
        json_put_integer(json, "source", shard->source);
        json_put_integer(json, "target", shard->target);
        if (p->columns.count)
            json_put_integer(json, "values", shard->values);
        put_hash(json, "parameters", shard->parameters);
        put_hash(json, "checksum", shard->checksum);
        json_close(json, '}');
        json->indent = indent;
    }
    json_close(json, ']');
}

bool prepared_write(Diagnostics *diags, const Prepared *p)
{
    Text text = {0};
    JsonWriter json = {.out = &text, .indent = 2};
    json_open(&json, NULL, '{');
    json_put_integer(&json, "prepared", p->columns.count ? VERSION_COLUMNS : VERSION_TEXT);
    json_put_text(&json, "kind", kinds[p->kind]);
    json_put_integer(&json, "id_bytes", p->id_bytes);
    json_put_integer(&json, "max_length", p->max_length);
    json_put_integer(&json, "window_rows", p->window_rows);
    json_put_integer(&json, "lines", p->lines);
    json_put_integer(&json, "rows", p->rows);
    json_put_integer(&json, "empty", p->empty);
    json_put_integer(&json, "long", p->long_);
    put_side(&json, "source", &p->source);
    put_side(&json, "target", &p->target);
    if (p->columns.count)
        json_open(&json, "columns", '[');
    for (size_t c = 0; c < p->columns.count; c++)
        put_side(&json, NULL, &p->columns.data[c]);
    if (p->columns.count)
        json_close(&json, ']');
    json_put_text(&json, "vocabulary", p->vocabulary);
    json_open(&json, "tokens", '[');
    for (size_t i = 0; i < p->tokens.count; i++)
        json_put_text(&json, NULL, p->tokens.data[i]);
    json_close(&json, ']');
    put_hash(&json, "parameters", p->parameters);
    prepared_put_texts(&json, "texts", p->texts.data, p->texts.count);
    put_shards(&json, p);
    json_close(&json, '}');
    text_string(&text, "\n");
    bool ok = file_write_own(diags, json_path(diags->arena, p->folder), text.data, text.length);
    text_free(&text);
    return ok;
}
