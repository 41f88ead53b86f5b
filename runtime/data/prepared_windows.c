/* The order of an epoch of prepared data: which shards its windows have, and their rows. */
#define _GNU_SOURCE
#include "runtime/data/prepared_rows.h"

#include "base/map.h"
#include "runtime/data/draws.h"

#include <fcntl.h>
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

/* WindowShare: rows and tokens that are mixed in beside each row of a window. */
typedef struct WindowShare {
    double rows, tokens;
} WindowShare;

/* The end of the window that begins with places[first]. */
static size_t cut_window(const Prepared *p, WindowShare beside, const WindowPlace *places,
                         size_t first)
{
    double rows = 0, tokens = 0;
    const double most = (double)p->window_rows;
    size_t i = first;
    for (; i < p->shards.count; i++) {
        const PreparedShard *shard = &p->shards.data[places[i].shard];
        rows += (double)shard->rows * (1 + beside.rows);
        tokens += (double)(shard->source + shard->target + shard->values) +
                  (double)shard->rows * beside.tokens;
        if (i > first && (rows > most || tokens > WINDOW_TOKENS * most))
            break;
    }
    return i;
}

/* ---- what is mixed in ---- */

/* PartRows: the rows of a part that a window draws.
 *   seed     of the order of the part's shards
 *   base     number of the part's first row
 *   stored   of each row of the current block: where it is in `rows` (prepared_rows.h) */
typedef struct PartRows {
    const PreparedPart *part;
    int index;
    uint64_t seed, part_seed;
    int64_t base;
    Corpus *rows;
    int64_t *stored;
} PartRows;

/* PartBlock: rows of a part that are drawn in one order; of prepared data a window of it.
 *   begin, rows   where it begins in its round, and how many there are
 *   first, end    its places, of prepared data */
typedef struct PartBlock {
    int64_t number, begin, rows;
    WindowPlace *places;
    size_t first, end;
} PartBlock;

static int64_t rows_of_part(const PreparedPart *part)
{
    return part->prepared ? part->prepared->rows : part->rows->n;
}

static int64_t tokens_of_part(const PreparedPart *part)
{
    const Prepared *p = part->prepared;
    int64_t n = p ? p->source.tokens + p->target.tokens : 0;
    for (size_t c = 0; p && c < p->columns.count; c++)
        n += p->columns.data[c].tokens;
    for (int k = 0; !p && k < corpus_values(&part->rows->options); k++)
        n += (int64_t)part->rows->values[k].ids.count;
    return n;
}

static WindowShare share_of_parts(const Corpus *whole)
{
    WindowShare share = {0};
    for (int k = 0; k < whole->n_mixed; k++) {
        const PreparedPart *part = &whole->mixed[k];
        share.rows += part->weight;
        share.tokens += part->weight * (double)tokens_of_part(part) / (double)rows_of_part(part);
    }
    return share;
}

/* The block of a round that has its row `at`. */
static PartBlock find_block(Arena *arena, const PartRows *d, int64_t round, int64_t at)
{
    const Prepared *p = d->part->prepared;
    PartBlock block = {.rows = p ? 0 : rows_of_part(d->part), .number = p ? -1 : 0};
    if (p)
        block.places = order_shards(arena, p, d->part_seed, round);
    while (p && at >= block.begin + block.rows) {
        block.number++;
        block.begin += block.rows;
        block.first = block.end;
        block.end = cut_window(p, (WindowShare){0}, block.places, block.first);
        block.rows = 0;
        for (size_t i = block.first; i < block.end; i++)
            block.rows += p->shards.data[block.places[i].shard].rows;
    }
    return block;
}

/* Adds a row of another corpus with the same options. */
static int64_t copy_row(Corpus *to, const Corpus *from, int64_t row)
{
    for (int k = 0; k < corpus_values(&from->options); k++) {
        const Rows *rows = &from->values[k];
        for (int64_t i = 0; i < rows_length(rows, row); i++)
            ids_push(&to->values[k].ids, rows->ids.data[rows->start[row] + i]);
    }
    return corpus_close_row(to, row).is_kept ? to->n - 1 : ROW_LEFT_OUT;
}

/* Stores the rows of a block that are wanted, in the order of the text. */
static bool store_wanted(Diagnostics *diags, Arena *arena, const PartRows *d, PartBlock *block)
{
    const PreparedPart *part = d->part;
    Corpus *rows = d->rows;
    const int64_t own = rows->own;
    bool ok = true;
    if (part->prepared)
        qsort(block->places + block->first, block->end - block->first, sizeof *block->places,
              by_shard);
    int64_t at = 0;
    for (size_t i = block->first; ok && i < block->end; i++) {
        const int64_t shard = block->places[i].shard;
        ok = prepared_load_shard(diags, arena, part->prepared, shard, rows, d->stored + at);
        at += part->prepared->shards.data[shard].rows;
    }
    for (int64_t i = 0; !part->prepared && i < block->rows; i++)
        if (d->stored[i] == ROW_WANTED)
            d->stored[i] = copy_row(rows, part->rows, i);
    rows->own = own;
    rows->numbers =
        memory_resized(rows->numbers, (size_t)(rows->n - own + 1) * sizeof *rows->numbers);
    for (int64_t i = 0; i < block->rows; i++)
        if (d->stored[i] >= 0)
            rows->numbers[d->stored[i] - own] = d->base + i;
    return ok;
}

