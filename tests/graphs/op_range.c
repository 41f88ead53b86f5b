/* Ops with what their results can be. */
#include "tests/graphs/grow.h"

#include <math.h>

/* An item of that range; integers wrap around, so one that leaves i32's is any. */
static Item *ranged(Grow *g, Value *value, double lo, double hi)
{
    if (value && value->type.dtype == DT_I32 && !(lo >= INT32_MIN && hi <= INT32_MAX))
        lo = INT32_MIN, hi = INT32_MAX;
    return add_item(g, value, lo, hi);
}

Item *unary(Grow *g, OpKind kind, Item *x)
{
    if (!x)
        return NULL;
    double lo = x->lo, hi = x->hi, a, b;
    switch (kind) {
    case OP_neg: a = -hi, b = -lo; break;
    case OP_abs: a = lo > 0 ? lo : hi < 0 ? -hi : 0, b = reach(x); break;
    case OP_relu: a = fmax(lo, 0), b = fmax(hi, 0); break;
    case OP_exp: a = exp(lo), b = exp(hi); break;
    case OP_expm1: a = expm1(lo), b = expm1(hi); break;
    case OP_log1p: a = log1p(lo), b = log1p(hi); break;
    case OP_log: a = log(lo), b = log(hi); break;
    case OP_sqrt: a = sqrt(lo), b = sqrt(hi); break;
    case OP_rsqrt: a = 1 / sqrt(hi), b = 1 / sqrt(lo); break;
    case OP_tanh: a = tanh(lo), b = tanh(hi); break;
    case OP_erf: a = erf(lo), b = erf(hi); break;
    case OP_sigmoid: a = 1 / (1 + exp(-lo)), b = 1 / (1 + exp(-hi)); break;
    case OP_sin:
    case OP_cos: a = -1, b = 1; break;
    case OP_floor: a = floor(lo), b = floor(hi); break;
    case OP_not: a = 0, b = 1; break;
    default: a = lo, b = hi; /* stop_gradient */
    }
    return ranged(g, build_unary(&g->b, kind, x->value), a, b);
}

static void product_range(const Item *x, const Item *y, double *lo, double *hi)
{
    double p[4] = {x->lo * y->lo, x->lo * y->hi, x->hi * y->lo, x->hi * y->hi};
    *lo = fmin(fmin(p[0], p[1]), fmin(p[2], p[3]));
    *hi = fmax(fmax(p[0], p[1]), fmax(p[2], p[3]));
}

Item *binary(Grow *g, OpKind kind, Item *x, Item *y)
{
    if (!x || !y)
        return NULL;
    double a = 0, b = 1;
    switch (kind) {
    case OP_add: a = x->lo + y->lo, b = x->hi + y->hi; break;
    case OP_sub: a = x->lo - y->hi, b = x->hi - y->lo; break;
    case OP_mul: product_range(x, y, &a, &b); break;
    case OP_div: {
        double least = y->lo > 0 ? y->lo : -y->hi;
        b = reach(x) / least;
        a = -b;
        break;
    }
    case OP_pow:
        if (!dtype_is_float(x->value->type.dtype)) {
            a = INT32_MIN, b = INT32_MAX;
            break;
        }
        a = 0, b = exp(fmax(fabs(log(x->lo)), fabs(log(x->hi))) * reach(y));
        break;
    case OP_max: a = fmax(x->lo, y->lo), b = fmax(x->hi, y->hi); break;
    case OP_min: a = fmin(x->lo, y->lo), b = fmin(x->hi, y->hi); break;
    default: break; /* comparisons, logic */
    }
    return ranged(g, build_binary(&g->b, kind, x->value, y->value), a, b);
}

Item *scaled(Grow *g, Item *x, double factor)
{
    return x ? binary(g, OP_mul, x, constant(g, x->value->type.dtype, factor)) : NULL;
}

Item *shifted(Grow *g, Item *x, double term)
{
    return x ? binary(g, OP_add, x, constant(g, x->value->type.dtype, term)) : NULL;
}

Item *chosen(Grow *g, Item *c, Item *x, Item *y)
{
    if (!c || !x || !y)
        return NULL;
    return add_item(g, build_select(&g->b, c->value, x->value, y->value), fmin(x->lo, y->lo),
                    fmax(x->hi, y->hi));
}

Item *cast_to(Grow *g, Item *x, DType dtype)
{
    if (!x)
        return NULL;
    double lo = x->lo, hi = x->hi;
    if (dtype == DT_BOOL)
        lo = 0, hi = 1;
    else if (dtype == DT_I32)
        lo = trunc(lo), hi = trunc(hi);
    return add_item(g, build_cast(&g->b, x->value, dtype), lo, hi);
}

Item *finite(Grow *g, Item *x)
{
    if (!x || x->lo > -1e30)
        return x;
    double least = -rng_between(&g->rng, 1, 9);
    Item *by = constant(g, x->value->type.dtype, least);
    Item *y = binary(g, OP_max, x, by);
    if (y)
        y->hi = fmax(x->hi, least);
    return y;
}

