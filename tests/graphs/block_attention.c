/* Attention and decoding caches, in many forms; now and then with a random op inside. */
#include "tests/graphs/grow.h"

#include <math.h>

enum { NO_AXIS = -1 };

/* A mask over the last two axes, queries and keys: causal, a window, one that is given, rows
 * that see nothing. */
static Item *one_mask(Grow *g, const Type *scores)
{
    int rank = scores->rank, q = rank - 2, k = rank - 1;
    Item *query = positions(g, scores->dims[q], q, rank),
         *key = positions(g, scores->dims[k], k, rank);
    int width = rng_between(&g->rng, 0, 4);
    switch (rng_below(&g->rng, 7)) {
    case 0: return binary(g, OP_le, key, query);
    case 1: return binary(g, OP_lt, key, query); /* the first sees nothing */
    case 2:
        return binary(g, OP_le, unary(g, OP_abs, binary(g, OP_sub, query, key)),
                      constant(g, DT_I32, width));
    case 3:
        return binary(g, OP_and, binary(g, OP_le, key, query),
                      binary(g, OP_le, binary(g, OP_sub, query, key), constant(g, DT_I32, width)));
    case 4: return unary(g, OP_not, binary(g, OP_lt, query, key));
    case 5: return binary(g, OP_lt, constant(g, DT_I32, width), query);
    default: {
        Type type = *scores;
        type.dtype = DT_BOOL;
        return leaf(g, thinned(g, type));
    }
    }
}

/* One, or two: what either shows, or both, or what one hides. */
static Item *some_mask(Grow *g, const Type *scores)
{
    Item *mask = one_mask(g, scores);
    if (rng_chance(&g->rng, 25))
        mask = binary(g, rng_chance(&g->rng, 65) ? OP_or : OP_and, mask, one_mask(g, scores));
    return rng_chance(&g->rng, 8) ? unary(g, OP_not, mask) : mask;
}

/* Slopes times distances (Press et al. 2022), or a bias that is given. */
static Item *add_positions(Grow *g, Item *s)
{
    const Type *type = &s->value->type;
    int rank = type->rank;
    if (rng_chance(&g->rng, 50)) {
        Item *distance = binary(g, OP_sub, positions(g, type->dims[rank - 1], rank - 1, rank),
                                positions(g, type->dims[rank - 2], rank - 2, rank));
        Item *slope = rank > 2 && dim_is_const(type->dims[rank - 3])
                          ? weight(g, 3, (Dim[]){type->dims[rank - 3], dim_const(1), dim_const(1)})
                          : constant(g, g->real, 0.125);
        return binary(g, OP_add, s,
                      tamed(g, binary(g, OP_mul, cast_to(g, distance, g->real), slope), 20));
    }
    Type bias = *type;
    return binary(g, OP_add, s, leaf(g, thinned(g, bias)));
}

static Item *some_op_on(Grow *g, Item *s)
{
    static const OpKind kinds[] = {OP_tanh, OP_abs, OP_neg, OP_sigmoid, OP_relu, OP_stop_gradient};
    return unary(g, RNG_PICK(&g->rng, kinds), s);
}

static Item *normalised(Grow *g, Item *s)
{
    int last = s->value->type.rank - 1;
    switch (rng_below(&g->rng, 10)) {
    case 0: return unary(g, OP_relu, finite(g, s));
    case 1: return unary(g, OP_sigmoid, finite(g, s));
    case 2: { /* by hand */
        Item *e = unary(g, OP_exp, s->hi < 6 ? s : tamed(g, s, 6));
        return binary(g, OP_div, e, positive(g, reduced(g, OP_reduce_sum, e, 1, &last), 0.25));
    }
    case 3: /* squares over the greatest of them */
        s = finite(g, s);
        return binary(g, OP_div, s,
                      positive(g, finite(g, reduced(g, OP_reduce_max, s, 1, &last)), 1));
    default: return add_item(g, build_unary(&g->b, OP_softmax, s->value), 0, 1);
    }
}

Item *masked_weights(Grow *g, Item *s)
{
    Rng *rng = &g->rng;
    s = rng_chance(rng, 70) ? scaled(g, s, 0.5) : s;
    if (s && rng_chance(rng, 15))
        s = scaled(g, unary(g, OP_tanh, scaled(g, s, 0.25)), 4); /* soft cap */
    s = tamed(g, s, 40);
    if (s && rng_chance(rng, 25))
        s = add_positions(g, s);
    if (s && rng_chance(rng, 15))
        s = some_op_on(g, s);
    for (int n = rng_chance(rng, 60) + rng_chance(rng, 15); n && s; n--) {
        double out = rng_chance(rng, 80) ? -INFINITY : -1e9;
        s = chosen(g, some_mask(g, &s->value->type), s, constant(g, g->real, out));
    }
    Item *p = s ? normalised(g, s) : NULL;
    if (p && rng_chance(rng, 25))
        p = add_item(g, build_dropout(&g->b, p->value, 0.25, g->n_sites++), p->lo * 2, p->hi * 2);
    if (p && rng_chance(rng, 10))
        p = some_op_on(g, p);
    return p;
}

