/* Ordering rows and cutting them into batches. */
#include "runtime/data/batch_items.h"

#include "base/arena.h"
#include "base/map.h"
#include "runtime/data/draws.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum { POOL_BATCHES = 100, DEFAULT_WINDOW = 1024 };

/* ---- items ---- */

static void shuffle_items(BatchItem *items, int64_t n, uint64_t *state)
{
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = draws_below(state, i + 1);
        BatchItem item = items[i];
        items[i] = items[j];
        items[j] = item;
    }
}

static void make_items(Batches *b, int64_t n)
{
    if (b->room >= n && b->items)
        return;
    b->room = n;
    b->items = memory_resized(b->items, (size_t)n * sizeof(BatchItem));
}

static void add_item(Batches *b, int64_t row, int64_t use)
{
    const Corpus *corpus = b->corpus;
    BatchItem *item = &b->items[b->n_items];
    *item = (BatchItem){.row = row,
                        .source = (int32_t)corpus_side_length(corpus, row, SIDE_SOURCE),
                        .target = (int32_t)corpus_side_length(corpus, row, SIDE_TARGET),
                        .order = b->n_items++,
                        .use = use};
}

/* Tokens of the longest further side. */
static int64_t further_tokens(const Batches *b, const BatchItem *item)
{
    int64_t longest = 0;
    for (int side = SIDE_TARGET + 1; side <= b->last_side; side++) {
        const int64_t length = corpus_side_length(b->corpus, item->row, side);
        longest = length > longest ? length : longest;
    }
    return longest;
}

static int64_t part_rows(const Corpus *corpus, int part)
{
    return draws_wanted(corpus->parts[part].weight, corpus->own);
}

/* What an epoch has of a part: so many rows from where the last one ended. */
static void list_part(Batches *b, int part, int64_t epoch)
{
    const CorpusPart *p = &b->corpus->parts[part];
    int64_t wanted = part_rows(b->corpus, part), round = -1;
    int64_t *order = memory_resized(NULL, (size_t)p->n * sizeof *order);
    for (int64_t i = 0; i < wanted; i++) {
        int64_t at = epoch * wanted + i;
        if (at / p->n != round)
            draws_order(b->options.seed, part, round = at / p->n, 0, p->n, b->options.shuffle,
                        order);
        add_item(b, p->first + order[at % p->n], round);
    }
    free(order);
}

static void list_rows(Batches *b, int64_t epoch)
{
    const Corpus *corpus = b->corpus;
    int64_t n = corpus->own + corpus->n_draws;
    for (int p = 0; p < corpus->n_parts; p++)
        n += part_rows(corpus, p);
    make_items(b, n);
    for (int64_t i = 0; i < corpus->own; i++)
        add_item(b, i, epoch);
    for (int p = 0; p < corpus->n_parts; p++)
        list_part(b, p, epoch);
    for (int64_t i = 0; i < corpus->n_draws; i++)
        add_item(b, corpus->draws[i].row, corpus->draws[i].use);
}

/* Windows of `size` tokens that have a next one; the first is shorter where the
 * windows are shifted, the last where the stream ends. */
static void list_windows(Batches *b, uint64_t *state)
{
    int64_t size = b->corpus->options.max_length, usable = (int64_t)b->corpus->target.ids.count - 1;
    if (size <= 0)
        size = DEFAULT_WINDOW;
    int64_t end = b->options.shuffle ? draws_below(state, size) : 0;
    make_items(b, usable / size + 2);
    for (int64_t begin = 0; begin < usable; begin = end, end += size) {
        if (end > usable)
            end = usable;
        if (end > begin) {
            b->items[b->n_items] =
                (BatchItem){.row = begin, .target = (int32_t)(end - begin), .order = b->n_items};
            b->n_items++;
        }
    }
}

/* ---- cutting ---- */

/* How many items behind one that has a text in common with its batch may take its place. */
enum { LOOKED_AHEAD = 256 };

/* Whether item i has no text in common with those of the batch before it; one that has changes
 * places with the next that has none. */
static bool make_distinct(const Batches *b, int64_t i, int64_t end)
{
    if (!b->distinct || distinct_add(b->distinct, b->items[i].row))
        return true;
    for (int64_t j = i + 1; j < end && j <= i + LOOKED_AHEAD; j++)
        if (distinct_add(b->distinct, b->items[j].row)) {
            const BatchItem item = b->items[i];
            b->items[i] = b->items[j];
            b->items[j] = item;
            return true;
        }
    return false;
}

