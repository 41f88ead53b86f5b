/* A decoder over a text, or over a sequence that has 1 + S positions before it: tokens to logits by
 * layers whose weights, queries by keys, are made in many ways; most look back only, some leak. */
#include "tests/graphs/grow.h"

#include <math.h>

typedef struct Layer {
    Grow *g;
    Value *x, *s;  /* [B, T, d]; scores [B, T, T] or [B, h, T, T] */
    Dim time;      /* T, or M */
    Value *before; /* of M: how many positions are before the text: [B, 1, 1]; NULL: none */
    int heads;
} Layer;

static Value *number(Layer *l, double c) { return build_const(&l->g->b, l->g->real, c); }
static Value *of(Layer *l, OpKind kind, Value *a, Value *b)
{
    return build_binary(&l->g->b, kind, a, b);
}
static Value *by(Layer *l, OpKind kind, Value *a) { return build_unary(&l->g->b, kind, a); }

static Value *position_of(Layer *l, bool query)
{
    Dim time = l->time;
    Value *at = build_iota(&l->g->b, time);
    return query ? build_reshape(&l->g->b, at, 2, (Dim[]){time, dim_const(1)}) : at;
}

/* A mask [T, T], or [h, T, T]; most are false where the key comes after the query. */
static Value *mask_of(Layer *l)
{
    Rng *rng = &l->g->rng;
    Builder *b = &l->g->b;
    Value *i = position_of(l, true), *j = position_of(l, false);
    if (l->before && !l->heads &&
        rng_chance(rng, 50)) { /* sees all that is before, or more: a leak */
        Value *end = of(l, OP_add, l->before, build_const(b, DT_I32, rng_chance(rng, 15)));
        bool floats = rng_chance(rng, 30);
        Value *first =
            floats ? of(l, OP_lt, build_cast(b, j, l->g->real), build_cast(b, end, l->g->real))
                   : of(l, OP_lt, j, end);
        return of(l, OP_or, first, of(l, OP_le, j, i));
    }
    Value *width = build_const(b, DT_I32, rng_between(rng, 0, 3));
    Value *later = of(l, OP_lt, i, j), *causal = by(l, OP_not, later);
    Value *near = of(l, OP_le, of(l, OP_sub, i, j), width);
    if (l->heads && rng_chance(rng, 15)) { /* a window a head */
        Dim h = dim_const(l->heads);
        Value *head = build_reshape(b, build_iota(b, h), 3, (Dim[]){h, dim_const(1), dim_const(1)});
        return of(l, OP_and, causal, of(l, OP_le, of(l, OP_sub, i, j), head));
    }
    switch (rng_below(rng, 14)) {
    case 0: return of(l, OP_le, j, i);
    case 1: return of(l, OP_lt, j, i);
    case 2: return of(l, OP_le, of(l, OP_sub, j, i), build_const(b, DT_I32, 0));
    case 3: return of(l, OP_and, near, causal);
    case 4: return of(l, OP_or, of(l, OP_eq, i, j), of(l, OP_lt, j, i));
    case 5: return of(l, OP_eq, by(l, OP_abs, of(l, OP_sub, i, j)), of(l, OP_sub, i, j));
    case 6: return of(l, OP_eq, of(l, OP_max, i, j), i);
    case 7: return of(l, OP_le, by(l, OP_relu, of(l, OP_sub, j, i)), build_const(b, DT_I32, 0));
    case 8: return near;                                          /* leaks */
    case 9: return of(l, OP_le, of(l, OP_sub, j, width), i);      /* leaks, if the width is not 0 */
    case 10: return of(l, OP_or, causal, of(l, OP_lt, j, width)); /* leaks */
    case 11:
        return of(l, OP_lt, build_cast(b, j, l->g->real),
                  of(l, OP_add, build_cast(b, i, l->g->real), number(l, 0.5)));
    default: return causal;
    }
}

static Value *masked(Layer *l, Value *s, double out)
{
    return build_select(&l->g->b, mask_of(l), s, number(l, out));
}

static Value *row_sum(Layer *l, OpKind kind, Value *x)
{
    int last = x->type.rank - 1;
    return build_reduce(&l->g->b, kind, x, 1, &last);
}

/* Numbers from 1 up of any. */
static Value *above_one(Layer *l, Value *x)
{
    return of(l, OP_add, by(l, OP_abs, x), number(l, 1));
}

