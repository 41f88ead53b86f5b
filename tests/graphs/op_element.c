/* Elementwise ops at random. */
#include "tests/graphs/grow.h"

#include <math.h>

Item *grow_unary(Grow *g)
{
    static const OpKind kinds[] = {OP_neg,   OP_abs,   OP_exp,   OP_log,           OP_sqrt,
                                   OP_rsqrt, OP_tanh,  OP_erf,   OP_sin,           OP_sigmoid,
                                   OP_cos,   OP_relu,  OP_floor, OP_stop_gradient, OP_relu,
                                   OP_exp,   OP_expm1, OP_log1p};
    static const OpKind of_ints[] = {OP_neg, OP_abs, OP_relu, OP_stop_gradient};
    Item *x = pick(g, is_number);
    if (!x)
        return NULL;
    DType dtype = x->value->type.dtype;
    if (!dtype_is_float(dtype))
        return unary(g, RNG_PICK(&g->rng, of_ints), x);
    if (rng_chance(&g->rng, 6)) {
        static const double rates[] = {0.1, 0.5, 0.25, 0};
        double rate = RNG_PICK(&g->rng, rates);
        return add_item(g, build_dropout(&g->b, x->value, rate, g->n_sites++),
                        fmin(x->lo / (1 - rate), 0), fmax(x->hi / (1 - rate), 0));
    }
    OpKind kind = RNG_PICK(&g->rng, kinds);
    switch (kind) {
    case OP_exp:
    case OP_expm1: x = tamed(g, x, 4); break;
    case OP_log1p:
    case OP_log:
    case OP_sqrt:
    case OP_rsqrt: x = positive(g, x, 0.25); break;
    case OP_sin:
    case OP_cos: x = tamed(g, x, 50); break;
    default: break;
    }
    return unary(g, kind, x);
}

static bool broadcasts(Grow *g, const Type *x, const Type *y)
{
    int rank = x->rank > y->rank ? x->rank : y->rank;
    Type all = type_scalar(x->dtype);
    all.rank = rank;
    for (int i = 1; i <= rank; i++) {
        Dim a = i <= x->rank ? x->dims[x->rank - i] : dim_const(1);
        Dim b = i <= y->rank ? y->dims[y->rank - i] : dim_const(1);
        if (!dim_equal(a, b) && !dim_is_one(a) && !dim_is_one(b))
            return false;
        all.dims[rank - i] = dim_is_one(a) ? b : a;
    }
    return type_fits(g, &all) && rank <= 6;
}

/* An item that broadcasts against x: one before, a part of x reduced, a leaf, a constant. */
static Item *partner(Grow *g, Item *x, DType dtype)
{
    int n = (int)g->items.count, from = rng_below(&g->rng, n);
    if (rng_chance(&g->rng, 55))
        for (int i = 0; i < n; i++) {
            Item *y = &g->items.data[(from + i) % n];
            if (y->value->type.dtype == dtype && is_finite(y) &&
                (y != x || rng_chance(&g->rng, 10)) &&
                broadcasts(g, &x->value->type, &y->value->type) &&
                (y->value->type.rank > 0 || rng_chance(&g->rng, 15)))
                return y;
        }
    if (rng_chance(&g->rng, 18) && dtype_is_float(dtype)) {
        static const double neutral[] = {0, 1, -1, 2};
        return constant(g, dtype,
                        rng_chance(&g->rng, 60) ? RNG_PICK(&g->rng, neutral)
                                                : rng_between(&g->rng, -8, 8) / 4.0);
    }
    Type type = thinned(g, x->value->type);
    type.dtype = dtype;
    return found_or_leaf(g, type);
}

/* A power: of whole constants, or of what is positive. */
static Item *power(Grow *g, Item *x, Item *y)
{
    static const double whole[] = {2, 3, 0, 1, -1, -2, 4};
    if (rng_chance(&g->rng, 50)) {
        double b = RNG_PICK(&g->rng, whole);
        x = tamed(g, b < 0 ? positive(g, x, 0.5) : x, 8);
        Item *z = x ? binary(g, OP_pow, x, constant(g, x->value->type.dtype, b)) : NULL;
        if (z) {
            z->hi = pow(fmax(reach(x), 2), fabs(b)) + 1;
            z->lo = -z->hi;
        }
        return z;
    }
    x = positive(g, tamed(g, x, 4), 0.5);
    return x ? binary(g, OP_pow, x, tamed(g, y, 2)) : NULL;
}

/* A sum, product or power of integers that may wrap around. */
static Item *wrapping(Grow *g, Item *x, Item *y)
{
    static const OpKind kinds[] = {OP_add, OP_sub, OP_mul, OP_pow};
    static const double far[] = {INT32_MAX, INT32_MIN, 65537, 1e9, -2e9, INT32_MAX - 1.0};
    if (rng_chance(&g->rng, 15))
        return binary(g, OP_pow, x, y);
    return binary(g, RNG_PICK(&g->rng, kinds), x, constant(g, DT_I32, RNG_PICK(&g->rng, far)));
}

