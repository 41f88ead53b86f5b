/* SGD, Adam and AdamW, with clipping by norm, written as ops.
 *
 * Adam: Kingma & Ba 2015, algorithm 1. AdamW: Loshchilov & Hutter 2019,
 * algorithm 2 (decay scaled by the rate). Clipping: Pascanu et al. 2013, with
 * the 1e-6 that PyTorch's clip_grad_norm_ adds to the norm. */
#include "passes/optimizer.h"

#include "base/portable_math.h"

#include "passes/clone.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct Update {
    Builder b;
    const OptimizerSpec *spec;
    Value *rate;      /* scalar f64 */
    Value *correct_m; /* 1 / (1 - beta1^t), scalar f64 */
    Value *correct_v; /* 1 / sqrt(1 - beta2^t) */
    Value *factor;    /* on every gradient, scalar f64: that of clipping, else 1 */
    Value *finite;    /* whether loss and norm of the gradients are finite, scalar bool */
} Update;

static Value *constant(Update *u, Value *like, double value)
{
    return build_const(&u->b, like->type.dtype, value);
}

static Value *mul(Update *u, Value *x, Value *y) { return build_binary(&u->b, OP_mul, x, y); }
static Value *add_update(Update *u, Value *x, Value *y)
{
    return build_binary(&u->b, OP_add, x, y);
}
static Value *sub(Update *u, Value *x, Value *y) { return build_binary(&u->b, OP_sub, x, y); }
static Value *scale(Update *u, Value *x, double k) { return mul(u, x, constant(u, x, k)); }

/* What comes next belongs to the param: to its line and the optimizer's. */
static void turn_to(Update *u, const Value *param)
{
    Arena *arena = u->b.function->module->arena;
    u->b.loc = loc_join(arena, param->op->loc, u->spec->loc);
    u->b.scope = arena_printf(arena, "optimizer.%s", op_string(param->op, ATTR_name));
}

static void turn_to_all(Update *u)
{
    u->b.loc = u->spec->loc;
    u->b.scope = "optimizer";
}

const char *const *optimizer_slots(const OptimizerSpec *spec)
{
    static const char *const both[] = {"m", "v", NULL}, *const momentum[] = {"m", NULL},
                             *const none[] = {NULL};
    return spec->kind != OPTIMIZER_SGD ? both : spec->momentum > 0 ? momentum : none;
}

const char *optimizer_slot_name(Arena *arena, const char *kind, const char *param)
{
    return arena_printf(arena, OPTIMIZER_SLOTS "%s.%s", kind, param);
}

bool optimizer_is_slot(const char *name)
{
    return !strncmp(name, OPTIMIZER_SLOTS, strlen(OPTIMIZER_SLOTS));
}

static const ParamInfo *slot(Module *module, const char *kind, const Value *param)
{
    const char *name = optimizer_slot_name(module->arena, kind, op_string(param->op, ATTR_name));
    const ParamInfo *info = module_param(module, name);
    if (info)
        return info;
    return module_add_param(
        module,
        (ParamInfo){.name = name, .type = param->type, .role = PARAM_SLOT, .init = INIT_ZEROS});
}

/* Σ g² of the gradients of one type, from gradient `first` on, scalar f64: element by element
 * first, so that it is one reduction; in f64, where no square of an f32 overflows. `done` marks
 * them. */
static Value *sum_squares(Update *u, int n, Value *const *params, Value *const *gradients,
                          int first, bool *done)
{
    const Type *type = &gradients[first]->type;
    Value *squares = NULL;
    int axes[MAX_RANK];
    turn_to(u, params[first]);
    for (int i = first; i < n; i++) {
        if (done[i] || !type_equal(&gradients[i]->type, type))
            continue;
        if (squares)
            turn_to_all(u); /* it belongs to more than one */
        Value *wide = build_cast(&u->b, gradients[i], DT_F64), *square = mul(u, wide, wide);
        squares = squares ? add_update(u, squares, square) : square;
        done[i] = true;
    }
    for (int a = 0; a < type->rank; a++)
        axes[a] = a;
    Value *sum = build_reduce(&u->b, OP_reduce_sum, squares, type->rank, axes);
    sum = build_reshape(&u->b, sum, 0, NULL);
    turn_to_all(u);
    return sum;
}