static Item *clamped(Grow *g, Item *x, double limit)
{
    DType dtype = x->value->type.dtype;
    Item *y = binary(g, OP_min, x, constant(g, dtype, limit));
    return y ? binary(g, OP_max, y, constant(g, dtype, -limit)) : NULL;
}

Item *tamed(Grow *g, Item *x, double limit)
{
    x = finite(g, x);
    if (!x || reach(x) <= limit)
        return x;
    if (!dtype_is_float(x->value->type.dtype))
        return clamped(g, x, limit);
    int way = rng_below(&g->rng, 4);
    if (way < 2)
        return scaled(g, x, exp2(floor(log2(limit / reach(x)))));
    if (way == 2)
        return clamped(g, x, limit);
    return scaled(g, unary(g, rng_chance(&g->rng, 50) ? OP_tanh : OP_sin, tamed(g, x, 100)),
                  fmin(limit, 2));
}

Item *positive(Grow *g, Item *x, double least)
{
    if (!x || x->lo >= least)
        return x;
    return shifted(g, unary(g, OP_abs, x), least);
}

Item *reduced(Grow *g, OpKind kind, Item *x, int n, const int *axes)
{
    if (!x || !n)
        return x;
    double count = 1;
    bool empty = false;
    for (int i = 0; i < n; i++) {
        count *= (double)dim_extent(g, x->value->type.dims[axes[i]]);
        empty |= may_be_empty(g, x->value->type.dims[axes[i]]);
    }
    double lo = kind == OP_reduce_sum ? fmin(x->lo, 0) * count : empty ? -INFINITY : x->lo;
    double hi = kind == OP_reduce_sum ? fmax(x->hi, 0) * count : x->hi;
    Value *value = build_reduce(&g->b, kind, x->value, n, axes);
    return kind == OP_reduce_sum ? ranged(g, value, lo, hi) : add_item(g, value, lo, hi);
}

Item *reshaped(Grow *g, Item *x, int rank, const Dim *dims)
{
    return x ? add_item(g, build_reshape(&g->b, x->value, rank, dims), x->lo, x->hi) : NULL;
}

Item *transposed(Grow *g, Item *x, const int *perm)
{
    return x ? add_item(g, build_transpose(&g->b, x->value, perm), x->lo, x->hi) : NULL;
}

Item *stretched(Grow *g, Item *x, int rank, const Dim *dims)
{
    return x ? add_item(g, build_broadcast(&g->b, x->value, rank, dims), x->lo, x->hi) : NULL;
}

Item *product(Grow *g, Item *x, Item *y, int n_batch, const int *batch_x, const int *batch_y,
              int n_contract, const int *contract_x, const int *contract_y)
{
    if (!x || !y)
        return NULL;
    int64_t terms = 1;
    for (int i = 0; i < n_contract; i++)
        terms *= dim_extent(g, x->value->type.dims[contract_x[i]]);
    if (x->value->type.rank + y->value->type.rank - n_batch - 2 * n_contract > 6)
        return NULL;
    Value *value = build_dot(&g->b, x->value, y->value, n_batch, batch_x, batch_y, n_contract,
                             contract_x, contract_y);
    /* the oracle goes through every term */
    if (!value || type_elements(g, &value->type) * (terms ? terms : 1) > 40 * g->most)
        return NULL;
    double most = reach(x) * reach(y) * (double)terms;
    return add_item(g, value, -most, most);
}

Item *multiplied(Grow *g, Item *x, Item *w)
{
    int last = x ? x->value->type.rank - 1 : 0;
    Item *y = product(g, x, w, 0, NULL, NULL, 1, &last, (int[]){0});
    return y && reach(y) > 12 && rng_chance(&g->rng, 70)
               ? scaled(g, y, exp2(-floor(log2(reach(y) / 4))))
               : y;
}

Item *positions(Grow *g, Dim dim, int axis, int rank)
{
    double last = (double)dim_extent(g, dim) - 1;
    if (rng_chance(&g->rng, 50)) { /* as it stands */
        Type type = type_scalar(DT_I32);
        for (int i = 0; i < rank; i++)
            type.dims[type.rank++] = i == axis ? dim : dim_const(1);
        Op *op = op_new(g->b.function, OP_iota, 0, NULL, 1);
        op->results[0].type = type;
        op->scope = g->b.scope;
        block_append(g->b.block, op);
        return add_item(g, op_result(op), 0, fmax(last, 0));
    }
    Item *x = add_item(g, build_iota(&g->b, dim), 0, fmax(last, 0));
    Dim dims[MAX_RANK];
    for (int i = axis; i < rank; i++)
        dims[i - axis] = i == axis ? dim : dim_const(1);
    return reshaped(g, x, rank - axis, dims); /* right-aligned */
}
