/* The other parts of models: norms, products, embeddings, losses, states. */
#include "tests/graphs/grow.h"

#include <math.h>

static bool is_row(const Item *item)
{
    const Type *type = &item->value->type;
    return is_float(item) && type->rank > 1 && dim_is_const(type->dims[type->rank - 1]) &&
           type->dims[type->rank - 1].size > 1;
}

static Item *some_rows(Grow *g)
{
    Item *x = rng_chance(&g->rng, 60) ? pick(g, is_row) : NULL;
    if (!x)
        x = leaf(g, type_of(g->real, 3,
                            (Dim[]){dim_symbol(SYM_B),
                                    dim_symbol(rng_chance(&g->rng, 70) ? SYM_S : SYM_T),
                                    dim_const(rng_between(&g->rng, 2, 16))}));
    return tamed(g, x, 50);
}

static Dim last_dim(const Item *x) { return x->value->type.dims[x->value->type.rank - 1]; }

Item *block_norm(Grow *g)
{
    Item *x = some_rows(g);
    if (!x)
        return NULL;
    int last = x->value->type.rank - 1;
    double n = (double)dim_extent(g, last_dim(x));
    g->n_scopes++;
    if (rng_chance(&g->rng, 60)) {
        x = binary(g, OP_sub, x, scaled(g, reduced(g, OP_reduce_sum, x, 1, &last), 1 / n));
        if (!x)
            return NULL;
    }
    Item *square = scaled(g, reduced(g, OP_reduce_sum, binary(g, OP_mul, x, x), 1, &last), 1 / n);
    if (square)
        square->lo = 0;
    Item *y = binary(g, OP_mul, x, unary(g, OP_rsqrt, shifted(g, square, 0.0625)));
    y = tamed(g, y, 400);
    if (y && rng_chance(&g->rng, 80))
        y = binary(g, OP_mul, y, weight(g, 1, (Dim[]){last_dim(x)}));
    if (y && rng_chance(&g->rng, 60))
        y = binary(g, OP_add, y, weight(g, 1, (Dim[]){last_dim(x)}));
    if (y) /* by the norm itself, whatever the ranges say */
        y->hi = fmin(y->hi, 2 * sqrt(n) + 2), y->lo = fmax(y->lo, -2 * sqrt(n) - 2);
    return y;
}

static Item *activation(Grow *g, Item *x)
{
    switch (rng_below(&g->rng, 5)) {
    case 0: return unary(g, OP_tanh, x);
    case 1: return binary(g, OP_mul, x, unary(g, OP_sigmoid, x));
    case 2: return binary(g, OP_mul, x, shifted(g, unary(g, OP_erf, scaled(g, x, 0.75)), 1));
    default: return unary(g, OP_relu, x);
    }
}

Item *block_feed_forward(Grow *g)
{
    static const int widths[] = {3, 8, 16, 24, 33, 64};
    Item *x = some_rows(g);
    if (!x)
        return NULL;
    Dim inner = dim_const(RNG_PICK(&g->rng, widths));
    g->n_scopes++;
    g->b.scope = next_scope(g, "up");
    Item *y = multiplied(g, x, weight(g, 2, (Dim[]){last_dim(x), inner}));
    if (y && rng_chance(&g->rng, 80))
        y = binary(g, OP_add, y, weight(g, 1, &inner));
    if (!y)
        return NULL;
    if (rng_chance(&g->rng, 25)) { /* gated */
        g->b.scope = next_scope(g, "gate");
        Item *gate = multiplied(g, x, weight(g, 2, (Dim[]){last_dim(x), inner}));
        y = gate ? binary(g, OP_mul, tamed(g, y, 20), unary(g, OP_sigmoid, gate)) : y;
    } else
        y = activation(g, tamed(g, y, 50));
    if (y && rng_chance(&g->rng, 30))
        y = add_item(g, build_dropout(&g->b, y->value, 0.5, g->n_sites++), 2 * fmin(y->lo, 0),
                     2 * fmax(y->hi, 0));
    g->b.scope = next_scope(g, "down");
    y = y ? multiplied(g, tamed(g, y, 20), weight(g, 2, (Dim[]){inner, last_dim(x)})) : NULL;
    if (y && rng_chance(&g->rng, 60))
        y = binary(g, OP_add, y, weight(g, 1, (Dim[]){last_dim(x)}));
    return y && rng_chance(&g->rng, 70) ? binary(g, OP_add, x, y) : y;
}

