/* Type rules of reductions and row operations. */
#include "ir/infer/rules.h"

bool infer_reduce(const Infer *in, Type *type)
{
    const Type *x = infer_arg(in, 0);
    const Attr *axes = infer_attr(in, ATTR_axes);
    if (!axes)
        return false;
    if (x->dtype == DT_BOOL)
        return infer_fail(in, "needs numbers, given %s", infer_text(in, x));
    *type = *x;
    bool seen[MAX_RANK] = {0};
    for (int i = 0; i < axes->n; i++) {
        int axis = axes->ints[i];
        if (axis < 0 || axis >= x->rank || seen[axis])
            return infer_fail(in, "axis %d is %s %s", axis,
                              axis < 0 || axis >= x->rank ? "outside" : "named twice for",
                              infer_text(in, x));
        seen[axis] = true;
        type->dims[axis] = dim_const(1);
    }
    return axes->n ? true : infer_fail(in, "names no axis");
}

bool infer_lastfloat(const Infer *in, Type *type)
{
    const Type *x = infer_arg(in, 0);
    if (x->rank < 1 || !dtype_is_float(x->dtype))
        return infer_fail(in, "needs floating-point numbers with an axis, given %s",
                          infer_text(in, x));
    *type = *x;
    return true;
}

bool infer_lastkeep(const Infer *in, Type *type)
{
    if (!infer_lastfloat(in, type))
        return false;
    type->dims[type->rank - 1] = dim_const(1);
    return true;
}
