/* Ordering rows, cutting them into batches, and filling batches with tokens. */
#include "runtime/data/batch.h"

#include "base/arena.h"
#include "base/map.h"
#include "runtime/data/distinct.h"
#include "runtime/data/hiding.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum { POOL_BATCHES = 100, DEFAULT_WINDOW = 1024 };

typedef struct Item {
    int64_t row;            /* corpus row, or the window's first token */
    int32_t source, target; /* tokens */
    int64_t order;          /* place after shuffling: breaks ties */
    int64_t use;            /* how often the row was used before */
} Item;

struct Batches {
    const Corpus *corpus;
    BatchOptions options;
    DistinctRows *distinct;       /* NULL: rows of a batch may have texts in common */
    int64_t n_early;              /* batches that ended where no row was distinct */
    Hiding *hiding[MOST_COLUMNS]; /* of columns that hide tokens, if the options say so */
    int last_side;
    int64_t n_items, n;
    Item *items;
    int64_t *first, *last; /* batch i holds items [first[i], last[i]) */
};

/* ---- random numbers: splitmix64 (Steele et al. 2014) ---- */

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void shuffle_items(Item *items, int64_t n, uint64_t *state)
{
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = (int64_t)(next_random(state) % (uint64_t)(i + 1));
        Item item = items[i];
        items[i] = items[j];
        items[j] = item;
    }
}

/* ---- items ---- */

/* The sides behind source and target that the corpus has. */
static int last_side(const Corpus *corpus)
{
    int last = SIDE_TARGET;
    for (int c = 0; c < corpus->options.n_columns; c++)
        if (corpus->options.columns[c].side > last)
            last = corpus->options.columns[c].side;
    return last;
}

static void add_item(Batches *b, int64_t row, int64_t use)
{
    const Corpus *corpus = b->corpus;
    Item *item = &b->items[b->n_items];
    *item = (Item){.row = row,
                   .source = (int32_t)corpus_side_length(corpus, row, SIDE_SOURCE),
                   .target = (int32_t)corpus_side_length(corpus, row, SIDE_TARGET),
                   .order = b->n_items++,
                   .use = use};
}

