/* Filling a batch with the tokens and values of its rows. */
#include "runtime/data/batch_items.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

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

static void fill_windows(const Batches *b, const BatchItem *items, Batch *batch)
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

static void fill_rows(const Batches *b, const BatchItem *items, Batch *batch)
{
    const Corpus *corpus = b->corpus;
    int32_t *source = batch->source, *target = batch->target, *next = batch->target_next;
    for (int64_t i = 0; i < batch->shape.rows; i++) {
        int64_t row = items[i].row;
        if (items[i].source) {
            const TextEnds ends = corpus_source_ends(corpus, row);
            source = put_row(source, &corpus->source, row, rows_length(&corpus->source, row),
                             ends.before, ends.after);
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
static void count_values(const Corpus *corpus, const BatchItem *items, int64_t rows,
                         int64_t *values)
{
    for (int c = 0; c < corpus->options.n_columns; c++) {
        values[c] = 0;
        for (int64_t i = 0; i < rows; i++)
            values[c] += rows_length(&corpus->columns[c], items[i].row);
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

static void fill_columns(const Batches *b, const BatchItem *items, Batch *batch)
{
    const Corpus *corpus = b->corpus;
    for (int c = 0; c < corpus->options.n_columns; c++) {
        const Rows *rows = &corpus->columns[c];
        int32_t *out = batch->columns[c];
        for (int64_t i = 0; i < batch->shape.rows; i++)
            out = put_row(out, rows, items[i].row, rows_length(rows, items[i].row), -1, -1);
        if (batch->hidden[c])
            hide_tokens(b->hiding[c], corpus, items, batch, c);
    }
}

void batches_fill(const Batches *batches, int64_t i, Batch *batch)
{
    const Corpus *corpus = batches->corpus;
    const BatchItem *items = batches->items + batches->first[i];
    int64_t values[MOST_COLUMNS];
    batch->shape = batches_shape(batches, i);
    count_values(corpus, items, batch->shape.rows, values);
    make_room(batch, corpus, values);
    for (int64_t j = 0; j < batch->shape.rows; j++) {
        batch->row[j] = items[j].row;
        for (int side = 0; side <= batches->last_side; side++)
            batch->lengths[side][j] = (int32_t)batches_length(batches, &items[j], side);
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
