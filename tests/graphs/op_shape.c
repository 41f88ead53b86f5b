/* Shape ops at random. */
#include "tests/graphs/grow.h"

#include <string.h>

/* The dims in groups between symbols; constants of a group are split and joined anew. */
Item *grow_reshape(Grow *g)
{
    Item *x = pick(g, is_any);
    if (!x)
        return NULL;
    const Type *type = &x->value->type;
    Dim dims[MAX_RANK];
    int rank = 0;
    for (int i = 0; i <= type->rank;) {
        int64_t group = 1;
        int from = i;
        for (; i < type->rank && dim_is_const(type->dims[i]); i++)
            group *= type->dims[i].size;
        bool had = i > from;
        for (int64_t d = 2; group > 1 && d < group && rank < 5; d++)
            if (group % d == 0 && rng_chance(&g->rng, 45)) {
                dims[rank++] = dim_const(d);
                group /= d;
                d = 1;
            }
        if (group != 1 || (had && rng_chance(&g->rng, 30)) || rng_chance(&g->rng, 10)) {
            if (rank >= 6)
                return NULL;
            dims[rank++] = dim_const(group);
        }
        if (i < type->rank) {
            if (rank >= 6)
                return NULL;
            dims[rank++] = type->dims[i];
        }
        i++;
    }
    return reshaped(g, x, rank, dims);
}

Item *grow_transpose(Grow *g)
{
    Item *x = pick(g, is_any);
    if (!x || x->value->type.rank < 2)
        return NULL;
    int rank = x->value->type.rank, perm[MAX_RANK];
    for (int i = 0; i < rank; i++)
        perm[i] = i;
    if (rng_chance(&g->rng, 50)) { /* two of them */
        int i = rng_below(&g->rng, rank), j = rng_below(&g->rng, rank);
        perm[i] = j;
        perm[j] = i;
    } else
        for (int i = rank - 1; i > 0; i--) {
            int j = rng_below(&g->rng, i + 1), k = perm[i];
            perm[i] = perm[j];
            perm[j] = k;
        }
    return transposed(g, x, perm);
}

Item *grow_stretch(Grow *g)
{
    Item *x = pick(g, is_any);
    if (!x)
        return NULL;
    Type to = x->value->type;
    for (int i = 0; i < to.rank; i++)
        if (dim_is_one(to.dims[i]) && rng_chance(&g->rng, 60))
            to.dims[i] = some_dim(g);
    if (rng_chance(&g->rng, 50) && to.rank < 5) {
        memmove(to.dims + 1, to.dims, sizeof *to.dims * (size_t)to.rank++);
        to.dims[0] = some_dim(g);
    }
    return type_fits(g, &to) ? stretched(g, x, to.rank, to.dims) : NULL;
}

static int const_axis(Grow *g, const Type *type)
{
    for (int tried = 0; tried < 8 && type->rank; tried++) {
        int axis = rng_below(&g->rng, type->rank);
        if (dim_is_const(type->dims[axis]))
            return axis;
    }
    return -1;
}

static Item *joined(Grow *g, Item *x, int axis)
{
    Value *parts[4];
    int n = rng_between(&g->rng, 2, 4);
    double lo = x->lo, hi = x->hi;
    parts[0] = x->value;
    for (int i = 1; i < n; i++) {
        Type type = x->value->type;
        if (rng_chance(&g->rng, 60))
            type.dims[axis] = dim_const(some_size(g));
        Item *part = rng_chance(&g->rng, 15) ? x : found_or_leaf(g, type);
        if (!part)
            return NULL;
        parts[i] = part->value;
        lo = part->lo < lo ? part->lo : lo;
        hi = part->hi > hi ? part->hi : hi;
    }
    if (rng_chance(&g->rng, 50)) {
        Value *first = parts[0];
        parts[0] = parts[n - 1];
        parts[n - 1] = first;
    }
    return add_item(g, build_concat(&g->b, n, parts, axis), lo, hi);
}

Item *grow_window(Grow *g)
{
    Item *x = pick(g, is_any);
    int axis = x ? const_axis(g, &x->value->type) : -1;
    if (axis < 0)
        return NULL;
    int n = (int)x->value->type.dims[axis].size;
    switch (rng_below(&g->rng, 5)) {
    case 0:
    case 1: {
        int start = rng_below(&g->rng, n + !n), size = rng_between(&g->rng, n > start, n - start);
        if (rng_chance(&g->rng, 2))
            size = 0;
        return add_item(g, build_slice(&g->b, x->value, axis, start, size), x->lo, x->hi);
    }
    case 2: {
        int start = rng_below(&g->rng, 4), size = start + n + rng_below(&g->rng, 4);
        return add_item(g, build_pad(&g->b, x->value, axis, start, size), x->lo < 0 ? x->lo : 0,
                        x->hi > 0 ? x->hi : 0);
    }
    case 3: return add_item(g, build_flip(&g->b, x->value, axis), x->lo, x->hi);
    default: return joined(g, x, axis);
    }
}