/* x [B, S~, d] by a weight as heads: [B, S~, h, e], transposed [B, h, S~, e]. */
static Item *heads_of(Grow *g, Item *x, int heads, int size, const char *name)
{
    if (!x)
        return NULL;
    const Type type = x->value->type;
    int rank = type.rank;
    g->b.scope = next_scope(g, name);
    Item *y = multiplied(
        g, x, weight(g, 2, (Dim[]){type.dims[rank - 1], dim_const((int64_t)heads * size)}));
    if (y && rng_chance(&g->rng, 40))
        y = binary(g, OP_add, y, weight(g, 1, (Dim[]){dim_const((int64_t)heads * size)}));
    g->b.scope = next_scope(g, "attend");
    if (!y || (heads == 1 && rng_chance(&g->rng, 50)))
        return y; /* [B, S~, e] */
    Dim dims[MAX_RANK];
    int perm[MAX_RANK];
    for (int i = 0; i < rank - 1; i++)
        dims[i] = type.dims[i];
    dims[rank - 1] = dim_const(heads);
    dims[rank] = dim_const(size);
    y = reshaped(g, y, rank + 1, dims);
    for (int i = 0; i < rank - 2; i++)
        perm[i] = i;
    perm[rank - 2] = rank - 1;
    perm[rank - 1] = rank - 2;
    perm[rank] = rank;
    return transposed(g, y, perm);
}

/* x · yᵀ or x · y over equal leading axes. */
static Item *batched(Grow *g, Item *x, Item *y, bool turned)
{
    if (!x || !y || x->value->type.rank != y->value->type.rank)
        return NULL;
    int n = x->value->type.rank - 2, axes[MAX_RANK];
    for (int i = 0; i < n; i++)
        axes[i] = i;
    int other = turned ? n + 1 : n;
    return product(g, x, y, n, axes, axes, 1, (int[]){n + 1}, &other);
}

/* [B, h, S~, e] back to [B, S~, h·e]. */
static Item *joined_heads(Grow *g, Item *x, const Type *like)
{
    if (!x || x->value->type.rank == like->rank)
        return x;
    int rank = x->value->type.rank, perm[MAX_RANK];
    for (int i = 0; i < rank - 3; i++)
        perm[i] = i;
    perm[rank - 3] = rank - 2;
    perm[rank - 2] = rank - 3;
    perm[rank - 1] = rank - 1;
    Dim dims[MAX_RANK];
    for (int i = 0; i < like->rank - 1; i++)
        dims[i] = like->dims[i];
    dims[like->rank - 1] =
        dim_const(x->value->type.dims[rank - 3].size * x->value->type.dims[rank - 1].size);
    return reshaped(g, transposed(g, x, perm), like->rank, dims);
}

/* What attention looks at: tokens of sentences mostly, sometimes no batch, or one that is not
 * ragged. */
static bool attended(Grow *g, Item **from, Item **to)
{
    static const char kinds[] = "ssssccccunx";
    int d = rng_between(&g->rng, 2, 9);
    Dim B = dim_symbol(SYM_B), S = dim_symbol(SYM_S), T = dim_symbol(SYM_T), N = dim_symbol(SYM_N),
        D = dim_const(d);
    switch (kinds[rng_below(&g->rng, sizeof kinds - 1)]) {
    case 's': *from = *to = found_or_leaf(g, type_of(g->real, 3, (Dim[]){B, S, D})); break;
    case 'c':
        *from = found_or_leaf(g, type_of(g->real, 3, (Dim[]){B, S, D}));
        *to = found_or_leaf(g, type_of(g->real, 3, (Dim[]){B, T, D}));
        break;
    case 'u': *from = *to = found_or_leaf(g, type_of(g->real, 3, (Dim[]){B, N, D})); break;
    case 'n': *from = *to = found_or_leaf(g, type_of(g->real, 2, (Dim[]){S, D})); break;
    default:
        *from = found_or_leaf(
            g, type_of(g->real, 3, (Dim[]){B, dim_const(rng_between(&g->rng, 1, 4)), D}));
        *to = found_or_leaf(g, type_of(g->real, 3, (Dim[]){B, T, D}));
    }
    return *from && *to;
}