/* sqrt(Σ g²) over all gradients, scalar f64 */
static Value *global_norm(Update *u, int n, Value *const *params, Value *const *gradients)
{
    Value *total = NULL;
    bool *done = ARENA_ARRAY(u->b.function->module->arena, bool, n);
    for (int i = 0; i < n; i++) {
        if (done[i])
            continue;
        Value *sum = sum_squares(u, n, params, gradients, i, done);
        total = total ? add_update(u, total, sum) : sum;
    }
    return total ? build_unary(&u->b, OP_sqrt, total) : NULL;
}

/* 1 - beta^t */
static Value *bias_correction(Update *u, Value *step, double beta)
{
    Value *power = build_unary(&u->b, OP_exp, scale(u, step, portable_log(beta)));
    return sub(u, constant(u, step, 1), power);
}

/* The param or slot takes its new value, unless the loss, the gradient or what the update makes of
 * it is not finite: then all of them stay as they are, and the outputs loss and gradient_norm
 * tell. */
static void assign(Update *u, Value *param, Value *value)
{
    build_assign(&u->b, param, build_select(&u->b, u->finite, value, param));
}

static Value *is_below(Update *u, Value *x, double limit)
{
    return build_binary(&u->b, OP_lt, build_unary(&u->b, OP_abs, x), constant(u, x, limit));
}

static Value *is_finite(Update *u, Value *x) { return is_below(u, x, INFINITY); }

/* So do the states that the model itself assigns. */
static void hold_assigns(Update *u)
{
    Function *function = u->b.function;
    VEC(Op *) assigns = {0};
    FOR_OPS (op, &function->body)
        if (op->kind == OP_assign)
            vec_push(function->module->arena, assigns, op);
    for (size_t i = 0; i < assigns.count; i++) {
        Op *op = assigns.data[i];
        u->b.loc = op->loc;
        u->b.scope = op->scope;
        block_remove(&function->body, op);
        assign(u, op->args[0], op->args[1]);
    }
}

void hold_states(Function *function, Value *norm)
{
    Update u = {.b = builder_at_end(function)};
    u.finite = is_finite(&u, norm);
    hold_assigns(&u);
}

static Value *both(Update *u, Value *x, Value *y) { return build_binary(&u->b, OP_and, x, y); }

/* The largest number that an update makes of gradients of this norm on the way to what it adds to
 * an element, as multiples of the rate: all that momentum keeps of them; of Adam the mean,
 * corrected, before it is divided, and the change itself (Kingma & Ba 2015, section 2.1). */
static Value *largest_change(Update *u, Value *norm)
{
    const OptimizerSpec *spec = u->spec;
    if (spec->kind == OPTIMIZER_SGD)
        return scale(u, norm, 1 / (1 - spec->momentum));
    Value *change = constant(u, norm, fmax(1, (1 - spec->beta1) / sqrt(1 - spec->beta2)));
    return build_binary(&u->b, OP_max, scale(u, norm, 1 / (1 - spec->beta1)), change);
}

/* Whether these stay within f32: the reported norm, the squares of clipped gradients in Adam's
 * slots, and the change of the params. */
static Value *is_in_range(Update *u, Value *norm)
{
    const double largest = FLT_MAX,
                 of_gradient = u->spec->kind == OPTIMIZER_SGD ? largest : sqrt(largest);
    Value *clipped = mul(u, norm, u->factor);
    Value *change = mul(u, u->rate, largest_change(u, clipped));
    return both(u, is_below(u, norm, largest),
                both(u, is_below(u, clipped, of_gradient), is_below(u, change, largest)));
}

static void update_sgd(Update *u, Value *param, Value *gradient, Value *rate)
{
    const char *const *kinds = optimizer_slots(u->spec);
    if (kinds[0]) {
        Value *m = build_new_param(&u->b, slot(u->b.function->module, kinds[0], param));
        gradient = add_update(u, scale(u, m, u->spec->momentum), gradient);
        assign(u, m, gradient);
    }
    assign(u, param, sub(u, param, mul(u, gradient, rate)));
}

