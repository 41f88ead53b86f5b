/* The order of an epoch of prepared data: which shards its windows have, and their rows. */
#define _GNU_SOURCE
#include "runtime/data/prepared.h"

#include "base/map.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- which shards ---- */

typedef struct WindowPlace {
    uint64_t key; /* drawn for the epoch: the shards are taken by it */
    int64_t shard;
} WindowPlace;

static int by_key(const void *a, const void *b)
{
    const WindowPlace *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->shard < y->shard ? -1 : x->shard > y->shard;
}

static int by_shard(const void *a, const void *b)
{
    const WindowPlace *x = a, *y = b;
    return x->shard < y->shard ? -1 : x->shard > y->shard;
}

static WindowPlace *order_shards(Arena *arena, const Prepared *p, uint64_t seed, int64_t epoch)
{
    WindowPlace *places = ARENA_ARRAY(arena, WindowPlace, p->shards.count);
    uint64_t hash = hash_u64(hash_u64(HASH_SEED, seed), (uint64_t)epoch);
    for (size_t i = 0; i < p->shards.count; i++)
        places[i] = (WindowPlace){hash_u64(hash, i), (int64_t)i};
    qsort(places, p->shards.count, sizeof *places, by_key);
    return places;
}

/* The end of the window that begins with places[first]. */
static size_t cut_window(const Prepared *p, const WindowPlace *places, size_t first)
{
    int64_t rows = 0, tokens = 0;
    size_t i = first;
    for (; i < p->shards.count; i++) {
        const PreparedShard *shard = &p->shards.data[places[i].shard];
        rows += shard->rows;
        tokens += shard->source + shard->target + shard->values;
        if (i > first && (rows > p->window_rows || tokens > WINDOW_TOKENS * p->window_rows))
            break;
    }
    return i;
}

int64_t prepared_windows(const Prepared *p, uint64_t seed, int64_t epoch)
{
    Arena *arena = arena_new();
    const WindowPlace *places = order_shards(arena, p, seed, epoch);
    int64_t n = 0;
    for (size_t i = 0; i < p->shards.count; n++)
        i = cut_window(p, places, i);
    arena_free(arena);
    return n;
}

/* ---- their rows ---- */

/* SideReader: what is read of a side, row by row. */
typedef struct SideReader {
    const TokenSide *side; /* NULL: the shard has no such side */
    int64_t at;
    Ids *ids;
    int32_t none; /* column_none */
} SideReader;

