/* Rows of token shards, added to a corpus. */
#include "runtime/data/prepared_rows.h"

#include <inttypes.h>

/* SideReader: what is read of a side, row by row. */
typedef struct SideReader {
    const TokenSide *side;
    int64_t at;
    Ids *ids;
    int32_t none; /* column_none */
} SideReader;

/* Appends row i, or passes over it; returns its length. */
static int64_t read_side(SideReader *reader, int64_t i, bool is_passed)
{
    const int64_t length = token_shard_length(reader->side, i);
    reader->at += is_passed ? length : 0;
    if (is_passed)
        return length;
    token_shard_ids(reader->side, reader->at, length, reader->ids);
    for (int64_t k = 0; reader->none && k < length; k++)
        reader->ids->data[reader->ids->count - (size_t)k - 1] -= reader->none;
    reader->at += length;
    return length;
}

static bool refuse_row(Diagnostics *diags, const char *path, int64_t i, const char *what)
{
    diag_error(diags, (Loc){0}, "%s: row %" PRId64 ": %s", path, i + 1, what);
    return false;
}

/* What is wrong with a row's values, the last `length` of the column, in the arena; NULL: nothing.
 * The data may be prepared for a model of other classes. */
static const char *column_problem(Arena *arena, const ColumnSpec *spec, const Ids *ids,
                                  int64_t length)
{
    const int32_t *values = ids->data + ids->count - (size_t)length;
    if (spec->side < 0 ? length != spec->width : length % spec->width)
        return "it has more or fewer values than the model takes";
    for (int64_t k = 0; spec->ids.n && k < length; k++) {
        char text[ID_RANGE_TEXT];
        const IdRange *broken = id_ranges_broken(&spec->ids, k, values[k]);
        if (broken)
            return arena_printf(arena, "`%s` has %" PRId32 "; %s", spec->input, values[k],
                                id_range_text(broken, text));
    }
    return NULL;
}

/* As prepared_load_shard; sides and sums of lengths were checked. False, with an error, at a row
 * that the model cannot be fed. */
static bool add_rows(Diagnostics *diags, const char *path, Corpus *rows, const TokenShard *shard,
                     int64_t *stored)
{
    const ColumnSpec *columns = rows->options.columns;
    const int n = FIRST_COLUMN + shard->n_columns;
    SideReader sides[MOST_VALUES];
    for (int k = 0; k < n; k++)
        sides[k] = (SideReader){&shard->sides[k], 0, &rows->values[k].ids,
                                k < FIRST_COLUMN ? 0 : column_none(&columns[k - FIRST_COLUMN])};
    if (rows->options.kind & IS_ALONE) /* a text's lines are its sources */
        sides[SIDE_TARGET].ids = &rows->source.ids;
    if (shard->kind == CORPUS_STREAM) {
        read_side(&sides[SIDE_TARGET], 0, false);
        return true;
    }
    for (int64_t i = 0; i < shard->rows; i++) {
        const bool is_passed = stored && stored[i] != ROW_WANTED;
        for (int k = 0; k < n; k++) {
            const int64_t length = read_side(&sides[k], i, is_passed);
            const char *problem = is_passed || k < FIRST_COLUMN
                                      ? NULL
                                      : column_problem(diags->arena, &columns[k - FIRST_COLUMN],
                                                       sides[k].ids, length);
            if (problem)
                return refuse_row(diags, path, i, problem);
        }
        if (is_passed)
            continue;
        CorpusRow row = corpus_close_row(rows, i);
        if (row.is_uneven)
            return refuse_row(diags, path, i, corpus_uneven_text(diags->arena, rows, &row));
        if (stored)
            stored[i] = row.is_kept ? rows->n - 1 : ROW_LEFT_OUT;
    }
    return true;
}

static bool is_of(const TokenShard *shard, const Prepared *p, const PreparedShard *entry)
{
    int64_t values = 0;
    for (int c = 0; c < shard->n_columns; c++)
        values += shard->columns[c].tokens;
    return shard->n_columns == (int)p->columns.count && values == entry->values &&
           shard->kind == p->kind && shard->id_bytes == p->id_bytes && shard->rows == entry->rows &&
           shard->source.tokens == entry->source && shard->target.tokens == entry->target &&
           shard->parameters == entry->parameters && shard->checksum == entry->checksum;
}

bool prepared_load_shard(Diagnostics *diags, Arena *arena, const Prepared *p, int64_t i,
                         Corpus *rows, int64_t *stored)
{
    TokenShard shard;
    const char *path = prepared_shard_path(arena, p->folder, i);
    bool opened = token_shard_open(diags, path, &shard), ok = opened;
    int64_t sizes[MOST_VALUES];
    corpus_sizes(&rows->options, rows->vocab, sizes);
    if (ok && !is_of(&shard, p, &p->shards.data[i])) {
        diag_error(diags, (Loc){0},
                   "%s: it is another file than the one that prepared.json records", path);
        ok = false;
    }
    ok = ok && token_shard_check(diags, &shard, sizes);
    if (ok)
        ok = add_rows(diags, path, rows, &shard, stored);
    else
        diag_note(
            diags, (Loc){0},
            "tfc prepare with the options that made %s makes again what is damaged in it, and "
            "keeps the rest",
            p->folder);
    if (opened)
        token_shard_close(&shard);
    return ok;
}
