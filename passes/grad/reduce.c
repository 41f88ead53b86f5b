/* Gradients of reductions and row operations. */
#include "passes/grad/grad.h"

void grad_reduce_sum(Grad *g, Op *op, Value *dy)
{
    const Type *x = &op->args[0]->type;
    grad_give(g, op, 0, build_broadcast(&g->b, dy, x->rank, x->dims));
}

/* To the greatest elements, shared equally between those that are equal. */
void grad_reduce_max(Grad *g, Op *op, Value *dy)
{
    Value *x = op->args[0];
    const Attr *axes = op_attr(op, ATTR_axes);
    Value *is_max = build_binary(&g->b, OP_eq, x, op_result(op));
    Value *one = build_select(&g->b, is_max, g_const(g, x, 1), g_const(g, x, 0));
    Value *count = build_reduce(&g->b, OP_reduce_sum, one, axes->n, axes->ints);
    Value *share = build_binary(&g->b, OP_div, dy, count);
    grad_give(g, op, 0, build_select(&g->b, is_max, share, g_const(g, x, 0)));
}

/* dx = p (dy - Σ dy p) along the row */
void grad_softmax(Grad *g, Op *op, Value *dy)
{
    Value *p = op_result(op);
    int last = p->type.rank - 1;
    Value *sum = build_reduce(&g->b, OP_reduce_sum, g_mul(g, dy, p), 1, &last);
    grad_give(g, op, 0, g_mul(g, p, g_sub(g, dy, sum)));
}

/* dx = e^(x - lse) dy; a row without a finite element gets none */
void grad_logsumexp(Grad *g, Op *op, Value *dy)
{
    Value *x = op->args[0], *lse = op_result(op);
    Value *finite =
        build_binary(&g->b, OP_max, lse, g_const(g, lse, dtype_lowest(lse->type.dtype)));
    Value *p = build_unary(&g->b, OP_exp, g_sub(g, x, finite));
    grad_give(g, op, 0, g_mul(g, p, dy));
}
