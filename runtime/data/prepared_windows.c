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
        tokens += shard->source + shard->target;
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

/* Adds the shard's rows; sides and lengths were checked. False, with an error, at a row that the
 * model cannot be fed. */
static bool add_rows(Diagnostics *diags, const char *path, Corpus *rows, const TokenShard *shard)
{
    bool swapped = rows->options.kind == CORPUS_SENTENCES; /* a text's lines are its sources */
    int64_t source = 0, target = 0;
    if (shard->kind == CORPUS_STREAM) {
        token_shard_ids(shard, &shard->target, 0, shard->target.tokens, &rows->target.ids);
        return true;
    }
    for (int64_t i = 0; i < shard->rows; i++) {
        if (shard->kind == CORPUS_PAIRS) {
            int64_t length = token_shard_length(&shard->source, i);
            token_shard_ids(shard, &shard->source, source, length, &rows->source.ids);
            source += length;
        }
        int64_t length = token_shard_length(&shard->target, i);
        token_shard_ids(shard, &shard->target, target, length,
                        swapped ? &rows->source.ids : &rows->target.ids);
        target += length;
        CorpusRow row = corpus_close_row(rows, i);
        if (row.is_uneven) {
            diag_error(diags, (Loc){0}, "%s: row %" PRId64 ": %s", path, i + 1,
                       corpus_uneven_text(diags->arena, &row));
            return false;
        }
    }
    return true;
}

static bool is_of(const TokenShard *shard, const Prepared *p, const PreparedShard *entry)
{
    return shard->kind == p->kind && shard->id_bytes == p->id_bytes && shard->rows == entry->rows &&
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
    if (ok && !is_of(&shard, p, &p->shards.data[i])) {
        diag_error(diags, (Loc){0}, "%s: it is not the file that prepared.json tells of", path);
        ok = false;
    }
    ok = ok && token_shard_check(diags, &shard, vocab_size(source), vocab_size(target));
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

static int64_t longest_of(const PreparedSide *side, int64_t specials, int64_t limit)
{
    int64_t longest = side->tokens ? side->longest + specials : 0;
    return limit ? smaller(longest, limit) : longest;
}

BatchShape prepared_largest(const Corpus *whole, const BatchOptions *options)
{
    enum { SPECIALS = 2, SHORTER = 2 /* windows of a stream, the first and the last */ };
    const Prepared *p = whole->prepared;
    bool stream = p->kind == CORPUS_STREAM, swapped = whole->options.kind == CORPUS_SENTENCES;
    int64_t limit = whole->options.max_length, specials = stream ? 0 : SPECIALS;
    const PreparedSide none = {0};
    const PreparedSide *source = swapped ? &p->target : &p->source;
    const PreparedSide *target = swapped ? &none : &p->target;
    BatchShape shape = {0};
    SideShape *from = &shape.side[SIDE_SOURCE], *to = &shape.side[SIDE_TARGET];
    from->longest = longest_of(source, specials, limit);
    to->longest = longest_of(target, specials, limit);
    int64_t rows = stream ? p->target.tokens / limit + SHORTER + 1 : p->rows;
    if (stream) /* a window of it may go on from one shard to the next */
        to->longest = smaller(p->target.tokens, limit);
    from->total = side_total(options, from->longest, source->tokens + specials * rows);
    to->total = side_total(options, to->longest, target->tokens + specials * rows);
    int64_t least = target->tokens ? 2 : 1; /* tokens of a row */
    int64_t total = target->tokens ? to->total : from->total;
    shape.rows = smaller(rows, stream ? total / limit + SHORTER + 1 : larger(total / least, 1));
    if (options->sentences)
        shape.rows = smaller(shape.rows, options->sentences);
    if (options->shards > 1) {
        int64_t piece = (from->total + to->total) / options->shards + from->longest + to->longest;
        from->total = smaller(from->total, piece);
        to->total = smaller(to->total, piece);
    }
    return shape;
}
