/* Setting dimensions and inputs from a batch. */
#include "runtime/decode/feed.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void set_rows(Exec *exec, const char *name, int64_t rows, const int32_t *lengths)
{
    int dim = name ? exec_dim(exec, name) : -1;
    if (dim >= 0)
        exec_set_ragged(exec, dim, rows, lengths, NULL);
}

bool feed_shares_lengths(const Feed *feed)
{
    return feed->source_dim && feed->target_dim && !strcmp(feed->source_dim, feed->target_dim);
}

void feed_batch(Exec *exec, const Feed *feed, const Batch *batch)
{
    int dim = feed->batch ? exec_dim(exec, feed->batch) : -1;
    assert(!feed_shares_lengths(feed) || !memcmp(batch->source_lengths, batch->target_lengths,
                                                 sizeof(int32_t) * (size_t)batch->shape.rows));
    if (dim >= 0)
        exec_set_dim(exec, dim, batch->shape.rows);
    set_rows(exec, feed->source_dim, batch->shape.rows, batch->source_lengths);
    set_rows(exec, feed->target_dim, batch->shape.rows, batch->target_lengths);
    if (feed->source)
        exec_input(exec, feed->source, batch->source);
    if (feed->target)
        exec_input(exec, feed->target, batch->target);
    if (feed->next)
        exec_input(exec, feed->next, batch->target_next);
    if (feed->further)
        exec_input(exec, feed->further, batch->target_further);
}

static bool is_named(const char *name, const char *wanted)
{
    return wanted && !strcmp(name, wanted);
}

void feed_shape(const TfcProgram *program, const Feed *feed, const BatchShape *shape, ExecDim *out)
{
    for (int i = 0; i < program->n_dims; i++) {
        const char *name = program->dims[i].name;
        out[i] = (ExecDim){shape->rows, shape->rows};
        if (is_named(name, feed->source_dim))
            out[i] = (ExecDim){shape->source_longest, shape->source_total};
        else if (is_named(name, feed->target_dim))
            out[i] = (ExecDim){shape->target_longest, shape->target_total};
    }
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
    return feed->target ? shape->target_total : shape->source_total;
}