/* Products that share an operand and a block, as query, key and value; parts of the result used. */
Item *block_projections(Grow *g)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    Item *x = some_rows(g), *sum = NULL;
    if (!x)
        return NULL;
    int n = rng_between(&g->rng, 2, 4);
    Dim out = dim_const(some_size(g));
    bool bias = rng_chance(&g->rng, 50), same = rng_chance(&g->rng, 60);
    g->n_scopes++;
    for (int i = 0; i < n; i++) {
        g->b.scope = next_scope(g, names[i]);
        Item *y = multiplied(g, x, weight(g, 2, (Dim[]){last_dim(x), out}));
        if (y && bias)
            y = binary(g, OP_add, y, weight(g, 1, &out));
        if (y && rng_chance(&g->rng, 60))
            y = activation(g, tamed(g, y, 20));
        if (!y)
            return sum;
        sum = sum && dim_equal(last_dim(sum), out)
                  ? binary(g, rng_chance(&g->rng, 60) ? OP_add : OP_mul, tamed(g, sum, 100),
                           tamed(g, y, 100))
                  : y;
        if (!same)
            out = dim_const(some_size(g));
    }
    return sum;
}

Item *block_embedding(Grow *g)
{
    int vocab = rng_between(&g->rng, 2, 12), d = rng_between(&g->rng, 2, 12);
    if (rng_chance(&g->rng, 25)) /* rows that are rounded to integers */
        d = rng_between(&g->rng, 32, 70);
    Dim B = dim_symbol(SYM_B), S = dim_symbol(rng_chance(&g->rng, 70) ? SYM_S : SYM_T);
    Item *table = weight(g, 2, (Dim[]){dim_const(vocab), dim_const(d)});
    Item *ids = found_or_leaf(g, type_of(DT_I32, 2, (Dim[]){B, S}));
    if (!table || !ids)
        return NULL;
    Item *x = add_item(g, build_gather(&g->b, table->value, ids->value), -2, 2);
    if (x && rng_chance(&g->rng, 50)) { /* learned positions, some outside of their table */
        Item *places = weight(g, 2, (Dim[]){dim_const(rng_between(&g->rng, 2, 12)), dim_const(d)});
        Item *at = positions(g, S, 0, 1);
        if (places && at)
            x = binary(g, OP_add, x,
                       add_item(g, build_gather(&g->b, places->value, at->value), -2, 2));
    } else if (x && rng_chance(&g->rng, 50)) {
        Item *angle = scaled(g, cast_to(g, positions(g, S, 0, 2), g->real), 0.5);
        angle = binary(g, OP_mul, angle, weight(g, 1, (Dim[]){dim_const(d)}));
        x = binary(g, OP_add, x,
                   unary(g, rng_chance(&g->rng, 50) ? OP_sin : OP_cos, tamed(g, angle, 60)));
    }
    if (x && rng_chance(&g->rng, 20)) { /* tied: the table again */
        Item *y = product(g, x, table, 0, NULL, NULL, 1, (int[]){2}, (int[]){1});
        if (y)
            return y;
    }
    return x;
}

/* One row of `types` in as many as labels: their logits' entry. */
static Item *at_label(Grow *g, Item *x, Item *label, Dim vocab)
{
    const Type *type = &x->value->type;
    int last = type->rank - 1;
    Dim dims[MAX_RANK];
    for (int i = 0; i < last; i++)
        dims[i] = type->dims[i];
    dims[last] = dim_const(1);
    Item *is =
        binary(g, OP_eq, positions(g, vocab, last, last + 1), reshaped(g, label, last + 1, dims));
    return reduced(g, OP_reduce_sum, chosen(g, is, x, constant(g, g->real, 0)), 1, &last);
}