/* The end of the batch that starts at `first`. */
static int64_t cut_batch(Batches *b, int64_t first, int64_t end)
{
    int64_t source = 0, target = 0, further = 0, i = first, most = b->options.tokens;
    if (b->distinct)
        distinct_begin(b->distinct);
    for (; i < end; i++) {
        if (!make_distinct(b, i, end)) {
            b->n_early++;
            break;
        }
        source += b->items[i].source;
        target += b->items[i].target;
        further += further_tokens(b, &b->items[i]);
        bool full = (most > 0 && (source > most || target > most || further > most)) ||
                    (b->options.sentences > 0 && i - first >= b->options.sentences);
        if (full && i > first)
            break;
    }
    return i;
}

/* The end of the pool that starts at `first`: about POOL_BATCHES batches. */
static int64_t cut_pool(Batches *b, int64_t first)
{
    int64_t end = first;
    for (int batch = 0; batch < POOL_BATCHES && end < b->n_items; batch++)
        end = cut_batch(b, end, b->n_items);
    return end;
}

static void sort_pool(Batches *b, int64_t first, int64_t end)
{
    if (b->spare_room < end - first) {
        b->spare_room = end - first;
        b->spare = memory_resized(b->spare, (size_t)b->spare_room * sizeof(BatchItem));
    }
    batch_items_sort(b->items + first, end - first, b->spare);
}

static void cut_all(Batches *b)
{
    b->first = memory_resized(NULL, (size_t)b->n_items * sizeof(int64_t));
    b->last = memory_resized(NULL, (size_t)b->n_items * sizeof(int64_t));
    for (int64_t pool = 0, end; pool < b->n_items; pool = end) {
        end = b->options.shuffle ? cut_pool(b, pool) : b->n_items;
        sort_pool(b, pool, end);
        for (int64_t i = pool; i < end; b->n++) {
            b->first[b->n] = i;
            i = b->last[b->n] = cut_batch(b, i, end);
        }
    }
}

static void shuffle_batches(Batches *b, uint64_t *state)
{
    for (int64_t i = b->n - 1; i > 0; i--) {
        int64_t j = draws_below(state, i + 1);
        int64_t first = b->first[i], last = b->last[i];
        b->first[i] = b->first[j];
        b->last[i] = b->last[j];
        b->first[j] = first;
        b->last[j] = last;
    }
}

static int64_t item_tokens(const Batches *b, const BatchItem *item)
{
    return (int64_t)item->source + item->target + further_tokens(b, item);
}

/* Where the pieces of a batch begin: a row belongs to the piece that the middle of it lies in. */
static void cut_shards(const Batches *b, int64_t first, int64_t last, int64_t shards,
                       int64_t *begin)
{
    int64_t total = 0, before = 0, shard = 0;
    for (int64_t i = first; i < last; i++)
        total += item_tokens(b, &b->items[i]);
    begin[0] = first;
    for (int64_t i = first; i < last; i++) {
        int64_t tokens = item_tokens(b, &b->items[i]);
        double middle = (double)before + 0.5 * (double)tokens;
        while (shard + 1 < shards && middle * (double)shards >= (double)total * (double)(shard + 1))
            begin[++shard] = i;
        before += tokens;
    }
    while (++shard < shards)
        begin[shard] = last;
}

/* Pieces in the place of batches. */
static void cut_into_shards(Batches *b)
{
    int64_t shards = b->options.shards;
    int64_t *first = memory_resized(NULL, (size_t)(b->n * shards) * sizeof(int64_t));
    int64_t *last = memory_resized(NULL, (size_t)(b->n * shards) * sizeof(int64_t));
    for (int64_t i = 0; i < b->n; i++) {
        cut_shards(b, b->first[i], b->last[i], shards, first + i * shards);
        for (int64_t k = 0; k < shards; k++)
            last[i * shards + k] = k + 1 < shards ? first[i * shards + k + 1] : b->last[i];
    }
    free(b->first);
    free(b->last);
    b->first = first;
    b->last = last;
    b->n *= shards;
}

static void open_hiding(Batches *b)
{
    const Corpus *corpus = b->corpus;
    for (int c = 0; c < corpus->options.n_columns && b->options.hides; c++) {
        const ColumnSpec *spec = &corpus->options.columns[c];
        if (spec->hide.rate > 0)
            b->hiding[c] = hiding_new(spec, column_vocab(spec, corpus->vocab), b->options.seed);
    }
}

