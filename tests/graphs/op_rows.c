/* Reductions and row operations at random. */
#include "tests/graphs/grow.h"

#include <math.h>

static bool has_rank(const Item *item) { return is_number(item) && item->value->type.rank > 0; }
static bool is_row(const Item *item) { return is_float(item) && item->value->type.rank > 0; }

Item *grow_reduce(Grow *g)
{
    Item *x = pick(g, has_rank);
    if (!x)
        return NULL;
    const Type *type = &x->value->type;
    int axes[MAX_RANK], n = 0;
    if (rng_chance(&g->rng, 45))
        axes[n++] = type->rank - 1;
    else
        for (int i = 0; i < type->rank; i++)
            if (rng_chance(&g->rng, 50))
                axes[n++] = i;
    if (!n)
        axes[n++] = rng_below(&g->rng, type->rank);
    if (n > 1 && rng_chance(&g->rng, 20)) { /* in any order */
        int first = axes[0];
        axes[0] = axes[n - 1];
        axes[n - 1] = first;
    }
    bool sum = rng_chance(&g->rng, 65), empty = false;
    for (int i = 0; i < n; i++)
        empty |= may_be_empty(g, type->dims[axes[i]]);
    if (!dtype_is_float(type->dtype) && empty) /* no integer is the greatest of nothing */
        sum = true;
    Item *y = reduced(g, sum ? OP_reduce_sum : OP_reduce_max, tamed(g, x, 1e4), n, axes);
    if (y && y->lo < -1e30)
        return g->smooth || rng_chance(&g->rng, 80) ? finite(g, y) : y;
    return y;
}

/* The weights of finite scores far out, of which many are equal: whole numbers times a great one,
 * or all below what is nearly the least. Scores themselves are seen by nothing else. */
static Item *far_weights(Grow *g, Item *x)
{
    static const double scales[] = {1e9, 1e10, 1e30, -1e30, 5e36};
    DType dtype = x->value->type.dtype;
    Value *scale = build_const(&g->b, dtype, RNG_PICK(&g->rng, scales));
    Value *far = build_binary(
        &g->b, OP_mul, rng_chance(&g->rng, 60) ? build_unary(&g->b, OP_floor, x->value) : x->value,
        scale);
    if (rng_chance(&g->rng, 40))
        far = build_binary(&g->b, OP_sub, far, build_const(&g->b, dtype, 1e38));
    return add_item(g, build_unary(&g->b, OP_softmax, far), 0, 1);
}

/* Mean of squares less square of the mean, as many write a variance. */
static Item *variance_by_squares(Grow *g, Item *x)
{
    int last = x->value->type.rank - 1;
    Item *mean = scaled(g, reduced(g, OP_reduce_sum, x, 1, &last), 0.125);
    Item *squares = scaled(g, reduced(g, OP_reduce_sum, binary(g, OP_mul, x, x), 1, &last), 0.125);
    return mean && squares ? binary(g, OP_sub, squares, binary(g, OP_mul, mean, mean)) : NULL;
}

/* Softmax, logsumexp, or what they are made of, or a norm by hand. */
Item *grow_norm(Grow *g)
{
    Item *x = pick(g, is_row);
    if (!x)
        return NULL;
    x = tamed(g, x, 30);
    if (!x)
        return NULL;
    int last = x->value->type.rank - 1;
    Dim along = x->value->type.dims[last];
    double terms = (double)dim_extent(g, along);
    switch (rng_below(&g->rng, 6)) {
    case 4: return far_weights(g, x);
    case 5: return variance_by_squares(g, x);
    case 0: return add_item(g, build_unary(&g->b, OP_softmax, x->value), 0, 1);
    case 1:
        if (g->smooth && may_be_empty(g, along))
            return NULL;
        return finite(g,
                      add_item(g, build_unary(&g->b, OP_logsumexp, x->value),
                               may_be_empty(g, along) ? -INFINITY : x->lo, x->hi + log(terms + 1)));
    case 2: { /* e / Σ e */
        Item *e = unary(g, OP_exp, tamed(g, x, 4));
        return binary(g, OP_div, e, positive(g, reduced(g, OP_reduce_sum, e, 1, &last), 0.25));
    }
    default: { /* x / √(mean x² + ε) */
        Item *mean = scaled(g, reduced(g, OP_reduce_sum, binary(g, OP_mul, x, x), 1, &last),
                            1 / (terms + 1));
        if (mean)
            mean->lo = fmax(mean->lo, 0);
        return tamed(g, binary(g, OP_mul, x, unary(g, OP_rsqrt, shifted(g, mean, 0.125))), 100);
    }
    }
}