/* -log p of labels, smoothed, over those that count. `wide`: as many types as run by chunks. */
Item *block_cross_entropy(Grow *g, bool wide)
{
    Item *h = some_rows(g);
    if (!h)
        return NULL;
    Dim vocab = dim_const(wide ? rng_between(&g->rng, 4096, 4200) : rng_between(&g->rng, 3, 40));
    const Type type = h->value->type;
    int last = type.rank - 1, all[MAX_RANK];
    int64_t most = g->most;
    if (wide)
        g->most = 200 * 4200;
    g->n_scopes++;
    g->b.scope = next_scope(g, "logits");
    Item *x = multiplied(g, h, weight(g, 2, (Dim[]){type.dims[last], vocab}));
    if (x && rng_chance(&g->rng, 50))
        x = binary(g, OP_add, x, weight(g, 1, &vocab));
    x = tamed(g, x, 40);
    if (x && rng_chance(&g->rng, 30)) /* a bias's gradient sums what is dropped, too */
        x = add_item(g, build_dropout(&g->b, x->value, 0.25, g->n_sites++), x->lo * 2, x->hi * 2);
    Item *loss = NULL;
    if (x) {
        Type ids = type;
        ids.rank--;
        ids.dtype = DT_I32;
        Item *label = found_or_leaf(g, ids);
        Item *all_of_it = add_item(g, build_unary(&g->b, OP_logsumexp, x->value), x->lo, x->hi + 9);
        loss = label ? binary(g, OP_sub, all_of_it, at_label(g, x, label, vocab)) : NULL;
        if (loss && rng_chance(&g->rng, 40))
            loss = binary(
                g, OP_sub, scaled(g, loss, 0.875),
                scaled(g, reduced(g, OP_reduce_sum, x, 1, &last), 0.125 / (double)vocab.size));
        if (loss && rng_chance(&g->rng, 60)) { /* only labels above 0 count */
            Dim dims[MAX_RANK];
            for (int i = 0; i < last; i++)
                dims[i] = type.dims[i];
            dims[last] = dim_const(1);
            Item *counts =
                reshaped(g, binary(g, OP_lt, constant(g, DT_I32, 0), label), last + 1, dims);
            Item *sum, *n;
            for (int i = 0; i <= last; i++)
                all[i] = i;
            sum = reduced(g, OP_reduce_sum, chosen(g, counts, loss, constant(g, g->real, 0)),
                          last + 1, all);
            n = reduced(g, OP_reduce_sum, cast_to(g, counts, g->real), last + 1, all);
            if (sum && n)
                loss = binary(g, OP_div, sum, binary(g, OP_max, n, constant(g, g->real, 1)));
            if (loss)
                loss->lo = -100, loss->hi = 100;
        }
    }
    g->most = most;
    return loss;
}

Item *block_ctc(Grow *g)
{
    Dim B = dim_symbol(SYM_B), T = dim_symbol(SYM_T), S = dim_symbol(SYM_S),
        V = dim_const(rng_between(&g->rng, 2, 7));
    Item *x = tamed(g, found_or_leaf(g, type_of(g->real, 3, (Dim[]){B, T, V})), 8);
    Item *labels = found_or_leaf(g, type_of(DT_I32, 2, (Dim[]){B, S}));
    if (!x || !labels)
        return NULL;
    labels = binary(g, OP_max, binary(g, OP_min, labels, constant(g, DT_I32, (double)V.size - 1)),
                    constant(g, DT_I32, 1));
    if (rng_chance(&g->rng, 60))
        x = binary(g, OP_add, x, weight(g, 1, &V));
    Item *log_p =
        x ? binary(g, OP_sub, x,
                   add_item(g, build_unary(&g->b, OP_logsumexp, x->value), x->lo, x->hi + 3))
          : NULL;
    if (!log_p || !labels)
        return NULL;
    Value *value = build(&g->b, OP_ctc, 2, (Value *[]){log_p->value, labels->value}, 0, NULL);
    if (!g->smooth && rng_chance(&g->rng, 30)) {
        Item *d = leaf(g, type_of(g->real, 1, &B));
        if (d)
            return add_item(g,
                            build(&g->b, OP_ctc_grad, 3,
                                  (Value *[]){log_p->value, labels->value, d->value}, 0, NULL),
                            -40, 40);
    }
    Item *loss = add_item(g, value, 0, INFINITY);
    if (!loss)
        return NULL;
    /* labels that do not fit into the frames: infinite, and left out */
    Item *y =
        chosen(g, binary(g, OP_lt, loss, constant(g, g->real, 1e6)), loss, constant(g, g->real, 0));
    if (y)
        y->hi = 400;
    return y;
}

/* A state takes a value of constant shape: a mean of something, moved a little. */
void block_state(Grow *g)
{
    Item *x = pick(g, is_float);
    if (!x || x->value->type.dtype != g->real)
        return;
    const Type *type = &x->value->type;
    int axes[MAX_RANK], n = 0;
    for (int i = 0; i < type->rank; i++)
        if (!dim_is_const(type->dims[i]))
            axes[n++] = i;
    x = tamed(g, reduced(g, OP_reduce_sum, tamed(g, x, 8), n, axes), 8);
    if (!x)
        return;
    const ParamInfo *info = module_add_param(
        g->module, (ParamInfo){.name = arena_printf(g->arena, "state%d", g->n_params++),
                               .type = x->value->type,
                               .role = PARAM_STATE,
                               .init = INIT_ZEROS});
    Item *state = add_item(g, build_new_param(&g->b, info), -8, 8);
    if (!state)
        return;
    Item *next =
        rng_chance(&g->rng, 70) ? binary(g, OP_add, scaled(g, state, 0.5), scaled(g, x, 0.5)) : x;
    if (next && type_equal(&next->value->type, &info->type))
        build_assign(&g->b, state->value, next->value);
}
