/* Gradient rules, one a name in the grad column of ops.def:
 *
 *   void grad_RULE(Grad *g, Op *op, Value *dy)
 *
 * dy is the gradient with respect to the op's result. The rule gives each operand through which a
 * gradient flows its part by grad_give; it may skip operands for which grad_wanted is false. Rules
 * append ops at g->b, after every op of the forward. */
#ifndef PASSES_GRAD_GRAD_H
#define PASSES_GRAD_GRAD_H

#include "ir/builder.h"
#include "ir/side.h"

typedef struct Grad {
    Builder b;
    SideTable needs; /* value of the forward → its Need (autodiff.c) */
} Grad;

typedef void GradRule(Grad *g, Op *op, Value *dy);
#define OP(name, arity, family, infer, grad, ...) GradRule grad_##grad;
#include "ir/ops.def"

/* Whether the operand is a value whose gradient was asked for, or passes a gradient on to one. */
bool grad_wanted(const Grad *g, const Op *op, int arg);
/* Adds dx to the gradient of the operand, if grad_wanted. The shape of dx may differ from the
 * operand's: dx is summed over axes along which the operand was broadcast, and broadcast along axes
 * where dx alone is 1. */
void grad_give(Grad *g, Op *op, int arg, Value *dx);

/* Shorthands for the rules. */
static inline Value *g_mul(Grad *g, Value *x, Value *y)
{
    return build_binary(&g->b, OP_mul, x, y);
}
static inline Value *g_add(Grad *g, Value *x, Value *y)
{
    return build_binary(&g->b, OP_add, x, y);
}
static inline Value *g_sub(Grad *g, Value *x, Value *y)
{
    return build_binary(&g->b, OP_sub, x, y);
}
static inline Value *g_neg(Grad *g, Value *x) { return build_unary(&g->b, OP_neg, x); }
static inline Value *g_const(Grad *g, const Value *like, double value)
{
    return build_const(&g->b, like->type.dtype, value);
}
static inline Value *g_scale(Grad *g, Value *x, double factor)
{
    return g_mul(g, x, g_const(g, x, factor));
}

#endif