static Value *weights_of(Layer *l, int deep)
{
    Rng *rng = &l->g->rng;
    Builder *b = &l->g->b;
    Value *s = l->s, *gate = build_cast(b, mask_of(l), l->g->real);
    static const double far[] = {-INFINITY, -INFINITY, -1e9, -3};
    double out = RNG_PICK(rng, far);
    switch (rng_below(rng, deep ? 16 : 12)) {
    case 0: return of(l, OP_mul, gate, s);
    case 1: return gate;
    case 2: return by(l, OP_exp, masked(l, s, -INFINITY));
    case 3: return by(l, OP_sigmoid, masked(l, s, out));
    case 4: return of(l, OP_mul, by(l, OP_tanh, s), masked(l, s, 0));
    case 5: { /* by the row's sum */
        Value *w = masked(l, s, rng_chance(rng, 85) ? 0 : 0.25);
        return of(l, OP_div, w, above_one(l, row_sum(l, OP_reduce_sum, w)));
    }
    case 6: { /* a decay of positions */
        Value *distance =
            build_cast(b, of(l, OP_sub, position_of(l, true), position_of(l, false)), l->g->real);
        Value *decay = by(l, OP_exp, of(l, OP_mul, by(l, OP_abs, distance), number(l, -0.25)));
        return of(l, OP_mul, s, of(l, OP_mul, decay, gate));
    }
    case 7: { /* softmax with a sink */
        Value *m = masked(l, s, -INFINITY);
        Value *share = by(l, OP_sigmoid, by(l, OP_logsumexp, m));
        return of(l, OP_mul, by(l, OP_softmax, m), share);
    }
    case 8: return by(l, OP_relu, masked(l, s, out));
    case 9: return by(l, OP_cos, masked(l, s, 0)); /* leaks */
    case 10: {                                     /* added, and less the greatest */
        Value *gap = of(l, OP_mul, of(l, OP_sub, number(l, 1), gate), number(l, -1e9));
        return by(l, OP_softmax, of(l, OP_add, s, gap));
    }
    case 11: return by(l, OP_softmax, masked(l, s, out));
    case 12: return of(l, OP_sub, weights_of(l, deep - 1), weights_of(l, deep - 1));
    case 13: return by(l, OP_neg, weights_of(l, deep - 1));
    case 14: return of(l, OP_mul, number(l, 0.5), weights_of(l, deep - 1));
    default: {
        Value *a = weights_of(l, deep - 1), *c = weights_of(l, deep - 1);
        if (!a || !c || a->type.rank != c->type.rank)
            return a;
        return build_matmul(b, a, c);
    }
    }
}

static Value *projection(Layer *l, int width)
{
    Item *w = weight(l->g, 2, (Dim[]){l->x->type.dims[2], dim_const(width)});
    return w ? build_matmul(&l->g->b, l->x, w->value) : NULL;
}

static Value *split_heads(Layer *l, Value *x)
{
    if (!l->heads)
        return x;
    Dim dims[] = {x->type.dims[0], x->type.dims[1], dim_const(l->heads),
                  dim_const(x->type.dims[2].size / l->heads)};
    return build_transpose(&l->g->b, build_reshape(&l->g->b, x, 4, dims), (int[]){0, 2, 1, 3});
}

static Value *layer_of(Layer *l)
{
    Builder *b = &l->g->b;
    Rng *rng = &l->g->rng;
    int width = 4;
    l->heads = rng_chance(rng, 50) ? 2 : 0;
    Value *q = projection(l, width), *k = projection(l, width), *v = projection(l, width);
    if (!q || !k || !v)
        return NULL;
    q = split_heads(l, q), k = split_heads(l, k), v = split_heads(l, v);
    int rank = q->type.rank, perm[] = {0, 1, 2, 3};
    perm[rank - 1] = rank - 2, perm[rank - 2] = rank - 1;
    l->s = of(l, OP_mul, build_matmul(b, q, build_transpose(b, k, perm)), number(l, 0.125));
    Value *w = weights_of(l, 2);
    if (!w)
        return NULL;
    if (rng_chance(rng, 8)) /* keys and queries the other way round: leaks */
        w = build_transpose(b, w,
                            w->type.rank == 4   ? (int[]){0, 1, 3, 2}
                            : w->type.rank == 3 ? (int[]){0, 2, 1}
                                                : (int[]){1, 0});
    Value *y = rng_chance(rng, 12) ? of(l, OP_mul, v, row_sum(l, OP_reduce_sum, w))
                                   : build_matmul(b, w, v);
    if (l->heads && y && y->type.rank == 4) {
        Dim dims[] = {y->type.dims[0], l->time, dim_const(width)};
        y = build_reshape(b, build_transpose(b, y, (int[]){0, 2, 1, 3}), 3, dims);
    }
    return y && y->type.rank == 3 ? by(l, OP_tanh, y) : NULL;
}