Item *block_attention(Grow *g)
{
    static const int sizes[] = {1, 2, 3, 4, 4, 8, 8, 16, 17, 32};
    Item *x, *y;
    int heads = rng_between(&g->rng, 1, 3), size = RNG_PICK(&g->rng, sizes);
    if (!attended(g, &x, &y))
        return NULL;
    const Type like = x->value->type;
    g->n_scopes++;
    Item *q = heads_of(g, x, heads, size, "q"), *k, *v;
    k = heads_of(g, y, heads, size, "k");
    v = rng_chance(&g->rng, 12)
            ? k
            : heads_of(g, y, heads, rng_chance(&g->rng, 70) ? size : some_size(g), "v");
    if (!q || !k || !v || q->value->type.rank != k->value->type.rank)
        return NULL;
    Item *p = batched(g, tamed(g, q, 8), tamed(g, k, 8), true);
    p = p ? masked_weights(g, p) : NULL;
    Item *out = batched(g, p, v, false);
    if (out && rng_chance(&g->rng, 80))
        out = joined_heads(g, out, &like);
    if (out && rng_chance(&g->rng, 15)) /* weights are asked for, too */
        build_output(&g->b, next_scope(g, "weights"), p->value);
    if (!out || out->value->type.rank != like.rank || rng_chance(&g->rng, 40))
        return out;
    g->b.scope = next_scope(g, "out");
    out = multiplied(
        g, tamed(g, out, 20),
        weight(g, 2, (Dim[]){out->value->type.dims[like.rank - 1], like.dims[like.rank - 1]}));
    return rng_chance(&g->rng, 60) ? binary(g, OP_add, x, out) : out;
}

/* ---- a step of decoding ---- */

static Item *cache_of(Grow *g, Item *rows)
{
    Type type = rows->value->type;
    type.dims[1] = dim_symbol(SYM_P);
    const ParamInfo *info = module_add_param(
        g->module, (ParamInfo){.name = arena_printf(g->arena, "cache%d", g->n_params++),
                               .type = type,
                               .role = PARAM_STATE,
                               .init = INIT_ZEROS});
    Value *cache = build_new_param(&g->b, info);
    return add_item(g, build(&g->b, OP_append, 2, (Value *[]){cache, rows->value}, 0, NULL),
                    fmin(rows->lo, -2), fmax(rows->hi, 2));
}

/* Key positions no later than their query's, which is the newest but so many. */
static Item *seen_so_far(Grow *g, const Type *scores)
{
    int rank = scores->rank;
    Dim R = dim_symbol(SYM_R);
    Dim dims[MAX_RANK] = {R};
    for (int i = 1; i < rank; i++)
        dims[i] = dim_const(1);
    Item *before = binary(g, OP_sub, add_item(g, build_lengths(&g->b, DT_I32, SYM_P), 0, 100),
                          add_item(g, build_lengths(&g->b, DT_I32, SYM_Q), 0, 100));
    Item *query = binary(g, OP_add, reshaped(g, before, rank, dims),
                         positions(g, dim_symbol(SYM_Q), rank - 2, rank));
    return binary(g, OP_le, positions(g, dim_symbol(SYM_P), rank - 1, rank), query);
}

Item *block_cache(Grow *g)
{
    int heads = rng_between(&g->rng, 1, 2), size = rng_between(&g->rng, 1, 8),
        d = rng_between(&g->rng, 2, 9);
    Dim R = dim_symbol(SYM_R), Q = dim_symbol(SYM_Q), P = dim_symbol(SYM_P), H = dim_const(heads),
        E = dim_const(size);
    Item *x = found_or_leaf(g, type_of(g->real, 3, (Dim[]){R, Q, dim_const(d)}));
    Dim wide[] = {dim_const(d), dim_const((int64_t)heads * size)};
    g->n_scopes++;
    Item *q = multiplied(g, x, weight(g, 2, wide)), *k = multiplied(g, x, weight(g, 2, wide));
    Item *v = multiplied(g, x, weight(g, 2, wide));
    k = k ? cache_of(g, k) : NULL;
    v = v ? cache_of(g, v) : NULL;
    if (!q || !k || !v)
        return NULL;
    q = transposed(g, reshaped(g, tamed(g, q, 8), 4, (Dim[]){R, Q, H, E}), (int[]){0, 2, 1, 3});
    k = transposed(g, reshaped(g, tamed(g, k, 8), 4, (Dim[]){R, P, H, E}), (int[]){0, 2, 1, 3});
    v = transposed(g, reshaped(g, v, 4, (Dim[]){R, P, H, E}), (int[]){0, 2, 1, 3});
    Item *s = scaled(g, batched(g, q, k, true), 0.5);
    if (s && rng_chance(&g->rng, 80))
        s = chosen(g, seen_so_far(g, &s->value->type), s, constant(g, g->real, -INFINITY));
    Item *p = s ? add_item(g, build_unary(&g->b, OP_softmax, s->value), 0, 1) : NULL;
    Item *out = joined_heads(g, batched(g, p, v, false), &x->value->type);
    return out && rng_chance(&g->rng, 60)
               ? binary(g, OP_add, x, multiplied(g, out, weight(g, 2, (Dim[]){wide[1], wide[0]})))
               : out;
}
