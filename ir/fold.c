/* Column `value` of ops.def. */
#include "ir/fold.h"

#include "base/portable_math.h"

#include <math.h>

static double value_of(OpKind kind, double a, double b, double c)
{
    switch (kind) {
#define ELEMENTWISE(name, arity, infer, grad, cost, value, help) \
    case OP_##name: return value;
#include "ir/ops.def"
    default: return NAN;
    }
}

bool fold_value(OpKind kind, DType dtype, const double *operands, double *value)
{
    bool of_floats = kind == OP_div || kind == OP_pow || kind == OP_cast;
    if (op_info[kind].family != FAMILY_elementwise || kind == OP_dropout ||
        (of_floats && !dtype_is_float(dtype)))
        return false;
    int n = op_info[kind].arity;
    *value = value_of(kind, operands[0], n > 1 ? operands[1] : 0, n > 2 ? operands[2] : 0);
    return true;
}