/* Rows of the text by position, few of them after their own. */
static Value *rows_by_position(Layer *l)
{
    Rng *rng = &l->g->rng;
    Builder *b = &l->g->b;
    Value *at = position_of(l, true), *zero = build_const(b, DT_I32, 0);
    Value *c = build_const(b, DT_I32, rng_between(rng, 1, 3));
    Value *before = of(l, OP_sub, at, build_const(b, DT_I32, rng_between(rng, -1, 5)));
    switch (rng_below(rng, 7)) {
    case 0: at = of(l, OP_min, at, c); break;
    case 1: at = of(l, OP_max, before, zero); break;
    case 2: at = of(l, OP_mul, of(l, OP_div, at, c), c); break;
    case 3: at = build_select(b, of(l, OP_lt, at, c), zero, before); break;
    case 4: at = of(l, OP_sub, c, at); break;
    case 5: at = zero; break;
    default: at = before;
    }
    return of(l, OP_mul, build_lookup(b, l->x, at, 1), number(l, 0.5));
}

/* x of T becomes [1, rows of S, x], along M. */
static void put_before(Layer *l)
{
    Builder *b = &l->g->b;
    Dim B = dim_symbol(SYM_B), one = dim_const(1), d = dim_const(4);
    Item *first = weight(l->g, 1, &d),
         *source = float_leaf(l->g, 3, (Dim[]){B, dim_symbol(SYM_S), d});
    if (!first || !source)
        return;
    Value *at = build_iota_along(b, dim_symbol(SYM_M), 1, 3),
          *number_one = build_const(b, DT_I32, 1);
    Value *lengths = build_reshape(b, build_lengths(b, DT_I32, SYM_S), 3, (Dim[]){B, one, one});
    Value *row = build_broadcast(b, build_reshape(b, first->value, 3, (Dim[]){one, one, d}), 3,
                                 (Dim[]){B, one, d});
    l->before = of(l, OP_add, lengths, number_one);
    l->time = dim_symbol(SYM_M);
    l->x = build_lookup(b, l->x, of(l, OP_sub, at, l->before), 1);
    l->x = of(l, OP_add, l->x,
              build_lookup(b, by(l, OP_tanh, source->value), of(l, OP_sub, at, number_one), 1));
    l->x = of(l, OP_add, l->x, build_lookup(b, row, at, 1));
}

/* The rows of the text. */
static Value *rows_of_text(Layer *l)
{
    Builder *b = &l->g->b;
    if (!l->before)
        return l->x;
    Value *at = build_iota_along(b, dim_symbol(SYM_T), 1, 3);
    return build_lookup(b, l->x, of(l, OP_add, at, l->before), 1);
}

Item *block_decoder(Grow *g)
{
    Dim B = dim_symbol(SYM_B), T = dim_symbol(SYM_T);
    if (function_reads(g->b.function, "tokens"))
        return NULL;
    Item *table = weight(g, 2, (Dim[]){dim_const(10), dim_const(4)});
    Value *tokens = build_input(&g->b, "tokens", type_of(DT_I32, 2, (Dim[]){B, T}));
    if (!table)
        return NULL;
    Layer l = {.g = g, .time = T, .x = build_gather(&g->b, table->value, tokens)};
    if (rng_chance(&g->rng, 40))
        put_before(&l);
    for (int n = rng_between(&g->rng, 1, 3); n; n--) {
        Value *y = rng_chance(&g->rng, 30) ? rows_by_position(&l) : layer_of(&l);
        if (y)
            l.x = of(&l, OP_add, l.x, y);
    }
    Value *logits =
        build_matmul(&g->b, rows_of_text(&l), build_transpose(&g->b, table->value, (int[]){1, 0}));
    build_output(&g->b, "logits", logits);
    return add_item(g, logits, -100, 100);
}
