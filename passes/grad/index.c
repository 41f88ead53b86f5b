/* Gradients of gather and scatter_add, each the adjoint of the other. */
#include "passes/grad/grad.h"

#include <assert.h>

void grad_gather(Grad *g, Op *op, Value *dy)
{
    Dim rows = op->args[0]->type.dims[0];
    assert(dim_is_const(rows));
    grad_give(g, op, 0, build_scatter_add(&g->b, dy, op->args[1], rows.size));
}

void grad_scatter_add(Grad *g, Op *op, Value *dy)
{
    grad_give(g, op, 0, build_gather(&g->b, dy, op->args[1]));
}

/* Ops that are only made after differentiation, or end a function. */
void grad_none(Grad *g, Op *op, Value *dy) { assert(!"differentiated"); }
