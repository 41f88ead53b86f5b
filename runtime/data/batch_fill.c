/* Filling a batch with the tokens and values of its rows. */
#include "runtime/data/batch_items.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

static int32_t *resized_ids(int32_t *ids, int64_t n)
{
    return memory_resized(ids, (size_t)(n ? n : 1) * sizeof *ids);
}

/* values: how many there are of each of Corpus.values. */
static void make_room(Batch *batch, const Corpus *corpus, const int64_t *values)
{
    const int64_t rows = batch->shape.rows, target = values[SIDE_TARGET];
    if (batch->room_rows < rows) {
        batch->room_rows = rows;
        for (int side = 0; side < MOST_SIDES; side++)
            batch->lengths[side] = resized_ids(batch->lengths[side], rows);
        batch->row = memory_resized(batch->row, (size_t)rows * sizeof(int64_t));
    }
    if (batch->room[SIDE_TARGET] < target) {
        batch->target_next = resized_ids(batch->target_next, target);
        batch->target_further = resized_ids(batch->target_further, target);
    }
    for (int k = 0; k < corpus_values(&corpus->options); k++) {
        const int c = k - FIRST_COLUMN;
        if (batch->values[k] && batch->room[k] >= values[k])
            continue;
        batch->room[k] = values[k];
        batch->values[k] = resized_ids(batch->values[k], values[k]);
        if (c >= 0 && corpus->options.columns[c].hide.rate > 0)
            batch->hidden[c] = resized_ids(batch->hidden[c], values[k]);
    }
}

/* The values of all rows, of a source with the special tokens around them. */
static void fill_values(const Corpus *corpus, int k, const BatchItem *items, Batch *batch)
{
    const Rows *rows = &corpus->values[k];
    int32_t *out = batch->values[k];
    for (int64_t i = 0; i < batch->shape.rows; i++) {
        const int64_t row = items[i].row, n = rows_length(rows, row);
        const TextEnds ends =
            k == SIDE_SOURCE ? corpus_source_ends(corpus, row) : (TextEnds){-1, -1};
        out += text_ends_put(ends, rows->ids.data + rows->start[row], n, out);
    }
}

static void fill_windows(const Corpus *corpus, const BatchItem *items, Batch *batch)
{
    const int32_t *stream = corpus->target.ids.data;
    int64_t at = 0;
    for (int64_t i = 0; i < batch->shape.rows; i++) {
        size_t bytes = (size_t)items[i].target * sizeof(int32_t);
        memcpy(batch->target + at, stream + items[i].row, bytes);
        memcpy(batch->target_next + at, stream + items[i].row + 1, bytes);
        at += items[i].target;
    }
}

/* Id i of a row of n with the special tokens around it; -1: behind the last. */
static int32_t framed_id(const TextEnds *ends, const int32_t *ids, int64_t n, int64_t i)
{
    i -= ends->before >= 0;
    return i < 0 ? ends->before : i < n ? ids[i] : i == n ? ends->after : -1;
}

/* A target moved by one: what is fed, and what it predicts. Of one that predicts nothing its first
 * token, without a label. */
static void put_target(const Corpus *corpus, int64_t row, int64_t length, int32_t *target,
                       int32_t *next)
{
    const TextFrame frame = corpus_target_frame(corpus->vocab, corpus->options.kind);
    const int32_t *ids = corpus->target.ids.data + corpus->target.start[row];
    const int64_t n = rows_length(&corpus->target, row);
    const TextEnds ends = text_frame_ends(&frame, n);
    for (int64_t i = 0; i < length; i++) {
        target[i] = framed_id(&ends, ids, n, i);
        next[i] = framed_id(&ends, ids, n, i + 1);
    }
}

static void fill_targets(const Corpus *corpus, const BatchItem *items, Batch *batch)
{
    for (int64_t i = 0, at = 0; i < batch->shape.rows; at += items[i++].target)
        put_target(corpus, items[i].row, items[i].target, batch->target + at,
                   batch->target_next + at);
}