/* Draws n rows of a block, from `first` on in its order of this round. */
static bool draw_block(Diagnostics *diags, Arena *arena, PartRows *d, int64_t round,
                       PartBlock *block, int64_t first, int64_t n)
{
    Corpus *rows = d->rows;
    int64_t *order = memory_resized(NULL, (size_t)block->rows * sizeof *order);
    const bool is_all = block->rows == rows_of_part(d->part); /* as it was the round before */
    if (!d->stored || !is_all) {
        d->stored = memory_resized(d->stored, (size_t)block->rows * sizeof *d->stored);
        for (int64_t i = 0; i < block->rows; i++)
            d->stored[i] = ROW_NOT_READ;
    }
    draws_order(d->seed, d->index, round, block->number, block->rows, true, order);
    bool any = false;
    for (int64_t i = first; i < first + n; i++)
        if (d->stored[order[i]] == ROW_NOT_READ) {
            d->stored[order[i]] = ROW_WANTED;
            any = true;
        }
    const bool ok = !any || store_wanted(diags, arena, d, block);
    for (int64_t i = first; ok && i < first + n; i++)
        if (d->stored[order[i]] >= 0)
            rows->draws[rows->n_draws++] =
                (CorpusDraw){d->stored[order[i]], round | block->number << 32};
    free(order);
    return ok;
}

/* Draws n rows of a part, from the one at place `at` of all its rounds. */
static bool draw_part(Diagnostics *diags, PartRows *d, int64_t at, int64_t n)
{
    const int64_t all = rows_of_part(d->part);
    bool ok = true;
    d->rows->draws =
        memory_resized(d->rows->draws, (size_t)(d->rows->n_draws + n + 1) * sizeof *d->rows->draws);
    while (ok && n > 0) {
        Arena *arena = arena_new();
        const int64_t round = at / all, place = at % all;
        PartBlock block = find_block(arena, d, round, place);
        const int64_t left = block.begin + block.rows - place, taken = n < left ? n : left;
        ok = draw_block(diags, arena, d, round, &block, place - block.begin, taken);
        at += taken;
        n -= taken;
        arena_free(arena);
    }
    return ok;
}

/* Adds to a window what it has of each part. `before`, `n`: rows of the main data in the epoch
 * before the window, and in it. */
static bool draw_parts(Diagnostics *diags, const Corpus *whole, uint64_t seed, int64_t epoch,
                       int64_t before, int64_t n, Corpus *rows)
{
    int64_t base = whole->prepared->rows;
    bool ok = true;
    for (int k = 0; ok && k < whole->n_mixed; k++) {
        const PreparedPart *part = &whole->mixed[k];
        PartRows d = {.part = part,
                      .index = k,
                      .seed = seed,
                      .part_seed = hash_u64(hash_u64(HASH_SEED, seed), (uint64_t)k),
                      .base = base,
                      .rows = rows};
        const int64_t first = draws_wanted(part->weight, before),
                      end = draws_wanted(part->weight, before + n);
        ok = draw_part(diags, &d, epoch * draws_wanted(part->weight, whole->prepared->rows) + first,
                       end - first);
        free(d.stored);
        base += rows_of_part(part);
    }
    return ok;
}

/* ---- a window ---- */

int64_t prepared_windows(const Corpus *whole, uint64_t seed, int64_t epoch)
{
    const Prepared *p = whole->prepared;
    const WindowShare beside = share_of_parts(whole);
    Arena *arena = arena_new();
    const WindowPlace *places = order_shards(arena, p, seed, epoch);
    int64_t n = 0;
    for (size_t i = 0; i < p->shards.count; n++)
        i = cut_window(p, beside, places, i);
    arena_free(arena);
    return n;
}

/* Lets the disk read the files meanwhile. */
static void ask_for(Arena *arena, const Prepared *p, WindowShare beside, const WindowPlace *places,
                    size_t first)
{
    size_t end = cut_window(p, beside, places, first);
    Diagnostics unseen;
    diag_init(&unseen, arena);
    for (size_t i = first; i < end; i++) {
        const char *path = prepared_shard_path(arena, p->folder, places[i].shard);
        uint64_t size;
        int fd = file_open_regular(&unseen, path, &size);
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
    const WindowShare beside = share_of_parts(whole);
    Arena *arena = arena_new();
    WindowPlace *places = order_shards(arena, p, seed, epoch);
    int64_t before = 0, n = 0;
    size_t first = 0, end = cut_window(p, beside, places, 0);
    for (int64_t i = 0; i < window && end < p->shards.count; i++) {
        for (; first < end; first++)
            before += p->shards.data[places[first].shard].rows;
        end = cut_window(p, beside, places, first);
    }
    Corpus *rows = corpus_new(whole->vocab, &whole->options);
    qsort(places + first, end - first, sizeof *places, by_shard);
    bool ok = true;
    for (size_t i = first; ok && i < end; i++) {
        n += p->shards.data[places[i].shard].rows;
        ok = prepared_load_shard(diags, arena, p, places[i].shard, rows, NULL);
    }
    if (p->kind == CORPUS_STREAM)
        corpus_close_stream(rows, false);
    ok = ok && draw_parts(diags, whole, seed, epoch, before, n, rows);
    if (ok && end < p->shards.count)
        ask_for(arena, p, beside, places, end);
    else if (ok && p->shards.count > 1)
        ask_for(arena, p, beside, order_shards(arena, p, seed, epoch + 1), 0);
    arena_free(arena);
    if (ok)
        return rows;
    corpus_free(rows);
    return NULL;
}
