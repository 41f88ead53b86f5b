/* Type rules of gather, lookup, their adjoints, top_k and caches. */
#include "ir/infer/rules.h"

/* Rows in panels, as a product has its columns. */
static bool check_table(const Infer *in)
{
    const Type *table = infer_arg(in, 0);
    if (!op_is_packed_lookup(in->op))
        return true;
    if (op_attr(in->op, ATTR_quant) && !infer_quant(in))
        return false;
    return type_is_table(table) ||
           infer_fail(in, "panels need an f32 table with rows of 1 to %d terms, not %s",
                      MAX_QUANT_TERMS, infer_text(in, table));
}

bool infer_gather(const Infer *in, Type *type)
{
    const Type *table = infer_arg(in, 0), *index = infer_arg(in, 1);
    if (table->rank < 1 || index->dtype != DT_I32)
        return infer_fail(in, "needs a table with rows and i32 indices, given %s and %s",
                          infer_text(in, table), infer_text(in, index));
    if (table->rank + index->rank - 1 > MAX_RANK)
        return infer_fail(in, "the result would have more than %d dimensions", MAX_RANK);
    if (!check_table(in))
        return false;
    *type = *index;
    type->dtype = table->dtype;
    for (int i = 1; i < table->rank; i++)
        type->dims[type->rank++] = table->dims[i];
    return true;
}

bool infer_scatter(const Infer *in, Type *type)
{
    const Type *rows = infer_arg(in, 0), *index = infer_arg(in, 1);
    const Attr *size = infer_attr(in, ATTR_size);
    bool fits = index->dtype == DT_I32 && rows->rank >= index->rank;
    if (!size)
        return false;
    for (int i = 0; fits && i < index->rank; i++)
        fits = dim_equal(rows->dims[i], index->dims[i]);
    if (!fits || size->i < 0)
        return infer_fail(in, "rows %s do not go with indices %s", infer_text(in, rows),
                          infer_text(in, index));
    *type = type_scalar(rows->dtype);
    type->dims[type->rank++] = dim_const(size->i);
    for (int i = index->rank; i < rows->rank; i++)
        type->dims[type->rank++] = rows->dims[i];
    return true;
}

/* The axis along which positions are looked up in `x`, whose sentences x then has; -1 after a
 * report. */
static int looked_up_axis(const Infer *in, const Type *x, const Type *index)
{
    const Attr *attr = infer_attr(in, ATTR_axis);
    if (!attr)
        return -1;
    if (attr->i < 0 || attr->i >= x->rank || index->dtype != DT_I32 || index->rank > x->rank) {
        infer_fail(in, "positions %s do not go along axis %lld of %s", infer_text(in, index),
                   (long long)attr->i, infer_text(in, x));
        return -1;
    }
    Dim dim = x->dims[attr->i];
    if (symbol_is_ragged(in->module, dim.symbol) &&
        type_find_dim(x, in->module->symbols.data[dim.symbol].batch) < 0) {
        infer_fail(in, "the rows of %s have no sentences, over which %s is ragged",
                   infer_text(in, x), infer_dim_text(in, dim));
        return -1;
    }
    for (int i = 0; i < x->rank; i++)
        if (symbol_is_ragged_over(in->module, x->dims[i].symbol, dim.symbol)) {
            infer_fail(in, "%s is ragged over %s, along which positions are looked up",
                       infer_dim_text(in, x->dims[i]), infer_dim_text(in, dim));
            return -1;
        }
    return (int)attr->i;
}

/* What lookup gives of x: its axis is that of the positions, the others broadcast. */
static bool looked_up(const Infer *in, const Type *x, const Type *index, Type *type)
{
    int axis = looked_up_axis(in, x, index);
    if (axis < 0)
        return false;
    Type without = *x;
    without.dims[axis] = dim_const(1);
    if (!shape_broadcast(&without, index, type))
        return infer_fail(in, "positions %s do not go along axis %d of %s", infer_text(in, index),
                          axis, infer_text(in, x));
    type->dtype = x->dtype;
    return true;
}

bool infer_lookup(const Infer *in, Type *type)
{
    return looked_up(in, infer_arg(in, 0), infer_arg(in, 1), type);
}

bool infer_lookup_add(const Infer *in, Type *type)
{
    const Type *rows = infer_arg(in, 0);
    const Attr *shape = infer_shape(in);
    if (!shape)
        return false;
    Type to = type_of(rows->dtype, shape->rank, shape->dims), from;
    if (!looked_up(in, &to, infer_arg(in, 1), &from))
        return false;
    if (!type_same_shape(&from, rows))
        return infer_fail(in, "the rows have shape %s; these positions of %s give %s",
                          infer_text(in, rows), infer_text(in, &to), infer_text(in, &from));
    *type = to;
    return true;
}

/* The shape is that of the operand but for its last axis. */
bool infer_top_k(const Infer *in, Type *type)
{
    const Type *x = infer_arg(in, 0);
    const Attr *shape = infer_shape(in);
    if (!shape)
        return false;
    bool fits = x->rank >= 1 && x->dtype != DT_BOOL && shape->rank == x->rank;
    for (int i = 0; fits && i + 1 < x->rank; i++)
        fits = dim_equal(x->dims[i], shape->dims[i]);
    *type = type_of(DT_I32, shape->rank, shape->dims);
    if (!fits)
        return infer_fail(
            in, "the positions in %s cannot be %s: all axes but the last have the same length",
            infer_text(in, x), infer_text(in, type));
    Dim n = x->dims[x->rank - 1], k = shape->dims[shape->rank - 1];
    return !dim_is_const(k) || !dim_is_const(n) || k.size <= n.size ||
           infer_fail(in, "the last axis of %s has fewer than %lld elements", infer_text(in, x),
                      (long long)k.size);
}

/* cache [R, P~, …], rows [R, Q~, …] */
bool infer_append(const Infer *in, Type *type)
{
    const Type *cache = infer_arg(in, 0), *row = infer_arg(in, 1);
    bool fits = cache->dtype == row->dtype && cache->rank == row->rank && cache->rank >= 2 &&
                symbol_is_ragged(in->module, row->dims[1].symbol) &&
                symbol_is_ragged(in->module, cache->dims[1].symbol);
    for (int i = 0; fits && i < cache->rank; i++)
        fits = i == 1 || dim_equal(cache->dims[i], row->dims[i]);
    if (!fits)
        return infer_fail(in, "the rows %s are not positions of the cache %s", infer_text(in, row),
                          infer_text(in, cache));
    *type = *cache;
    return true;
}