static void fill_further(Batch *batch)
{
    for (int64_t i = 0, at = 0; i < batch->shape.rows; at += batch->lengths[SIDE_TARGET][i++])
        for (int32_t t = 0; t < batch->lengths[SIDE_TARGET][i]; t++)
            batch->target_further[at + t] =
                t + 1 < batch->lengths[SIDE_TARGET][i] ? batch->target_next[at + t + 1] : -1;
}

/* How many values a batch has of each of Corpus.values. */
static void count_values(const Corpus *corpus, const BatchItem *items, const BatchShape *shape,
                         int64_t *values)
{
    for (int k = 0; k < corpus_values(&corpus->options); k++) {
        values[k] = k < FIRST_COLUMN && corpus_has(corpus, k) ? shape->side[k].total : 0;
        for (int64_t i = 0; k >= FIRST_COLUMN && i < shape->rows; i++)
            values[k] += rows_length(&corpus->values[k], items[i].row);
    }
}

/* Hides tokens of a column's rows that are in the batch; without `hiding` none. */
static void hide_tokens(const Hiding *hiding, const Corpus *corpus, const BatchItem *items,
                        Batch *batch, int column)
{
    const Rows *rows = &corpus->columns[column];
    int32_t *ids = batch->columns[column], *labels = batch->hidden[column];
    for (int64_t i = 0; i < batch->shape.rows; i++) {
        const int64_t n = rows_length(rows, items[i].row);
        if (hiding)
            hiding_row(hiding, corpus_number(corpus, items[i].row), items[i].use, ids, n, labels);
        else
            memset(labels, -1, (size_t)n * sizeof *labels);
        ids += n;
        labels += n;
    }
}

/* The truth values of sets become bytes, as an input of bool has them, in their place. */
static void pack_truths(int32_t *values, int64_t n)
{
    uint8_t *bytes = (uint8_t *)values;
    for (int64_t i = 0; i < n; i++)
        bytes[i] = values[i] != 0;
}

void batches_fill(const Batches *batches, int64_t i, Batch *batch)
{
    const Corpus *corpus = batches->corpus;
    const BatchItem *items = batches->items + batches->first[i];
    int64_t values[MOST_VALUES];
    batch->shape = batches_shape(batches, i);
    count_values(corpus, items, &batch->shape, values);
    make_room(batch, corpus, values);
    for (int64_t j = 0; j < batch->shape.rows; j++) {
        batch->row[j] = items[j].row;
        for (int side = 0; side <= batches->last_side; side++)
            batch->lengths[side][j] = (int32_t)batches_length(batches, &items[j], side);
    }
    for (int k = 0; k < corpus_values(&corpus->options); k++)
        if (k != SIDE_TARGET && corpus->values[k].n)
            fill_values(corpus, k, items, batch);
    for (int c = 0; c < corpus->options.n_columns; c++)
        if (corpus->options.columns[c].many)
            pack_truths(batch->columns[c], values[FIRST_COLUMN + c]);
    for (int c = 0; c < corpus->options.n_columns; c++)
        if (batch->hidden[c])
            hide_tokens(batches->hiding[c], corpus, items, batch, c);
    if (!corpus_has(corpus, SIDE_TARGET))
        return;
    (corpus->options.kind & IS_STREAM ? fill_windows : fill_targets)(corpus, items, batch);
    fill_further(batch);
}

void batch_free(Batch *batch)
{
    free(batch->target_next);
    free(batch->target_further);
    for (int side = 0; side < MOST_SIDES; side++)
        free(batch->lengths[side]);
    for (int k = 0; k < MOST_VALUES; k++)
        free(batch->values[k]);
    for (int c = 0; c < MOST_COLUMNS; c++)
        free(batch->hidden[c]);
    free(batch->row);
    *batch = (Batch){0};
}
