/* Leaves, elementwise ops and reductions. */
#include "driver/exchange/onnx/rules.h"

#include "driver/exchange/onnx/ragged.h"

#include <math.h>
#include <string.h>

const char *say_none(OnnxGraph *g, const Op *op, const char *onnx)
{
    (void)onnx;
    diag_error(&g->job->diags, op->loc, "ONNX has nothing for the op '%s'", op_info[op->kind].name);
    return NULL;
}

const char *say_node(OnnxGraph *g, const Op *op, const char *onnx)
{
    const char *args[MAX_RANK];
    for (int i = 0; i < op->n_args; i++)
        args[i] = onnx_arg(g, op, i);
    return onnx_node(g, onnx, op->n_args, args, 0, NULL);
}

/* ---- leaves ---- */

const char *say_const(OnnxGraph *g, const Op *op, const char *onnx)
{
    const Type *type = &op->results[0].type;
    const char *scalar = onnx_scalar(g, onnx_type(type->dtype), op_float(op, ATTR_value));
    return type->rank ? onnx_binary(g, onnx, scalar, onnx_shape(g, type)) : scalar;
}

const char *say_iota(OnnxGraph *g, const Op *op, const char *onnx)
{
    (void)onnx; /* onnx_range */
    const Type *type = &op->results[0].type;
    int axis = type_long_dim(type);
    Dim along = axis < 0 ? dim_const(1) : type->dims[axis];
    const char *count = onnx_cast(g, onnx_range(g, along), ONNX_INT32);
    return type->rank == 1 ? count : onnx_binary(g, "Reshape", count, onnx_shape(g, type));
}

const char *say_size(OnnxGraph *g, const Op *op, const char *onnx)
{
    int symbol = (int)op_int(op, ATTR_dim);
    const OnnxAttr scalar = ATTR_INT("keepdims", 0);
    const char *counted = symbol_is_ragged(g->module, symbol) ? ragged_lengths(g, symbol)
                                                              : onnx_dim(g, dim_symbol(symbol));
    return onnx_cast(g, onnx_node(g, onnx, 1, &counted, 1, &scalar),
                     onnx_type(op->results[0].type.dtype));
}

const char *say_lengths(OnnxGraph *g, const Op *op, const char *onnx)
{
    const Type *type = &op->results[0].type;
    const char *cast =
        onnx_cast(g, ragged_lengths(g, (int)op_int(op, ATTR_dim)), onnx_type(type->dtype));
    return type->rank == 1 ? cast : onnx_binary(g, onnx, cast, onnx_shape(g, type));
}

/* ---- elementwise ---- */

/* e^x - 1 = tanh(x / 2) (e^x + 1) */
const char *say_expm1(OnnxGraph *g, const Op *op, const char *onnx)
{
    OnnxType element = onnx_type(op->results[0].type.dtype);
    const char *x = onnx_arg(g, op, 0), *one = onnx_scalar(g, element, 1);
    const char *tanh = onnx_unary(g, onnx, onnx_binary(g, "Mul", x, onnx_scalar(g, element, 0.5)));
    return onnx_binary(g, "Mul", tanh, onnx_binary(g, "Add", onnx_unary(g, "Exp", x), one));
}

/* With u = 1 + x rounded, log(u) x / (u - 1); x where u is 1, log(u) where u is x (Kahan). */
const char *say_log1p(OnnxGraph *g, const Op *op, const char *onnx)
{
    OnnxType element = onnx_type(op->results[0].type.dtype);
    const char *x = onnx_arg(g, op, 0), *one = onnx_scalar(g, element, 1);
    const char *u = onnx_binary(g, "Add", x, one), *log = onnx_unary(g, onnx, u);
    const char *share = onnx_binary(g, "Div", x, onnx_binary(g, "Sub", u, one));
    const char *near = onnx_binary(g, "Mul", log, share);
    return onnx_where(g, onnx_binary(g, "Equal", u, one), x,
                      onnx_where(g, onnx_binary(g, "Equal", u, x), log, near));
}

const char *say_rsqrt(OnnxGraph *g, const Op *op, const char *onnx)
{
    return onnx_unary(g, onnx, onnx_unary(g, "Sqrt", onnx_arg(g, op, 0)));
}

const char *say_cast(OnnxGraph *g, const Op *op, const char *onnx)
{
    (void)onnx;
    return onnx_cast(g, onnx_arg(g, op, 0), onnx_type(op->results[0].type.dtype));
}

/* ---- reductions ---- */

/* The reduced dimensions stay as 1. In opset 17 a sum takes its axes as an operand, the others
 * as an attribute. */
static const char *reduced(OnnxGraph *g, const char *onnx, const char *x, int n, const int *axes)
{
    int64_t list[MAX_RANK];
    for (int i = 0; i < n; i++)
        list[i] = axes[i];
    if (!strcmp(onnx, "ReduceSum"))
        return onnx_binary(g, onnx, x, onnx_ints(g, n, list));
    const OnnxAttr attr = ATTR_INTS("axes", n, axes);
    return onnx_node(g, onnx, 1, &x, 1, &attr);
}

const char *say_reduce(OnnxGraph *g, const Op *op, const char *onnx)
{
    const Attr *axes = op_attr(op, ATTR_axes);
    const Type *type = &op->args[0]->type;
    double least = dtype_is_float(type->dtype) ? -INFINITY : INT32_MIN;
    double neutral = op->kind == OP_reduce_sum ? 0 : least;
    if (!axes->n)
        return onnx_arg(g, op, 0);
    const char *x = ragged_fill(g, onnx_arg(g, op, 0), type, axes->n, axes->ints, neutral);
    return reduced(g, onnx, x, axes->n, axes->ints);
}

/* A row that is empty or all -inf gives zeros, and -inf as its logarithm; ONNX would give NaN. */
const char *say_softmax(OnnxGraph *g, const Op *op, const char *onnx)
{
    const Type *type = &op->args[0]->type;
    OnnxType element = onnx_type(type->dtype);
    const int last = type->rank - 1;
    bool logarithm = op->kind == OP_logsumexp;
    const char *x = ragged_fill(g, onnx_arg(g, op, 0), type, 1, &last, -INFINITY);
    const char *least = onnx_scalar(g, element, -INFINITY);
    const char *nothing = onnx_binary(g, "Equal", reduced(g, "ReduceMax", x, 1, &last), least);
    const OnnxAttr axis = ATTR_INT("axis", last);
    const char *y = logarithm ? reduced(g, onnx, x, 1, &last) : onnx_node(g, onnx, 1, &x, 1, &axis);
    return onnx_where(g, nothing, logarithm ? least : onnx_scalar(g, element, 0), y);
}
