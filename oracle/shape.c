/* Shape ops: the same elements under other coordinates. Each walks over the result (concat:
 * over its operands) and steps through the operand beside it. */
#include "oracle/interpreter.h"

/* A walk over all elements of the result, which is the walk's tensor 0. */
static OracleWalk over(const Shape *shape)
{
    OracleWalk w = walk_over(shape->rank, shape->extent);
    for (int i = 0; i < shape->rank; i++)
        w.step[0][i] = shape->stride[i];
    return w;
}

static void move(Dense *out, const Dense *x, OracleWalk w)
{
    for (int64_t i = 0; i < w.count; i++, walk_next(&w))
        out->x[w.at[0]] = x->x[w.at[1]];
}

void interpret_reshape(Interpreter *in, const Op *op, Dense *out)
{
    const Dense *x = operand(in, op, 0);
    for (int64_t i = 0; i < out->shape->count; i++)
        out->x[i] = x->x[i];
}

void interpret_transpose(Interpreter *in, const Op *op, Dense *out)
{
    const Dense *x = operand(in, op, 0);
    OracleWalk w = over(out->shape);
    for (int i = 0; i < w.rank; i++)
        w.step[1][i] = x->shape->stride[op_attr(op, ATTR_perm)->ints[i]];
    move(out, x, w);
}

void interpret_broadcast(Interpreter *in, const Op *op, Dense *out)
{
    OracleWalk w = over(out->shape);
    walk_broadcast(&w, 1, operand(in, op, 0)->shape);
    move(out, operand(in, op, 0), w);
}

static OracleWalk along(const Shape *box, const Shape *to, const Shape *from)
{
    OracleWalk w = over(box);
    for (int i = 0; i < w.rank; i++) {
        w.step[0][i] = to->stride[i];
        w.step[1][i] = from->stride[i];
    }
    return w;
}

void interpret_slice(Interpreter *in, const Op *op, Dense *out)
{
    const Dense *x = operand(in, op, 0);
    OracleWalk w = along(out->shape, out->shape, x->shape);
    w.at[1] = op_int(op, ATTR_start) * x->shape->stride[op_int(op, ATTR_axis)];
    move(out, x, w);
}

void interpret_pad(Interpreter *in, const Op *op, Dense *out)
{
    const Dense *x = operand(in, op, 0);
    OracleWalk w = along(x->shape, out->shape, x->shape);
    w.at[0] = op_int(op, ATTR_start) * out->shape->stride[op_int(op, ATTR_axis)];
    move(out, x, w);
}

void interpret_flip(Interpreter *in, const Op *op, Dense *out)
{
    const Dense *x = operand(in, op, 0);
    int64_t axis = op_int(op, ATTR_axis);
    OracleWalk w = along(out->shape, out->shape, x->shape);
    w.at[1] = (x->shape->extent[axis] - 1) * x->shape->stride[axis];
    w.step[1][axis] = -w.step[1][axis];
    move(out, x, w);
}

void interpret_concat(Interpreter *in, const Op *op, Dense *out)
{
    int64_t axis = op_int(op, ATTR_axis), start = 0;
    for (int k = 0; k < op->n_args; k++) {
        const Dense *x = operand(in, op, k);
        OracleWalk w = along(x->shape, out->shape, x->shape);
        w.at[0] = start * out->shape->stride[axis];
        move(out, x, w);
        start += x->shape->extent[axis];
    }
}