Item *grow_binary(Grow *g)
{
    static const OpKind kinds[] = {OP_add, OP_sub, OP_mul, OP_div, OP_pow,
                                   OP_max, OP_min, OP_add, OP_sub, OP_mul};
    static const OpKind compares[] = {OP_lt, OP_le, OP_eq};
    Item *x = pick(g, is_number);
    Item *y = x ? partner(g, x, x->value->type.dtype) : NULL;
    if (!y)
        return NULL;
    bool ints = !dtype_is_float(x->value->type.dtype);
    if (ints && rng_chance(&g->rng, 10))
        return wrapping(g, x, y);
    if (rng_chance(&g->rng, ints ? 50 : 7))
        return binary(g, RNG_PICK(&g->rng, compares), x, y);
    OpKind kind = RNG_PICK(&g->rng, kinds);
    if (rng_chance(&g->rng, 50)) {
        Item *other = x;
        x = y, y = other;
    }
    if (kind == OP_pow)
        return ints ? NULL : power(g, x, y);
    double most = ints ? 1000 : 1e4;
    x = tamed(g, x, most);
    y = tamed(g, y, most);
    if (kind == OP_div)
        y = positive(g, y, ints ? 1 : 0.25);
    return binary(g, kind, x, y);
}

/* A truth value of this shape or one that broadcasts to it. */
static Item *truth_for(Grow *g, const Type *type)
{
    int n = (int)g->items.count, from = rng_below(&g->rng, n);
    for (int i = 0; i < n && rng_chance(&g->rng, 95); i++) {
        Item *c = &g->items.data[(from + i) % n];
        if (is_truth(c) && broadcasts(g, &c->value->type, type))
            return c;
    }
    Type thin = thinned(g, *type);
    thin.dtype = DT_BOOL;
    if (rng_chance(&g->rng, 50) && thin.rank) { /* of positions */
        int a = rng_below(&g->rng, thin.rank), b = rng_below(&g->rng, thin.rank);
        static const OpKind kinds[] = {OP_lt, OP_le, OP_eq};
        return binary(g, RNG_PICK(&g->rng, kinds), positions(g, thin.dims[a], a, thin.rank),
                      a == b ? constant(g, DT_I32, rng_below(&g->rng, 4))
                             : positions(g, thin.dims[b], b, thin.rank));
    }
    return leaf(g, thin);
}

Item *grow_logic(Grow *g)
{
    Item *x = pick(g, is_truth);
    if (!x) {
        Item *of = pick(g, is_any);
        return of ? truth_for(g, &of->value->type) : NULL;
    }
    if (rng_chance(&g->rng, 30))
        return unary(g, OP_not, x);
    return binary(g, rng_chance(&g->rng, 50) ? OP_and : OP_or, x, truth_for(g, &x->value->type));
}

Item *grow_select(Grow *g)
{
    Item *x = pick(g, is_any);
    if (!x)
        return NULL;
    Item *c = truth_for(g, &x->value->type);
    if (rng_chance(&g->rng, 25) && is_float(x) && !g->smooth &&
        c) { /* a mask: what sees it must know -inf */
        Item *masked = chosen(g, c, x, constant(g, x->value->type.dtype, -INFINITY));
        int last = masked ? masked->value->type.rank - 1 : -1;
        if (last < 0)
            return NULL;
        if (rng_chance(&g->rng, 30))
            return unary(g, OP_exp, tamed(g, x, 4) == x ? masked : NULL);
        if (rng_chance(&g->rng, 50))
            return finite(g, reduced(g, OP_reduce_max, masked, 1, &last));
        Value *sum =
            build_unary(&g->b, rng_chance(&g->rng, 50) ? OP_softmax : OP_logsumexp, masked->value);
        Item *y = add_item(g, sum, -INFINITY,
                           x->hi + log((double)dim_extent(g, masked->value->type.dims[last]) + 1));
        if (y && sum->op->kind == OP_softmax)
            y->lo = 0, y->hi = 1;
        return finite(g, y);
    }
    Item *y = partner(g, x, x->value->type.dtype);
    return rng_chance(&g->rng, 50) ? chosen(g, c, x, y) : chosen(g, c, y, x);
}

Item *grow_cast(Grow *g)
{
    static const DType types[] = {DT_F32, DT_BF16, DT_I32, DT_BOOL, DT_BF16, DT_F32};
    Item *x = pick(g, is_any);
    if (!x)
        return NULL;
    DType from = x->value->type.dtype, to = g->real;
    if (g->mixed && rng_chance(&g->rng, 70))
        to = RNG_PICK(&g->rng, types);
    else if (from == g->real)
        to = rng_chance(&g->rng, 50) ? DT_I32 : DT_BOOL;
    if (to == from)
        return NULL;
    if (to == DT_I32 || to == DT_BF16)
        x = tamed(g, x, 1e4);
    if (to == DT_BOOL && dtype_is_float(from) && !rng_chance(&g->rng, 20))
        x = unary(g, OP_floor, x); /* near zero it may go either way */
    return cast_to(g, x, to);
}
