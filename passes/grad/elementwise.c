/* Gradients of elementwise ops. Each line is the chain rule; broadcasting is
 * undone by grad_give. */
#include "passes/grad/grad.h"

void grad_zero(Grad *g, Op *op, Value *dy) {}

void grad_neg(Grad *g, Op *op, Value *dy) { grad_give(g, op, 0, g_neg(g, dy)); }

/* d|a| = sign(a) da, 0 at 0 */
void grad_abs(Grad *g, Op *op, Value *dy)
{
    Value *a = op->args[0], *zero = g_const(g, a, 0);
    Value *below = build_binary(&g->b, OP_lt, a, zero),
          *above = build_binary(&g->b, OP_lt, zero, a);
    grad_give(g, op, 0,
              build_select(&g->b, below, g_neg(g, dy), build_select(&g->b, above, dy, zero)));
}

void grad_exp(Grad *g, Op *op, Value *dy) { grad_give(g, op, 0, g_mul(g, dy, op_result(op))); }

void grad_log(Grad *g, Op *op, Value *dy)
{
    grad_give(g, op, 0, build_binary(&g->b, OP_div, dy, op->args[0]));
}

/* d (e^a - 1) = e^a */
void grad_expm1(Grad *g, Op *op, Value *dy)
{
    grad_give(g, op, 0, g_mul(g, dy, build_unary(&g->b, OP_exp, op->args[0])));
}

/* d log(1 + a) = da / (1 + a) */
void grad_log1p(Grad *g, Op *op, Value *dy)
{
    Value *a = op->args[0];
    grad_give(g, op, 0, build_binary(&g->b, OP_div, dy, g_add(g, g_const(g, a, 1), a)));
}

/* d sqrt(a) = da / (2 sqrt(a)) */
void grad_sqrt(Grad *g, Op *op, Value *dy)
{
    grad_give(g, op, 0, build_binary(&g->b, OP_div, g_scale(g, dy, 0.5), op_result(op)));
}

/* d a^-½ = -½ a^-3/2 da = -½ y³ da */
void grad_rsqrt(Grad *g, Op *op, Value *dy)
{
    Value *y = op_result(op);
    grad_give(g, op, 0, g_mul(g, g_scale(g, dy, -0.5), g_mul(g, y, g_mul(g, y, y))));
}

/* d tanh = 1 - tanh² */
void grad_tanh(Grad *g, Op *op, Value *dy)
{
    Value *y = op_result(op);
    grad_give(g, op, 0, g_mul(g, dy, g_sub(g, g_const(g, y, 1), g_mul(g, y, y))));
}

/* d erf(a) = 2/√π e^(-a²) */
void grad_erf(Grad *g, Op *op, Value *dy)
{
    Value *a = op->args[0];
    Value *bell = build_unary(&g->b, OP_exp, g_neg(g, g_mul(g, a, a)));
    grad_give(g, op, 0, g_mul(g, dy, g_scale(g, bell, 1.1283791670955126 /* 2/√π */)));
}

/* d σ = σ (1 - σ) */
void grad_sigmoid(Grad *g, Op *op, Value *dy)
{
    Value *y = op_result(op);
    grad_give(g, op, 0, g_mul(g, dy, g_mul(g, y, g_sub(g, g_const(g, y, 1), y))));
}

void grad_sin(Grad *g, Op *op, Value *dy)
{
    grad_give(g, op, 0, g_mul(g, dy, build_unary(&g->b, OP_cos, op->args[0])));
}

void grad_cos(Grad *g, Op *op, Value *dy)
{
    grad_give(g, op, 0, g_neg(g, g_mul(g, dy, build_unary(&g->b, OP_sin, op->args[0]))));
}

/* from the result, which is kept anyway: y > 0 where a > 0 */
void grad_relu(Grad *g, Op *op, Value *dy)
{
    Value *zero = g_const(g, dy, 0);
    Value *on = build_binary(&g->b, OP_lt, zero, op_result(op));
    grad_give(g, op, 0, build_select(&g->b, on, dy, zero));
}

void grad_cast(Grad *g, Op *op, Value *dy)
{
    DType from = op->args[0]->type.dtype;
    if (dtype_is_float(from))
        grad_give(g, op, 0, build_cast(&g->b, dy, from));
}

/* the same mask, drawn again from the same site */
void grad_dropout(Grad *g, Op *op, Value *dy)
{
    grad_give(g, op, 0,
              build_dropout(&g->b, dy, op_float(op, ATTR_rate), (int)op_int(op, ATTR_site)));
}

