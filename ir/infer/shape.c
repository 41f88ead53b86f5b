/* Type rules of ops that show the same elements under other coordinates. */
#include "ir/infer/rules.h"

const Attr *infer_shape(const Infer *in)
{
    const Attr *shape = infer_attr(in, ATTR_shape);
    if (!shape)
        return NULL;
    for (int i = 0; i < shape->rank; i++)
        if (dim_is_const(shape->dims[i])
                ? shape->dims[i].size < 0
                : shape->dims[i].symbol < 0 ||
                      (size_t)shape->dims[i].symbol >= in->module->symbols.count) {
            infer_fail(
                in, "the shape has a dimension below 0, or one that the module does not declare");
            return NULL;
        }
    return shape;
}

/* Symbolic dimensions must appear in both in the same order, and the constants
 * between two of them must hold as many elements. */
bool infer_reshape(const Infer *in, Type *type)
{
    const Type *x = infer_arg(in, 0);
    const Attr *shape = infer_shape(in);
    if (!shape)
        return false;
    Type to = type_of(x->dtype, shape->rank, shape->dims);
    int i = 0, j = 0;
    for (;;) {
        int64_t p = 1, q = 1;
        bool over = false;
        for (; i < x->rank && dim_is_const(x->dims[i]); i++)
            over |= __builtin_mul_overflow(p, x->dims[i].size, &p);
        for (; j < to.rank && dim_is_const(to.dims[j]); j++)
            over |= __builtin_mul_overflow(q, to.dims[j].size, &q);
        bool end_x = i == x->rank, end_to = j == to.rank;
        if (over || p != q || end_x != end_to || (!end_x && !dim_equal(x->dims[i], to.dims[j])))
            return infer_fail(in, "%s cannot be seen as %s", infer_text(in, x),
                              infer_text(in, &to));
        if (end_x)
            break;
        i++, j++;
    }
    *type = to;
    return true;
}

bool infer_transpose(const Infer *in, Type *type)
{
    const Type *x = infer_arg(in, 0);
    const Attr *perm = infer_attr(in, ATTR_perm);
    if (!perm)
        return false;
    bool seen[MAX_RANK] = {0};
    if (perm->n != x->rank)
        return infer_fail(in, "perm names %d axes of %s", perm->n, infer_text(in, x));
    *type = *x;
    for (int i = 0; i < perm->n; i++) {
        int axis = perm->ints[i];
        if (axis < 0 || axis >= x->rank || seen[axis])
            return infer_fail(in, "perm is not a permutation of the axes of %s", infer_text(in, x));
        seen[axis] = true;
        type->dims[i] = x->dims[axis];
    }
    return true;
}

bool infer_broadcast(const Infer *in, Type *type)
{
    const Type *x = infer_arg(in, 0);
    const Attr *shape = infer_shape(in);
    if (!shape)
        return false;
    Type to = type_of(x->dtype, shape->rank, shape->dims), both;
    if (!shape_broadcast(x, &to, &both) || !type_same_shape(&both, &to))
        return infer_fail(in, "%s cannot be stretched to %s", infer_text(in, x),
                          infer_text(in, &to));
    *type = to;
    return true;
}

/* Slice: [start, start + size) within the axis. Pad: the operand within [0, size). */
static bool infer_window(const Infer *in, Type *type, bool pad)
{
    const Type *x = infer_arg(in, 0);
    int axis = infer_const_axis(in);
    const Attr *start = infer_attr(in, ATTR_start), *size = infer_attr(in, ATTR_size);
    if (axis < 0 || !start || !size)
        return false;
    int64_t n = x->dims[axis].size, inner = pad ? n : size->i, outer = pad ? size->i : n;
    if (start->i < 0 || inner < 0 || inner > outer || start->i > outer - inner)
        return infer_fail(in, "elements %lld to %lld are not all within %lld of axis %d",
                          (long long)start->i, (long long)(start->i + inner - 1), (long long)outer,
                          axis);
    *type = *x;
    type->dims[axis] = dim_const(size->i);
    return true;
}

bool infer_slice(const Infer *in, Type *type) { return infer_window(in, type, false); }
bool infer_pad(const Infer *in, Type *type) { return infer_window(in, type, true); }

bool infer_concat(const Infer *in, Type *type)
{
    int axis = infer_const_axis(in);
    if (axis < 0)
        return false;
    *type = *infer_arg(in, 0);
    for (int i = 1; i < in->op->n_args; i++) {
        Type part = *infer_arg(in, i);
        bool fits = part.rank == type->rank && dim_is_const(part.dims[axis]);
        int64_t size = fits ? part.dims[axis].size : 0;
        if (fits)
            part.dims[axis] = type->dims[axis];
        if (!fits || !type_equal(&part, type))
            return infer_fail(in, "operand %d is %s, which does not continue %s along axis %d", i,
                              infer_text(in, infer_arg(in, i)), infer_text(in, infer_arg(in, 0)),
                              axis);
        type->dims[axis].size += size;
    }
    return true;
}

bool infer_flip(const Infer *in, Type *type)
{
    *type = *infer_arg(in, 0);
    return infer_const_axis(in) >= 0;
}