/* Tokens of the longest further side. */
static int64_t further_tokens(const Batches *b, const Item *item)
{
    int64_t longest = 0;
    for (int side = SIDE_TARGET + 1; side <= b->last_side; side++) {
        const int64_t length = corpus_side_length(b->corpus, item->row, side);
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* The part's rows in the order of a round: all of them once. */
static void order_part(const Batches *b, int part, int64_t round, Item *order)
{
    const CorpusPart *p = &b->corpus->parts[part];
    uint64_t state =
        hash_u64(hash_u64(hash_u64(HASH_SEED, b->options.seed), (uint64_t)part), (uint64_t)round);
    for (int64_t i = 0; i < p->n; i++)
        order[i] = (Item){.row = p->first + i};
    if (b->options.shuffle)
        shuffle_items(order, p->n, &state);
}

static int64_t part_rows(const Corpus *corpus, int part)
{
    return (int64_t)(corpus->parts[part].weight * (double)corpus->own + 0.5);
}

/* What an epoch has of a part: so many rows from where the last one ended. */
static void list_part(Batches *b, int part, int64_t epoch)
{
    int64_t n = b->corpus->parts[part].n, wanted = part_rows(b->corpus, part), round = -1;
    Item *order = memory_resized(NULL, (size_t)n * sizeof(Item));
    for (int64_t i = 0; i < wanted; i++) {
        int64_t at = epoch * wanted + i;
        if (at / n != round)
            order_part(b, part, round = at / n, order);
        add_item(b, order[at % n].row, round);
    }
    free(order);
}

static void list_rows(Batches *b, int64_t epoch)
{
    const Corpus *corpus = b->corpus;
    int64_t n = corpus->own;
    for (int p = 0; p < corpus->n_parts; p++)
        n += part_rows(corpus, p);
    b->items = memory_resized(NULL, (size_t)n * sizeof(Item));
    for (int64_t i = 0; i < corpus->own; i++)
        add_item(b, i, epoch);
    for (int p = 0; p < corpus->n_parts; p++)
        list_part(b, p, epoch);
}

/* Windows of `size` tokens that have a next one; the first is shorter where the
 * windows are shifted, the last where the stream ends. */
static void list_windows(Batches *b, uint64_t *state)
{
    int64_t size = b->corpus->options.max_length, usable = (int64_t)b->corpus->target.ids.count - 1;
    if (size <= 0)
        size = DEFAULT_WINDOW;
    int64_t end = b->options.shuffle ? (int64_t)(next_random(state) % (uint64_t)size) : 0;
    b->items = memory_resized(NULL, (size_t)(usable / size + 2) * sizeof(Item));
    for (int64_t begin = 0; begin < usable; begin = end, end += size) {
        if (end > usable)
            end = usable;
        if (end > begin)
            b->items[b->n_items++] =
                (Item){.row = begin, .target = (int32_t)(end - begin), .order = b->n_items};
    }
}

/* By target, then source: up for even targets and down for odd ones, so that a batch
 * across two target lengths does not hold the longest sources and the shortest. */
static int by_length(const void *a, const void *b)
{
    const Item *x = a, *y = b;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    if (x->source != y->source)
        return (x->source < y->source) == (x->target % 2 == 0) ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
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
            const Item item = b->items[i];
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

static void cut_all(Batches *b)
{
    b->first = memory_resized(NULL, (size_t)b->n_items * sizeof(int64_t));
    b->last = memory_resized(NULL, (size_t)b->n_items * sizeof(int64_t));
    for (int64_t pool = 0, end; pool < b->n_items; pool = end) {
        end = b->options.shuffle ? cut_pool(b, pool) : b->n_items;
        qsort(b->items + pool, (size_t)(end - pool), sizeof(Item), by_length);
        for (int64_t i = pool; i < end; b->n++) {
            b->first[b->n] = i;
            i = b->last[b->n] = cut_batch(b, i, end);
        }
    }
}

static void shuffle_batches(Batches *b, uint64_t *state)
{
    for (int64_t i = b->n - 1; i > 0; i--) {
        int64_t j = (int64_t)(next_random(state) % (uint64_t)(i + 1));
        int64_t first = b->first[i], last = b->last[i];
        b->first[i] = b->first[j];
        b->last[i] = b->last[j];
        b->first[j] = first;
        b->last[j] = last;
    }
}

static int64_t item_tokens(const Batches *b, const Item *item)
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

Batches *batches_new(const Corpus *corpus, const BatchOptions *options, int64_t epoch)
{
    Batches *b = memory_resized(NULL, sizeof *b);
    *b = (Batches){.corpus = corpus, .options = *options, .last_side = last_side(corpus)};
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

void batches_free(Batches *batches)
{
    if (!batches)
        return;
    distinct_free(batches->distinct);
    for (int c = 0; c < MOST_COLUMNS; c++)
        hiding_free(batches->hiding[c]);
    free(batches->items);
    free(batches->first);
    free(batches->last);
    free(batches);
}

int64_t batches_early(const Batches *batches) { return batches->n_early; }

int64_t batches_count(const Batches *batches) { return batches->n; }

static int64_t item_length(const Batches *b, const Item *item, int side)
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
            const int64_t length = item_length(batches, &batches->items[j], side);
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

/* ---- filling ---- */

static int32_t *resized_ids(int32_t *ids, int64_t n)
{
    return memory_resized(ids, (size_t)(n ? n : 1) * sizeof *ids);
}

/* For the columns' values, too, which are `values` of each. */
static void make_room(Batch *batch, const Corpus *corpus, const int64_t *values)
{
    const BatchShape *s = &batch->shape;
    const bool has_texts = corpus->options.kind != CORPUS_RECORDS;
    const int64_t source = has_texts ? s->side[SIDE_SOURCE].total : 0;
    const int64_t target = has_texts ? s->side[SIDE_TARGET].total : 0;
    const int n = corpus->options.n_columns;
    if (batch->room_rows < s->rows) {
        batch->room_rows = s->rows;
        for (int side = 0; side < MOST_SIDES; side++)
            batch->lengths[side] = resized_ids(batch->lengths[side], s->rows);
        batch->row = memory_resized(batch->row, (size_t)s->rows * sizeof(int64_t));
    }
    if (batch->room_source < source) {
        batch->room_source = source;
        batch->source = resized_ids(batch->source, source);
    }
    if (batch->room_target < target) {
        batch->room_target = target;
        batch->target = resized_ids(batch->target, target);
        batch->target_next = resized_ids(batch->target_next, target);
        batch->target_further = resized_ids(batch->target_further, target);
    }
    if (n && !batch->columns) {
        batch->n_columns = n;
        batch->columns = memory_zeroed((size_t)n, sizeof *batch->columns);
        batch->hidden = memory_zeroed((size_t)n, sizeof *batch->hidden);
        batch->room_columns = memory_zeroed((size_t)n, sizeof *batch->room_columns);
    }
    for (int c = 0; c < n; c++)
        if (!batch->columns[c] || batch->room_columns[c] < values[c]) {
            batch->room_columns[c] = values[c];
            batch->columns[c] = resized_ids(batch->columns[c], values[c]);
            if (corpus->options.columns[c].hide.rate > 0)
                batch->hidden[c] = resized_ids(batch->hidden[c], values[c]);
        }
}

/* [before] the first n ids [after], where the brackets are ids or -1 for none; returns the end. */
static int32_t *put_row(int32_t *out, const Rows *rows, int64_t i, int64_t n, int32_t before,
                        int32_t after)
{
    if (before >= 0)
        *out++ = before;
    if (n)
        memcpy(out, rows->ids.data + rows->start[i], (size_t)n * sizeof *out);
    out += n;
    if (after >= 0)
        *out++ = after;
    return out;
}

static void fill_windows(const Batches *b, const Item *items, Batch *batch)
{
    const int32_t *stream = b->corpus->target.ids.data;
    int64_t at = 0;
    for (int64_t i = 0; i < batch->shape.rows; i++) {
        size_t bytes = (size_t)items[i].target * sizeof(int32_t);
        memcpy(batch->target + at, stream + items[i].row, bytes);
        memcpy(batch->target_next + at, stream + items[i].row + 1, bytes);
        at += items[i].target;
    }
}

/* A target moved by one: what is fed, and what it predicts. Of one that predicts nothing its first
 * token, without a label. */
static void put_target(const Corpus *corpus, int64_t row, int64_t length, int32_t *target,
                       int32_t *next)
{
    SourceFrame frame = corpus_target_frame(corpus);
    const int32_t *ids = corpus->target.ids.data + corpus->target.start[row];
    int64_t from, n = rows_length(&corpus->target, row);
    if (!corpus_predicted(corpus, row, &from)) {
        *target = frame.before >= 0 ? frame.before
                  : n               ? *ids
                                    : vocab_rules(corpus->vocab)->text.start;
        *next = -1;
        return;
    }
    for (int64_t i = 0; i < length; i++) {
        int64_t at = i + from; /* of the token that is predicted */
        target[i] = at ? ids[at - 1] : frame.before;
        next[i] = at < n ? ids[at] : frame.after;
    }
}

static void fill_rows(const Batches *b, const Item *items, Batch *batch)
{
    const Corpus *corpus = b->corpus;
    int32_t *source = batch->source, *target = batch->target, *next = batch->target_next;
    for (int64_t i = 0; i < batch->shape.rows; i++) {
        int64_t row = items[i].row;
        if (items[i].source) {
            SourceFrame frame = corpus_source_frame(corpus, row);
            source = put_row(source, &corpus->source, row, rows_length(&corpus->source, row),
                             frame.before, frame.after);
        }
        if (items[i].target)
            put_target(corpus, row, items[i].target, target, next);
        target += items[i].target;
        next += items[i].target;
    }
}

static void fill_further(Batch *batch)
{
    for (int64_t i = 0, at = 0; i < batch->shape.rows; at += batch->lengths[SIDE_TARGET][i++])
        for (int32_t t = 0; t < batch->lengths[SIDE_TARGET][i]; t++)
            batch->target_further[at + t] =
                t + 1 < batch->lengths[SIDE_TARGET][i] ? batch->target_next[at + t + 1] : -1;
}

/* How many values each column has in the items. */
static void count_values(const Corpus *corpus, const Item *items, int64_t rows, int64_t *values)
{
    for (int c = 0; c < corpus->options.n_columns; c++) {
        values[c] = 0;
        for (int64_t i = 0; i < rows; i++)
            values[c] += rows_length(&corpus->columns[c], items[i].row);
    }
}

/* Hides tokens of a column's rows that are in the batch; without `hiding` none. */
static void hide_tokens(const Hiding *hiding, const Rows *rows, const Item *items, Batch *batch,
                        int column)
{
    int32_t *ids = batch->columns[column], *labels = batch->hidden[column];
    for (int64_t i = 0; i < batch->shape.rows; i++) {
        const int64_t n = rows_length(rows, items[i].row);
        if (hiding)
            hiding_row(hiding, items[i].row, items[i].use, ids, n, labels);
        else
            memset(labels, -1, (size_t)n * sizeof *labels);
        ids += n;
        labels += n;
    }
}

static void fill_columns(const Batches *b, const Item *items, Batch *batch)
{
    const Corpus *corpus = b->corpus;
    for (int c = 0; c < corpus->options.n_columns; c++) {
        const Rows *rows = &corpus->columns[c];
        int32_t *out = batch->columns[c];
        for (int64_t i = 0; i < batch->shape.rows; i++)
            out = put_row(out, rows, items[i].row, rows_length(rows, items[i].row), -1, -1);
        if (batch->hidden[c])
            hide_tokens(b->hiding[c], rows, items, batch, c);
    }
}

void batches_fill(const Batches *batches, int64_t i, Batch *batch)
{
    const Corpus *corpus = batches->corpus;
    const Item *items = batches->items + batches->first[i];
    int64_t values[MOST_COLUMNS];
    batch->shape = batches_shape(batches, i);
    count_values(corpus, items, batch->shape.rows, values);
    make_room(batch, corpus, values);
    for (int64_t j = 0; j < batch->shape.rows; j++) {
        batch->row[j] = items[j].row;
        for (int side = 0; side <= batches->last_side; side++)
            batch->lengths[side][j] = (int32_t)item_length(batches, &items[j], side);
    }
    fill_columns(batches, items, batch);
    if (corpus->options.kind == CORPUS_RECORDS)
        return;
    if (corpus->options.kind == CORPUS_STREAM)
        fill_windows(batches, items, batch);
    else
        fill_rows(batches, items, batch);
    fill_further(batch);
}

void batch_free(Batch *batch)
{
    free(batch->source);
    free(batch->target);
    free(batch->target_next);
    free(batch->target_further);
    for (int side = 0; side < MOST_SIDES; side++)
        free(batch->lengths[side]);
    for (int c = 0; c < batch->n_columns; c++)
        free(batch->columns[c]);
    for (int c = 0; c < batch->n_columns; c++)
        free(batch->hidden[c]);
    free(batch->columns);
    free(batch->hidden);
    free(batch->room_columns);
    free(batch->row);
    *batch = (Batch){0};
}
