/* Setting dimensions and inputs from a batch. */
#include "runtime/decode/feed.h"

#include "runtime/exec/made.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool feed_shares_lengths(const Feed *feed)
{
    const char *source = feed->dims[SIDE_SOURCE], *target = feed->dims[SIDE_TARGET];
    return source && target && !strcmp(source, target);
}

Feed feed_of_corpus(const Feed *all, const Corpus *corpus)
{
    Feed feed = *all;
    feed.n_columns = corpus->options.n_columns;
    for (int c = 0; c < feed.n_columns; c++) {
        feed.columns[c] = corpus->options.columns[c].input;
        feed.hidden[c] = NULL;
        for (int k = 0; k < all->n_columns; k++)
            if (!strcmp(all->columns[k], feed.columns[c]))
                feed.hidden[c] = all->hidden[k];
    }
    return feed;
}

Sources feed_sources_of(const Batch *batch)
{
    Sources sources = {.n = (int32_t)batch->shape.rows,
                       .tokens = batch->source,
                       .columns = (const int32_t *const *)batch->columns};
    for (int side = 0; side < MOST_SIDES; side++)
        sources.lengths[side] = side == SIDE_TARGET ? NULL : batch->lengths[side];
    return sources;
}

void feed_batch(Exec *exec, const Feed *feed, const Batch *batch)
{
    Sources rows = feed_sources_of(batch);
    assert(!feed_shares_lengths(feed) ||
           !memcmp(batch->lengths[SIDE_SOURCE], batch->lengths[SIDE_TARGET],
                   sizeof(int32_t) * (size_t)rows.n));
    rows.lengths[SIDE_TARGET] = batch->lengths[SIDE_TARGET];
    feed_sources(exec, feed, &rows);
    if (feed->target)
        exec_input(exec, feed->target, batch->target);
    if (feed->next)
        exec_input(exec, feed->next, batch->target_next);
    if (feed->further)
        exec_input(exec, feed->further, batch->target_further);
    for (int c = 0; c < feed->n_columns; c++)
        if (feed->hidden[c])
            exec_input(exec, feed->hidden[c], batch->hidden[c]);
}

int feed_side(const Feed *feed, const char *dim)
{
    for (int side = 0; side < MOST_SIDES; side++)
        if (feed->dims[side] && !strcmp(feed->dims[side], dim))
            return side;
    return -1;
}

void feed_shape(const TfcProgram *program, const Feed *feed, const BatchShape *shape, ExecDim *out)
{
    for (int i = 0; i < program->n_dims; i++) {
        const int side = feed_side(feed, program->dims[i].name);
        out[i] = side < 0 ? (ExecDim){shape->rows, shape->rows}
                          : (ExecDim){shape->side[side].longest, shape->side[side].total};
    }
}

int32_t feed_too_long(const TfcProgram *program, const Feed *feed, const BatchShape *shape)
{
    ExecDim *shapes = calloc((size_t)program->n_dims + 1, sizeof *shapes);
    TfcDim *dims = calloc((size_t)program->n_dims + 1, sizeof *dims);
    int32_t found = -1;
    if (shapes && dims) {
        feed_shape(program, feed, shape, shapes);
        for (int32_t d = 0; d < program->n_dims; d++)
            dims[d] = (TfcDim){.extent = shapes[d].extent, .total = shapes[d].total};
        made_bounds(program, dims);
    }
    for (int32_t d = 0; shapes && dims && found < 0 && d < program->n_dims; d++)
        if (dim_is_made(program, d) && (dims[d].extent > INT32_MAX || dims[d].total > INT32_MAX))
            found = d;
    free(shapes);
    free(dims);
    return found;
}

enum { MOST_SHAPES = 32 };

bool feed_reserve_shapes(Exec *exec, const TfcProgram *program, const Feed *feed,
                         const BatchShape *shapes, int64_t n)
{
    ExecDim *dims = calloc((size_t)(n * program->n_dims) + 1, sizeof *dims);
    if (!dims)
        return false;
    for (int64_t i = 0; i < n; i++)
        feed_shape(program, feed, &shapes[i], dims + i * program->n_dims);
    bool ok = exec_reserve(exec, dims, n);
    free(dims);
    return ok;
}

bool feed_reserve(Exec *exec, const TfcProgram *program, const Feed *feed, const Batches *batches)
{
    BatchShape shapes[MOST_SHAPES];
    int64_t n = batches_largest(batches, shapes, MOST_SHAPES);
    return feed_reserve_shapes(exec, program, feed, shapes, n < MOST_SHAPES ? n : MOST_SHAPES);
}

int64_t feed_tokens(const Feed *feed, const BatchShape *shape)
{
    return shape->side[feed->target ? SIDE_TARGET : SIDE_SOURCE].total;
}