void grad_add(Grad *g, Op *op, Value *dy)
{
    grad_give(g, op, 0, dy);
    grad_give(g, op, 1, dy);
}

void grad_sub(Grad *g, Op *op, Value *dy)
{
    grad_give(g, op, 0, dy);
    if (grad_wanted(g, op, 1))
        grad_give(g, op, 1, g_neg(g, dy));
}

void grad_mul(Grad *g, Op *op, Value *dy)
{
    if (op->args[0] == op->args[1]) {
        grad_give(g, op, 0, g_mul(g, dy, g_scale(g, op->args[0], 2)));
        return;
    }
    for (int i = 0; i < 2; i++)
        if (grad_wanted(g, op, i))
            grad_give(g, op, i, g_mul(g, dy, op->args[1 - i]));
}

/* d(a/b) = da/b - y db/b */
void grad_div(Grad *g, Op *op, Value *dy)
{
    Value *quotient = build_binary(&g->b, OP_div, dy, op->args[1]);
    grad_give(g, op, 0, quotient);
    if (grad_wanted(g, op, 1))
        grad_give(g, op, 1, g_neg(g, g_mul(g, quotient, op_result(op))));
}

static bool is_constant(const Value *x) { return x->op->kind == OP_const; }

/* b a^(b-1), and 0 for b = 0: a^0 is 1 at every a, 0 included. */
static Value *slope_of_base(Grad *g, Value *a, Value *b)
{
    Value *zero = g_const(g, b, 0), *less = g_sub(g, b, g_const(g, b, 1));
    Value *slope = g_mul(g, b, build_binary(&g->b, OP_pow, a, less));
    return is_constant(b) ? slope
                          : build_select(&g->b, build_binary(&g->b, OP_eq, b, zero), zero, slope);
}

/* a^b log(a), and its limit 0 for a = 0 and b > 0; 0^0 is as it. */
static Value *slope_of_exponent(Grad *g, Value *a, Value *b, Value *power)
{
    Value *zero = g_const(g, a, 0), *slope = g_mul(g, power, build_unary(&g->b, OP_log, a));
    if (is_constant(a) && op_float(a->op, ATTR_value) != 0)
        return slope;
    Value *no_slope = build_binary(&g->b, OP_and, build_binary(&g->b, OP_eq, a, zero),
                                   build_binary(&g->b, OP_le, zero, b));
    return build_select(&g->b, no_slope, zero, slope);
}

void grad_pow(Grad *g, Op *op, Value *dy)
{
    Value *a = op->args[0], *b = op->args[1];
    bool flat = is_constant(b) && op_float(b->op, ATTR_value) == 0;
    if (!flat && grad_wanted(g, op, 0))
        grad_give(g, op, 0, g_mul(g, dy, slope_of_base(g, a, b)));
    if (grad_wanted(g, op, 1))
        grad_give(g, op, 1, g_mul(g, dy, slope_of_exponent(g, a, b, op_result(op))));
}

/* To the one that was chosen; both get half where they are equal. */
static void give_extreme(Grad *g, Op *op, Value *dy, bool greater)
{
    Value *a = op->args[0], *b = op->args[1], *zero = g_const(g, dy, 0);
    Value *equal = build_binary(&g->b, OP_eq, a, b), *half = g_scale(g, dy, 0.5);
    for (int i = 0; i < 2; i++) {
        if (!grad_wanted(g, op, i))
            continue;
        bool chosen_if_less = greater == (i == 1);
        Value *chosen =
            chosen_if_less ? build_binary(&g->b, OP_lt, a, b) : build_binary(&g->b, OP_lt, b, a);
        Value *whole = build_select(&g->b, chosen, dy, zero);
        grad_give(g, op, i, build_select(&g->b, equal, half, whole));
    }
}

void grad_max(Grad *g, Op *op, Value *dy) { give_extreme(g, op, dy, true); }
void grad_min(Grad *g, Op *op, Value *dy) { give_extreme(g, op, dy, false); }

void grad_select(Grad *g, Op *op, Value *dy)
{
    Value *zero = g_const(g, dy, 0);
    if (grad_wanted(g, op, 1))
        grad_give(g, op, 1, build_select(&g->b, op->args[0], dy, zero));
    if (grad_wanted(g, op, 2))
        grad_give(g, op, 2, build_select(&g->b, op->args[0], zero, dy));
}
