/* Type rules of elementwise ops: operands broadcast as in numpy. */
#include "ir/infer/rules.h"

bool infer_same(const Infer *in, Type *type)
{
    *type = *infer_arg(in, 0);
    return true;
}

bool infer_floats(const Infer *in, Type *type)
{
    if (!dtype_is_float(infer_arg(in, 0)->dtype))
        return infer_fail(in, "needs floating-point numbers, given %s",
                          infer_text(in, infer_arg(in, 0)));
    return infer_same(in, type);
}

bool infer_bools(const Infer *in, Type *type)
{
    if (infer_arg(in, 0)->dtype != DT_BOOL)
        return infer_fail(in, "needs truth values, given %s", infer_text(in, infer_arg(in, 0)));
    return infer_same(in, type);
}

bool infer_cast(const Infer *in, Type *type)
{
    const Attr *dtype = infer_attr(in, ATTR_dtype);
    if (!dtype)
        return false;
    *type = *infer_arg(in, 0);
    type->dtype = (DType)dtype->i;
    return true;
}

bool infer_dropout(const Infer *in, Type *type)
{
    const Attr *rate = infer_attr(in, ATTR_rate), *site = infer_attr(in, ATTR_site);
    if (!rate || !site)
        return false;
    if (!(rate->f >= 0 && rate->f < 1))
        return infer_fail(in, "the rate must be at least 0 and below 1, given %g", rate->f);
    return infer_floats(in, type);
}

static bool broadcast_pair(const Infer *in, const Type *a, const Type *b, Type *type)
{
    if (shape_broadcast(a, b, type))
        return true;
    for (int i = 1; i <= a->rank && i <= b->rank; i++) {
        Dim x = a->dims[a->rank - i], y = b->dims[b->rank - i];
        if (!dim_equal(x, y) && !dim_is_one(x) && !dim_is_one(y))
            return infer_fail(in, "shapes do not fit: %s against %s in %s and %s",
                              infer_dim_text(in, x), infer_dim_text(in, y), infer_text(in, a),
                              infer_text(in, b));
    }
    return false;
}

bool infer_binary(const Infer *in, Type *type)
{
    const Type *a = infer_arg(in, 0), *b = infer_arg(in, 1);
    if (a->dtype != b->dtype || a->dtype == DT_BOOL)
        return infer_fail(in, "needs two tensors of numbers of one kind, given %s and %s",
                          infer_text(in, a), infer_text(in, b));
    return broadcast_pair(in, a, b, type);
}

bool infer_compare(const Infer *in, Type *type)
{
    if (!infer_binary(in, type))
        return false;
    type->dtype = DT_BOOL;
    return true;
}

bool infer_logic(const Infer *in, Type *type)
{
    const Type *a = infer_arg(in, 0), *b = infer_arg(in, 1);
    if (a->dtype != DT_BOOL || b->dtype != DT_BOOL)
        return infer_fail(in, "needs truth values, given %s and %s", infer_text(in, a),
                          infer_text(in, b));
    return broadcast_pair(in, a, b, type);
}

bool infer_select(const Infer *in, Type *type)
{
    const Type *c = infer_arg(in, 0), *a = infer_arg(in, 1), *b = infer_arg(in, 2);
    if (c->dtype != DT_BOOL || a->dtype != b->dtype)
        return infer_fail(in, "needs truth values and two tensors of one kind, given %s, %s and %s",
                          infer_text(in, c), infer_text(in, a), infer_text(in, b));
    Type both;
    if (!broadcast_pair(in, a, b, &both) || !broadcast_pair(in, c, &both, type))
        return false;
    type->dtype = a->dtype;
    return true;
}