static void update_adam(Update *u, Value *param, Value *gradient, Value *rate)
{
    const OptimizerSpec *spec = u->spec;
    Module *module = u->b.function->module;
    const char *const *kinds = optimizer_slots(spec);
    Value *m = build_new_param(&u->b, slot(module, kinds[0], param));
    Value *v = build_new_param(&u->b, slot(module, kinds[1], param));
    Value *new_m = add_update(u, scale(u, m, spec->beta1), scale(u, gradient, 1 - spec->beta1));
    Value *new_v = add_update(u, scale(u, v, spec->beta2),
                              scale(u, mul(u, gradient, gradient), 1 - spec->beta2));
    Value *root = mul(u, build_unary(&u->b, OP_sqrt, new_v),
                      build_cast(&u->b, u->correct_v, param->type.dtype));
    Value *step_size = build_cast(&u->b, mul(u, u->rate, u->correct_m), param->type.dtype);
    Value *change = build_binary(&u->b, OP_div, mul(u, new_m, step_size),
                                 add_update(u, root, constant(u, root, spec->eps)));
    Value *from = param;
    if (spec->kind == OPTIMIZER_ADAMW && spec->weight_decay > 0 &&
        module_param(module, op_string(param->op, ATTR_name))->decay)
        from = sub(u, param, mul(u, param, scale(u, rate, spec->weight_decay)));
    assign(u, m, new_m);
    assign(u, v, new_v);
    assign(u, param, sub(u, from, change));
}

static Value *prepare(Update *u, Value *param, Value *gradient)
{
    gradient = mul(u, gradient, build_cast(&u->b, u->factor, gradient->type.dtype));
    const ParamInfo *info = module_param(u->b.function->module, op_string(param->op, ATTR_name));
    if (u->spec->kind != OPTIMIZER_ADAMW && u->spec->weight_decay > 0 && info->decay)
        gradient = add_update(u, gradient, scale(u, param, u->spec->weight_decay));
    return gradient;
}

/* On every gradient, scalar f64. */
static Value *clip_factor(Update *u, Value *norm)
{
    Value *one = constant(u, norm, 1);
    if (u->spec->clip_norm <= 0)
        return one;
    Value *sum = add_update(u, norm, constant(u, norm, 1e-6));
    return build_binary(&u->b, OP_min,
                        build_binary(&u->b, OP_div, constant(u, norm, u->spec->clip_norm), sum),
                        one);
}

void build_optimizer(Function *function, const OptimizerSpec *spec, int n, Value *const *params,
                     Value *const *gradients, Value *norm)
{
    Update u = {.b = builder_at_end(function), .spec = spec};
    turn_to_all(&u);
    u.rate = build_cast(&u.b, build_input(&u.b, "rate", type_scalar(DT_F32)), DT_F64);
    Value *step = build_cast(&u.b, build_input(&u.b, "step", type_scalar(DT_F32)), DT_F64);
    if (!norm)
        norm = global_norm(&u, n, params, gradients);
    if (norm) {
        const Op *loss = find_output(function, "loss"); /* an `update` has none */
        u.factor = clip_factor(&u, norm);
        Value *in_range = is_in_range(&u, norm);
        u.finite = loss ? both(&u, in_range, is_finite(&u, loss->args[0])) : in_range;
        norm = build_select(&u.b, in_range, norm,
                            build_binary(&u.b, OP_max, norm, constant(&u, norm, INFINITY)));
        if (spec->clip_norm <=
            0) /* what slots become is computed behind the norm, in one region with the update */
            u.factor = build_cast(&u.b, u.finite, DT_F64);
        hold_assigns(&u);
        turn_to_all(&u);
    }
    if (spec->kind != OPTIMIZER_SGD) {
        Value *one = constant(&u, step, 1);
        u.correct_m = build_binary(&u.b, OP_div, one, bias_correction(&u, step, spec->beta1));
        u.correct_v = build_unary(&u.b, OP_rsqrt, bias_correction(&u, step, spec->beta2));
    }
    for (int i = 0; i < n; i++) {
        turn_to(&u, params[i]);
        Value *gradient = prepare(&u, params[i], gradients[i]);
        Value *rate = build_cast(&u.b, u.rate, params[i]->type.dtype);
        (spec->kind == OPTIMIZER_SGD ? update_sgd : update_adam)(&u, params[i], gradient, rate);
    }
    turn_to_all(&u);
    if (norm)
        build_output(&u.b, "gradient_norm", build_cast(&u.b, norm, DT_F32));
}
