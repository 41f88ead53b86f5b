/* Reading and writing prepared.json. */
#include "runtime/data/prepared.h"

#include "base/file.h"
#include "base/json_read.h"
#include "base/sha256.h"

#include <inttypes.h>
#include <string.h>

enum { VERSION_TEXT = 1, VERSION_COLUMNS = 2, LARGEST_JSON = 256 << 20 };

/* What a row or a token takes in a file bounds their numbers: sums do not overflow. */
#define MOST (INT64_C(1) << 48)

/* clang-format off */
#define ROW(key, type, member, use, ...) JSON_FIELD(PreparedText, key, type, member, use, __VA_ARGS__)
static const JsonField text_fields[] = {
    ROW("option", TEXT,    option, NEEDED),
    ROW("file",   TEXT,    file,   NEEDED),
    ROW("bytes",  INTEGER, bytes,  WRITTEN, .most = MOST),
    ROW("lines",  INTEGER, lines,  WRITTEN, .most = MOST),
    ROW("sha256", TEXT,    sha256, NEEDED),
};
#undef ROW
const JsonRecord prepared_text_record = JSON_RECORD_OF(PreparedText, text_fields);

#define ROW(key, type, member, use, ...) JSON_FIELD(PreparedSide, key, type, member, use, __VA_ARGS__)
static const JsonField side_fields[] = {
    ROW("input",   TEXT,    input,   OPTIONAL),
    ROW("field",   TEXT,    field,   OPTIONAL),
    ROW("holds",   TEXT,    holds,   OPTIONAL),
    ROW("tokens",  INTEGER, tokens,  NEEDED),
    ROW("longest", INTEGER, longest, NEEDED),
    ROW("unknown", INTEGER, unknown, OPTIONAL, .otherwise = -1),
};
#undef ROW
static const JsonRecord side_record = JSON_RECORD_OF(PreparedSide, side_fields);

#define ROW(key, type, member, use, ...) JSON_FIELD(PreparedShard, key, type, member, use, __VA_ARGS__)
static const JsonField shard_fields[] = {
    ROW("rows",       INTEGER, rows,       NEEDED),
    ROW("source",     INTEGER, source,     NEEDED), /* tokens */
    ROW("target",     INTEGER, target,     NEEDED),
    ROW("values",     INTEGER, values,     OPTIONAL), /* of all columns */
    ROW("parameters", HASH,    parameters, NEEDED),
    ROW("checksum",   HASH,    checksum,   NEEDED),
};
#undef ROW
static const JsonRecord shard_record = JSON_RECORD_OF(PreparedShard, shard_fields, .is_line = true);

#define ROW(key, type, member, use, ...) JSON_FIELD(Prepared, key, type, member, use, __VA_ARGS__)
#define KIND NEEDED, .words = corpus_kind_words, .n_words = CORPUS_KINDS
#define ROWS_OF_WINDOW NEEDED, .least = 1, .most = MOST / WINDOW_TOKENS - 1
#define SIDE NEEDED, .of = &side_record
#define COLUMNS OPTIONAL, .of = &side_record, .least = 1, .most = MOST_COLUMNS
#define TEXT_FILES NEEDED, .of = &prepared_text_record
#define SHARDS NEEDED, .of = &shard_record, .least = 1
static const JsonField prepared_fields[] = {
    /* VERSION_TEXT or VERSION_COLUMNS; what the rows are; bytes of an id */
    ROW("prepared",    INTEGER, version,     NEEDED),
    ROW("kind",        WORD,    kind,        KIND),
    ROW("id_bytes",    INTEGER, id_bytes,    NEEDED),
    /* longer rows were left out; 0: none */
    ROW("max_length",  INTEGER, max_length,  NEEDED),
    /* most rows that a training has in memory, unless one shard has more */
    ROW("window_rows", INTEGER, window_rows, ROWS_OF_WINDOW),
    /* lines of the texts; rows kept; lines left out for an empty side, for their length */
    ROW("lines",       INTEGER, lines,       NEEDED),
    ROW("rows",        INTEGER, rows,        NEEDED),
    ROW("empty",       INTEGER, empty,       NEEDED),
    ROW("long",        INTEGER, long_,       NEEDED),
    /* tokens of all rows, and of the longest; how many are unknown; of a table the input that is
     * fed, and by which field */
    ROW("source",      RECORD,  source,      SIDE),
    ROW("target",      RECORD,  target,      SIDE),
    /* of a table: the same of each column of its rows (column.h), and what it holds */
    ROW("columns",     RECORDS, columns,     COLUMNS),
    /* its size and hash; its rules (token_rules.h) */
    ROW("vocabulary",  TEXT,    vocabulary,  NEEDED),
    ROW("tokens",      TEXTS,   tokens,      NEEDED),
    /* hash of all that decides the rows */
    ROW("parameters",  HASH,    parameters,  NEEDED),
    ROW("texts",       RECORDS, texts,       TEXT_FILES),
    ROW("shards",      RECORDS, shards,      SHARDS),
};
#undef ROW
/* clang-format on */
static const JsonRecord version_record = {prepared_fields, 1, sizeof(Prepared), false},
                        prepared_record = JSON_RECORD_OF(Prepared, prepared_fields);

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

