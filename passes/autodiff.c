/* Autodiff: one walk back over the ops, each handing its operands their part.
 *
 *   %2 = mul %0, %1          d%2 given
 *                       ⇒    d%0 += mul d%2, %1
 *                            d%1 += mul d%2, %0
 *
 * The gradients are ordinary ops behind the forward's and go through the same
 * fusion and planning. Requires: no regions yet. */
#include "passes/derive.h"

#include "passes/grad/grad.h"

#include <assert.h>

static GradRule *const rules[OP_COUNT] = {
#define OP(name, arity, family, infer, grad, ...) [OP_##name] = grad_##grad,
#include "ir/ops.def"
};

typedef struct Need {
    bool wanted;     /* a value asked for lies below */
    Value *gradient; /* so far */
} Need;

static Need *need_of(const Grad *g, const Value *value) { return side_of_value(&g->needs, value); }

bool grad_wanted(const Grad *g, const Op *op, int arg)
{
    const Need *need = need_of(g, op->args[arg]);
    return need && need->wanted;
}

void grad_give(Grad *g, Op *op, int arg, Value *dx)
{
    Value *x = op->args[arg];
    Need *need = need_of(g, x);
    assert(dx);
    if (!grad_wanted(g, op, arg))
        return;
    dx = build_sum_to(&g->b, dx, &x->type);
    dx = build_broadcast(&g->b, dx, x->type.rank, x->type.dims);
    need->gradient = need->gradient ? g_add(g, need->gradient, dx) : dx;
}

static void mark_needs(Grad *g, int n, Value *const *wrt)
{
    const Function *function = g->b.function;
    Arena *arena = function->module->arena;
    FOR_OPS (op, &function->body)
        for (int r = 0; r < op->n_results; r++)
            side_set_value(&g->needs, &op->results[r], ARENA_NEW(arena, Need));
    for (int i = 0; i < n; i++)
        need_of(g, wrt[i])->wanted = true;
    FOR_OPS (op, &function->body)
        for (int a = 0; a < op->n_args && op->n_results; a++)
            if (grad_wanted(g, op, a) && rules[op->kind] != grad_zero &&
                dtype_is_float(op->results[0].type.dtype))
                need_of(g, &op->results[0])->wanted = true;
}

void autodiff(Function *function, Value *loss, Value *scale, int n, Value *const *wrt, Value **out)
{
    Op *last = function->body.last;
    Grad g = {.b = builder_at_end(function), .needs = side_new(function->module->arena)};
    mark_needs(&g, n, wrt);
    need_of(&g, loss)->gradient = scale;
    for (Op *op = last; op; op = op->previous) {
        const Need *need = op->n_results ? need_of(&g, &op->results[0]) : NULL;
        if (!need || !need->wanted || !need->gradient)
            continue;
        g.b.loc = op->loc;
        g.b.scope = op->scope;
        rules[op->kind](&g, op, need->gradient);
    }
    g.b = builder_at_end(function);
    for (int i = 0; i < n; i++) {
        const Need *need = need_of(&g, wrt[i]);
        out[i] = need->gradient ? need->gradient : build_const_of(&g.b, wrt[i]->type, 0);
    }
}