/* Appends row i; returns its length. */
static int64_t read_side(SideReader *reader, int64_t i)
{
    const int64_t length = reader->side ? token_shard_length(reader->side, i) : 0;
    if (reader->side)
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

/* Adds the shard's rows; sides and sums of lengths were checked. False, with an error, at a row
 * that the model cannot be fed. */
static bool add_rows(Diagnostics *diags, const char *path, Corpus *rows, const TokenShard *shard)
{
    const CorpusKind kind = shard->kind;
    bool swapped = rows->options.kind == CORPUS_SENTENCES; /* a text's lines are its sources */
    SideReader source = {kind == CORPUS_PAIRS ? &shard->source : NULL, 0, &rows->source.ids, 0};
    SideReader target = {kind == CORPUS_RECORDS ? NULL : &shard->target, 0,
                         swapped ? &rows->source.ids : &rows->target.ids, 0};
    SideReader columns[MOST_COLUMNS];
    if (kind == CORPUS_STREAM) {
        read_side(&target, 0);
        return true;
    }
    for (int c = 0; c < shard->n_columns; c++)
        columns[c] = (SideReader){&shard->columns[c], 0, &rows->columns[c].ids,
                                  column_none(&rows->options.columns[c])};
    for (int64_t i = 0; i < shard->rows; i++) {
        read_side(&source, i);
        read_side(&target, i);
        for (int c = 0; c < shard->n_columns; c++) {
            const ColumnSpec *spec = &rows->options.columns[c];
            const int64_t length = read_side(&columns[c], i);
            if (spec->side < 0 ? length != spec->width : length % spec->width)
                return refuse_row(diags, path, i,
                                  "it has more or fewer values than the model takes");
        }
        CorpusRow row = corpus_close_row(rows, i);
        if (row.is_uneven)
            return refuse_row(diags, path, i, corpus_uneven_text(diags->arena, rows, &row));
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

static bool load_shard(Diagnostics *diags, Arena *arena, const Prepared *p, int64_t i, Corpus *rows)
{
    TokenShard shard;
    const char *path = prepared_shard_path(arena, p->folder, i);
    const Vocabulary *target = rows->vocab;
    const Vocabulary *source =
        rows->options.kind == CORPUS_SENTENCES ? target : vocab_source(rows->vocab);
    bool opened = token_shard_open(diags, path, &shard), ok = opened;
    int64_t sizes[MOST_COLUMNS];
    for (int c = 0; c < rows->options.n_columns; c++)
        sizes[c] = column_below(&rows->options.columns[c], rows->vocab);
    if (ok && !is_of(&shard, p, &p->shards.data[i])) {
        diag_error(diags, (Loc){0}, "%s: it is not the file that prepared.json tells of", path);
        ok = false;
    }
    ok = ok && token_shard_check(diags, &shard, vocab_size(source), vocab_size(target), sizes);
    if (ok)
        ok = add_rows(diags, path, rows, &shard);
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

/* Lets the disk read the files meanwhile. */
static void ask_for(Arena *arena, const Prepared *p, const WindowPlace *places, size_t first)
{
    size_t end = cut_window(p, places, first);
    for (size_t i = first; i < end; i++) {
        int fd = open(prepared_shard_path(arena, p->folder, places[i].shard), O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED);
        close(fd);
    }
}

Corpus *prepared_window(Diagnostics *diags, const Corpus *whole, uint64_t seed, int64_t epoch,
                        int64_t window)
{
    const Prepared *p = whole->prepared;
    Arena *arena = arena_new();
    WindowPlace *places = order_shards(arena, p, seed, epoch);
    size_t first = 0, end = cut_window(p, places, 0);
    for (int64_t i = 0; i < window && end < p->shards.count; i++) {
        first = end;
        end = cut_window(p, places, first);
    }
    Corpus *rows = corpus_new(whole->vocab, &whole->options);
    qsort(places + first, end - first, sizeof *places, by_shard);
    bool ok = true;
    for (size_t i = first; ok && i < end; i++)
        ok = load_shard(diags, arena, p, places[i].shard, rows);
    if (p->kind == CORPUS_STREAM)
        corpus_close_stream(rows, false);
    if (ok && end < p->shards.count)
        ask_for(arena, p, places, end);
    else if (ok && p->shards.count > 1)
        ask_for(arena, p, order_shards(arena, p, seed, epoch + 1), 0);
    arena_free(arena);
    if (ok)
        return rows;
    corpus_free(rows);
    return NULL;
}

/* ---- the largest batch ---- */

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Of rows of at most `longest` tokens a side in a batch of the budget, where all rows have
 * `all`. */
static int64_t side_total(const BatchOptions *options, int64_t longest, int64_t all)
{
    int64_t total = all;
    if (options->tokens)
        total = smaller(total, larger(options->tokens, longest));
    if (options->sentences && longest < total / options->sentences)
        total = options->sentences * longest;
    return total;
}

/* Of a side: the longest row and the tokens of all rows.
 *   least   tokens that each row has */
typedef struct SideBound {
    int64_t longest, all, least;
} SideBound;

static SideBound bound_of_text(const PreparedSide *side, int64_t specials, int64_t rows)
{
    return side->tokens ? (SideBound){side->longest + specials, side->tokens + specials * rows, 1}
                        : (SideBound){0};
}

static SideBound join_bounds(SideBound a, SideBound b)
{
    return (SideBound){larger(a.longest, b.longest), larger(a.all, b.all),
                       larger(a.least, b.least)};
}

static void bound_columns(const Corpus *whole, SideBound bounds[MOST_SIDES])
{
    for (int c = 0; c < whole->options.n_columns; c++) {
        const ColumnSpec *spec = &whole->options.columns[c];
        const PreparedSide *column = &whole->prepared->columns.data[c];
        if (spec->side >= 0)
            bounds[spec->side] = join_bounds(
                bounds[spec->side], (SideBound){column->longest / spec->width,
                                                column->tokens / spec->width, !spec->is_ctc});
    }
}

static void bound_sides(const Corpus *whole, int64_t rows, SideBound bounds[MOST_SIDES])
{
    enum { SPECIALS = 2 };
    const Prepared *p = whole->prepared;
    const bool stream = p->kind == CORPUS_STREAM, swapped = whole->options.kind == CORPUS_SENTENCES;
    const int64_t specials = stream ? 0 : SPECIALS;
    bool any = false;
    bounds[SIDE_SOURCE] = bound_of_text(swapped ? &p->target : &p->source, specials, rows);
    if (!swapped)
        bounds[SIDE_TARGET] = bound_of_text(&p->target, specials, rows);
    if (bounds[SIDE_TARGET].all)
        bounds[SIDE_TARGET].least = 2; /* a token, and an end or a next one */
    bound_columns(whole, bounds);
    for (int side = 0; side < MOST_SIDES; side++)
        any = any || bounds[side].all;
    if (!any) /* a row is a token */
        bounds[0] = (SideBound){1, rows, 1};
}

/* Pieces of a batch have about as many tokens each. */
static void cut_shape(BatchShape *shape, int64_t shards)
{
    int64_t piece = 0;
    for (int side = 0; side < MOST_SIDES; side++)
        piece += shape->side[side].total;
    piece /= shards;
    for (int side = 0; side < MOST_SIDES; side++)
        piece += shape->side[side].longest;
    for (int side = 0; side < MOST_SIDES; side++)
        shape->side[side].total = smaller(shape->side[side].total, piece);
}

BatchShape prepared_largest(const Corpus *whole, const BatchOptions *options)
{
    enum { SHORTER = 2 /* windows of a stream, the first and the last */ };
    const Prepared *p = whole->prepared;
    const bool stream = p->kind == CORPUS_STREAM;
    const int64_t limit = whole->options.max_length;
    const int64_t rows = stream ? p->target.tokens / limit + SHORTER + 1 : p->rows;
    SideBound bounds[MOST_SIDES] = {0};
    BatchShape shape = {.rows = rows};
    bound_sides(whole, rows, bounds);
    if (stream) /* a window of it may go on from one shard to the next */
        bounds[SIDE_TARGET].longest = smaller(p->target.tokens, limit);
    for (int side = 0; side < MOST_SIDES; side++) {
        const SideBound *bound = &bounds[side];
        SideShape *s = &shape.side[side];
        s->longest = limit ? smaller(bound->longest, limit) : bound->longest;
        s->total = side_total(options, s->longest, bound->all);
        if (stream && side == SIDE_TARGET)
            shape.rows = smaller(shape.rows, s->total / limit + SHORTER + 1);
        else if (bound->least)
            shape.rows = smaller(shape.rows, larger(s->total / bound->least, 1));
    }
    if (options->sentences)
        shape.rows = smaller(shape.rows, options->sentences);
    if (options->shards > 1)
        cut_shape(&shape, options->shards);
    return shape;
}
