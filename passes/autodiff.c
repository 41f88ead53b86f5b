/* Autodiff: one walk back over the ops, each handing its operands their part.
 *
 *   %2 = mul %0, %1          d%2 given
 *                       ⇒    d%0 += mul d%2, %1
 *                            d%1 += mul d%2, %0
 *
 * The gradients are ordinary ops behind the forward's and go through the same
 * fusion and planning. Requires: no regions yet. Value.scratch holds Need while
 * this runs. */
#include "passes/autodiff.h"

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

bool grad_wanted(const Op *op, int arg)
{
    Need *need = op->args[arg]->scratch;
    return need && need->wanted;
}

void grad_give(Grad *g, Op *op, int arg, Value *dx)
{
    Value *x = op->args[arg];
    Need *need = x->scratch;
    assert(dx);
    if (!grad_wanted(op, arg))
        return;
    dx = build_sum_to(&g->b, dx, &x->type);
    dx = build_broadcast(&g->b, dx, x->type.rank, x->type.dims);
    need->gradient = need->gradient ? g_add(g, need->gradient, dx) : dx;
}

static void mark_needs(Function *function, int n, Value *const *wrt)
{
    Arena *arena = function->module->arena;
    FOR_OPS(op, &function->body)
        for (int r = 0; r < op->n_results; r++)
            op->results[r].scratch = ARENA_NEW(arena, Need);
    for (int i = 0; i < n; i++)
        ((Need *)wrt[i]->scratch)->wanted = true;
    FOR_OPS(op, &function->body)
        for (int a = 0; a < op->n_args && op->n_results; a++)
            if (grad_wanted(op, a) && rules[op->kind] != grad_zero &&
                dtype_is_float(op->results[0].type.dtype))
                ((Need *)op->results[0].scratch)->wanted = true;
}

void autodiff(Function *function, Value *loss, Value *scale, int n, Value *const *wrt, Value **out)
{
    mark_needs(function, n, wrt);
    Op *last = function->body.last;
    Grad g = {.b = builder_at_end(function)};
    Need *top = loss->scratch;
    top->gradient = scale;
    for (Op *op = last; op; op = op->previous) {
        Need *need = op->n_results ? op->results[0].scratch : NULL;
        if (!need || !need->wanted || !need->gradient)
            continue;
        g.b.loc = op->loc;
        g.b.scope = op->scope;
        rules[op->kind](&g, op, need->gradient);
    }
    g.b = builder_at_end(function);
    for (int i = 0; i < n; i++) {
        Need *need = wrt[i]->scratch;
        out[i] = need->gradient ? need->gradient : build_const_of(&g.b, wrt[i]->type, 0);
    }
}
