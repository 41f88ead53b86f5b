/* Tensors on dense logical coordinates, and how they lie in memory: the rule of
 * ir/layout.h, here by going through all positions in that order. */
#include "oracle/interpreter.h"

#include <string.h>

static int find_dim(const Shape *shape, int symbol)
{
    for (int i = 0; i < shape->rank; i++)
        if (shape->dims[i].symbol == symbol)
            return i;
    return -1;
}

/* The dimension that dimension i is ragged over; -1: i is none or its batch is not there. */
static int batch_of(const Interpreter *in, const Shape *shape, int i)
{
    int symbol = shape->dims[i].symbol;
    return symbol_is_ragged(in->module, symbol)
               ? find_dim(shape, in->module->symbols.data[symbol].batch)
               : -1;
}

static int64_t length_of(const Interpreter *in, const Shape *shape, int i, int64_t row)
{
    return in->run->dims[shape->dims[i].symbol].lengths[row];
}

/* ---- walks ---- */

OracleWalk walk_over(int rank, const int64_t *extents)
{
    OracleWalk w = {.rank = rank, .count = 1};
    for (int i = 0; i < rank; i++) {
        w.extent[i] = extents[i];
        w.count *= extents[i];
    }
    return w;
}

void walk_add_axis(OracleWalk *w, int64_t extent, int64_t step0, int64_t step1)
{
    w->extent[w->rank] = extent;
    w->step[0][w->rank] = step0;
    w->step[1][w->rank] = step1;
    w->rank++;
    w->count *= extent;
}

void walk_next(OracleWalk *w)
{
    for (int i = w->rank - 1; i >= 0; i--) {
        if (++w->index[i] < w->extent[i]) {
            for (int k = 0; k < WALK_TENSORS; k++)
                w->at[k] += w->step[k][i];
            return;
        }
        w->index[i] = 0;
        for (int k = 0; k < WALK_TENSORS; k++)
            w->at[k] -= w->step[k][i] * (w->extent[i] - 1);
    }
}

void walk_broadcast(OracleWalk *w, int k, const Shape *shape)
{
    int shift = w->rank - shape->rank;
    for (int i = 0; i < shape->rank; i++)
        w->step[k][i + shift] = dim_is_one(shape->dims[i]) ? 0 : shape->stride[i];
}

/* ---- shapes ---- */

/* No ragged position is past the end of its row. */
static const bool *find_existing(Interpreter *in, const Shape *shape)
{
    int batch[MAX_RANK];
    bool all = true;
    for (int i = 0; i < shape->rank; i++) {
        batch[i] = batch_of(in, shape, i);
        all &= batch[i] < 0;
    }
    if (all)
        return NULL;
    bool *exists = ARENA_ARRAY(in->arena, bool, shape->count + 1);
    OracleWalk w = walk_over(shape->rank, shape->extent);
    for (int64_t n = 0; n < w.count; n++, walk_next(&w)) {
        exists[n] = true;
        for (int i = 0; i < shape->rank; i++)
            if (batch[i] >= 0)
                exists[n] &= w.index[i] < length_of(in, shape, i, w.index[batch[i]]);
    }
    return exists;
}

/* Storage order: the first ragged dimension whose batch is there goes in front, row after row
 * of the batch, as many positions as each has; then all others in their order. */
static void find_order(Interpreter *in, Shape *shape)
{
    int ragged = -1;
    for (int i = shape->rank - 1; i >= 0; i--)
        if (batch_of(in, shape, i) >= 0)
            ragged = i;
    shape->stored = shape->count;
    if (ragged < 0)
        return;
    int batch = batch_of(in, shape, ragged);
    OracleWalk rest = {.count = 1};
    for (int i = 0; i < shape->rank; i++)
        if (i != ragged && i != batch)
            walk_add_axis(&rest, shape->extent[i], shape->stride[i], 0);
    int64_t *order = ARENA_ARRAY(in->arena, int64_t, shape->count + 1), n = 0;
    for (int64_t row = 0; row < shape->extent[batch]; row++)
        for (int64_t at = 0; at < length_of(in, shape, ragged, row); at++) {
            OracleWalk w = rest;
            for (int64_t i = 0; i < w.count; i++, walk_next(&w))
                order[n++] = row * shape->stride[batch] + at * shape->stride[ragged] + w.at[0];
        }
    shape->order = order;
    shape->stored = n;
}

const Shape *shape_of(Interpreter *in, const Type *type)
{
    for (size_t i = 0; i < in->shapes.count; i++) {
        const Shape *known = in->shapes.data[i];
        bool same = known->rank == type->rank;
        for (int d = 0; same && d < type->rank; d++)
            same = dim_equal(known->dims[d], type->dims[d]);
        if (same)
            return known;
    }
    Shape *shape = ARENA_NEW(in->arena, Shape);
    shape->rank = type->rank;
    shape->count = 1;
    for (int i = type->rank - 1; i >= 0; i--) {
        Dim dim = shape->dims[i] = type->dims[i];
        shape->extent[i] = dim_is_const(dim) ? dim.size : in->run->dims[dim.symbol].extent;
        shape->stride[i] = shape->count;
        shape->count *= shape->extent[i];
    }
    shape->exists = find_existing(in, shape);
    find_order(in, shape);
    vec_push(in->arena, in->shapes, shape);
    return shape;
}

Dense *dense_new(Interpreter *in, const Type *type)
{
    Dense *x = ARENA_NEW(in->arena, Dense);
    x->shape = shape_of(in, type);
    x->dtype = type->dtype;
    x->x = ARENA_ARRAY(in->arena, Num, x->shape->count + 1);
    return x;
}

const int64_t *storage_numbers(Interpreter *in, const Shape *shape)
{
    int64_t *number = ARENA_ARRAY(in->arena, int64_t, shape->count + 1);
    for (int64_t i = 0; i < shape->stored; i++)
        number[shape->order ? shape->order[i] : i] = i;
    return number;
}