static bool check_side(const PreparedSide *side)
{
    return side->longest <= side->tokens && !side->input == !side->field;
}

/* The sum of the columns' values; -1: a column is not whole, or they are too many. */
static int64_t sum_columns(const Prepared *p)
{
    int64_t sum = 0;
    for (size_t c = 0; c < p->columns.count; c++) {
        const PreparedSide *column = &p->columns.data[c];
        if (!check_side(column) || !column->input || !column->holds || column->tokens >= MOST - sum)
            return -1;
        sum += column->tokens;
    }
    return sum;
}

/* Whether the shards together are what the whole says. */
static bool check_shards(const Prepared *p)
{
    PreparedShard sum = {0};
    for (size_t i = 0; i < p->shards.count; i++) {
        const PreparedShard *shard = &p->shards.data[i];
        if (shard->rows >= MOST - sum.rows || shard->source >= MOST - sum.source ||
            shard->target >= MOST - sum.target || shard->values >= MOST - sum.values)
            return false;
        sum.rows += shard->rows;
        sum.source += shard->source;
        sum.target += shard->target;
        sum.values += shard->values;
    }
    return sum.rows == p->rows && sum.source == p->source.tokens &&
           sum.target == p->target.tokens && sum.values == sum_columns(p) && sum.rows > 0;
}

/* What a table of members cannot say; NULL: all holds. */
static const char *find_wrong(const Prepared *p)
{
    const struct {
        bool holds;
        const char *member;
    } checks[] = {{!p->kind || (p->kind & HAS_TARGET), "kind"},
                  {p->id_bytes == 2 || p->id_bytes == 4, "id_bytes"},
                  {check_side(&p->source), "source"},
                  {check_side(&p->target), "target"},
                  {p->kind != CORPUS_RECORDS || p->columns.count, "columns"},
                  {check_shards(p), "shards"}};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (!checks[i].holds)
            return checks[i].member;
    return NULL;
}

Prepared *prepared_parse(Diagnostics *diags, Arena *arena, const char *folder, const Source *text)
{
    Prepared *p = ARENA_NEW(arena, Prepared);
    Loc loc = {.source = diag_source(arena, text->path, "", 0)};
    const char *problem = NULL, *wrong;
    const JsonValue *json = json_read(arena, text->text, text->length, &problem);
    if (!json)
        return diag_error(diags, loc, "%s", problem ? problem : "out of memory"), NULL;
    if (!json_record_read(arena, &version_record, json, p, &wrong))
        return diag_error(diags, loc, "not what tfc prepare writes: prepare the texts again"), NULL;
    if (p->version != VERSION_TEXT && p->version != VERSION_COLUMNS)
        return diag_error(diags, loc,
                          "another version of tfc prepare wrote it: prepare the texts again"),
               NULL;
    if (json_record_read(arena, &prepared_record, json, p, &wrong))
        wrong = find_wrong(p);
    if (wrong)
        return diag_error(diags, loc,
                          "not what tfc prepare writes, or damaged (%s): prepare the texts again",
                          wrong),
               NULL;
    p->folder = arena_strdup(arena, folder);
    p->sha256 = sha256_text(arena, text->text, text->length);
    p->bytes = (int64_t)text->length;
    return p;
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

bool prepared_write(Diagnostics *diags, const Prepared *p)
{
    Text text = {0};
    JsonWriter json = {.out = &text, .indent = 2};
    Prepared whole = *p;
    whole.version = p->columns.count ? VERSION_COLUMNS : VERSION_TEXT;
    json_record_put_item(&json, NULL, &prepared_record, &whole);
    text_string(&text, "\n");
    bool ok = file_write_own(diags, json_path(diags->arena, p->folder), text.data, text.length);
    text_free(&text);
    return ok;
}