/* Frees all but the items' memory. */
static void empty_batches(Batches *b)
{
    distinct_free(b->distinct);
    for (int c = 0; c < MOST_COLUMNS; c++)
        hiding_free(b->hiding[c]);
    free(b->first);
    free(b->last);
}

Batches *batches_renew(Batches *batches, const Corpus *corpus, const BatchOptions *options,
                       int64_t epoch)
{
    Batches *b = batches ? batches : memory_zeroed(1, sizeof *b);
    empty_batches(b);
    *b = (Batches){.corpus = corpus,
                   .options = *options,
                   .last_side = corpus_last_side(corpus),
                   .items = b->items,
                   .room = b->room,
                   .spare = b->spare,
                   .spare_room = b->spare_room};
    uint64_t state = hash_u64(hash_u64(HASH_SEED, options->seed), (uint64_t)epoch);
    if (options->distinct && corpus->options.kind != CORPUS_STREAM)
        b->distinct = distinct_new(corpus);
    open_hiding(b);
    if (corpus->options.kind == CORPUS_STREAM)
        list_windows(b, &state);
    else
        list_rows(b, epoch);
    if (options->shuffle) {
        shuffle_items(b->items, b->n_items, &state);
        for (int64_t i = 0; i < b->n_items; i++)
            b->items[i].order = i;
    }
    cut_all(b);
    if (options->shuffle)
        shuffle_batches(b, &state);
    if (options->shards > 1)
        cut_into_shards(b);
    return b;
}

Batches *batches_new(const Corpus *corpus, const BatchOptions *options, int64_t epoch)
{
    return batches_renew(NULL, corpus, options, epoch);
}

void batches_free(Batches *batches)
{
    if (!batches)
        return;
    empty_batches(batches);
    free(batches->items);
    free(batches->spare);
    free(batches);
}

int64_t batches_early(const Batches *batches) { return batches->n_early; }

int64_t batches_count(const Batches *batches) { return batches->n; }

int64_t batches_length(const Batches *b, const BatchItem *item, int side)
{
    return side == SIDE_SOURCE   ? item->source
           : side == SIDE_TARGET ? item->target
                                 : corpus_side_length(b->corpus, item->row, side);
}

BatchShape batches_shape(const Batches *batches, int64_t i)
{
    assert(i >= 0 && i < batches->n);
    BatchShape shape = {.rows = batches->last[i] - batches->first[i]};
    for (int64_t j = batches->first[i]; j < batches->last[i]; j++)
        for (int side = 0; side <= batches->last_side; side++) {
            const int64_t length = batches_length(batches, &batches->items[j], side);
            SideShape *s = &shape.side[side];
            s->total += length;
            s->longest = length > s->longest ? length : s->longest;
        }
    return shape;
}

static bool exceeds(const BatchShape *a, const BatchShape *b, int last_side)
{
    bool ok = a->rows >= b->rows;
    for (int side = 0; side <= last_side && ok; side++)
        ok = a->side[side].total >= b->side[side].total &&
             a->side[side].longest >= b->side[side].longest;
    return ok;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static BatchShape join_shapes(const BatchShape *a, const BatchShape *b)
{
    BatchShape joined = {.rows = larger(a->rows, b->rows)};
    for (int side = 0; side < MOST_SIDES; side++)
        joined.side[side] = (SideShape){larger(a->side[side].total, b->side[side].total),
                                        larger(a->side[side].longest, b->side[side].longest)};
    return joined;
}

int64_t batches_largest(const Batches *batches, BatchShape *shapes, int64_t room)
{
    const int last = batches->last_side;
    BatchShape *kept = NULL;
    int64_t n = 0, kept_room = 0;
    for (int64_t i = 0; i < batches->n; i++) {
        BatchShape shape = batches_shape(batches, i);
        bool covered = false;
        for (int64_t j = 0; j < n && !covered; j++)
            covered = exceeds(&kept[j], &shape, last);
        if (covered)
            continue;
        int64_t left = 0;
        for (int64_t j = 0; j < n; j++)
            if (!exceeds(&shape, &kept[j], last))
                kept[left++] = kept[j];
        if (left == kept_room) {
            kept_room = 2 * kept_room + 16;
            kept = memory_resized(kept, (size_t)kept_room * sizeof *kept);
        }
        kept[left++] = shape;
        n = left;
    }
    for (int64_t i = 0; i < n; i++) {
        if (i < room)
            shapes[i] = kept[i];
        else if (room > 0)
            shapes[room - 1] = join_shapes(&shapes[room - 1], &kept[i]);
    }
    free(kept);
    return n;
}
