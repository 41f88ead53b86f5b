/* Gradients of ops that show the same elements under other coordinates. */
#include "passes/grad/grad.h"

void grad_reshape(Grad *g, Op *op, Value *dy)
{
    const Type *x = &op->args[0]->type;
    grad_give(g, op, 0, build_reshape(&g->b, dy, x->rank, x->dims));
}

void grad_transpose(Grad *g, Op *op, Value *dy)
{
    const Attr *perm = op_attr(op, ATTR_perm);
    int inverse[MAX_RANK];
    for (int i = 0; i < perm->n; i++)
        inverse[perm->ints[i]] = i;
    grad_give(g, op, 0, build_transpose(&g->b, dy, inverse));
}

void grad_broadcast(Grad *g, Op *op, Value *dy) { grad_give(g, op, 0, dy); }

void grad_slice(Grad *g, Op *op, Value *dy)
{
    int axis = (int)op_int(op, ATTR_axis);
    grad_give(
        g, op, 0,
        build_pad(&g->b, dy, axis, op_int(op, ATTR_start), op->args[0]->type.dims[axis].size));
}

void grad_pad(Grad *g, Op *op, Value *dy)
{
    int axis = (int)op_int(op, ATTR_axis);
    grad_give(
        g, op, 0,
        build_slice(&g->b, dy, axis, op_int(op, ATTR_start), op->args[0]->type.dims[axis].size));
}

void grad_concat(Grad *g, Op *op, Value *dy)
{
    int axis = (int)op_int(op, ATTR_axis);
    int64_t start = 0;
    for (int i = 0; i < op->n_args; i++) {
        int64_t size = op->args[i]->type.dims[axis].size;
        if (grad_wanted(g, op, i))
            grad_give(g, op, i, build_slice(&g->b, dy, axis, start, size));
        start += size;
    }
}

void grad_flip(Grad *g, Op *op, Value *dy)
{
    grad_give(g, op, 0, build_flip(&g->b, dy, (int)op_int(op, ATTR_axis)));
}
