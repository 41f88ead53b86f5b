/* Products, rows by index, and values from nothing, at random. */
#include "tests/graphs/grow.h"

#include <math.h>
#include <string.h>

static bool is_factor(const Item *item)
{
    return dtype_is_float(item->value->type.dtype) && is_finite(item) && item->value->type.rank > 0;
}

typedef struct Axes {
    int n_batch, n_contract, batch_x[MAX_RANK], batch_y[MAX_RANK], contract_x[MAX_RANK],
        contract_y[MAX_RANK];
} Axes;

/* Pairs of equal dims of both, each as batch, contracted or free. */
static Axes pair_axes(Grow *g, const Type *x, const Type *y)
{
    Axes axes = {0};
    bool taken[MAX_RANK] = {0};
    int from = rng_below(&g->rng, y->rank);
    for (int i = 0; i < x->rank; i++)
        for (int k = 0; k < y->rank; k++) {
            int j = (k + from) % y->rank;
            if (taken[j] || !dim_equal(x->dims[i], y->dims[j]))
                continue;
            int role = rng_below(&g->rng, 10);
            if (role < 5) {
                axes.contract_x[axes.n_contract] = i;
                axes.contract_y[axes.n_contract++] = j;
            } else if (role < 9) {
                axes.batch_x[axes.n_batch] = i;
                axes.batch_y[axes.n_batch++] = j;
            } else
                break;
            taken[j] = true;
            break;
        }
    return axes;
}

static void shuffle_dims(Grow *g, Type *type)
{
    for (int i = type->rank - 1; i > 0; i--) {
        int j = rng_below(&g->rng, i + 1);
        Dim dim = type->dims[i];
        type->dims[i] = type->dims[j];
        type->dims[j] = dim;
    }
}

/* A second operand made for x: some of its dims, and new ones. */
static Item *other_factor(Grow *g, const Type *x)
{
    Type y = type_scalar(x->dtype);
    for (int i = 0; i < x->rank; i++)
        if (rng_chance(&g->rng, 55))
            y.dims[y.rank++] = x->dims[i];
    for (int n = rng_below(&g->rng, 3); n && y.rank < 5; n--)
        y.dims[y.rank++] = rng_chance(&g->rng, 70) ? dim_const(some_size(g)) : some_dim(g);
    shuffle_dims(g, &y);
    return y.rank && type_fits(g, &y) ? found_or_leaf(g, y) : NULL;
}

/* bf16 products may be given as f32. */
static Item *half_product(Grow *g, Item *x, Item *y, const Axes *a)
{
    Attr attrs[] = {attr_int(ATTR_dtype, rng_chance(&g->rng, 60) ? DT_F32 : DT_BF16),
                    attr_ints(ATTR_batch_a, a->n_batch, a->batch_x),
                    attr_ints(ATTR_batch_b, a->n_batch, a->batch_y),
                    attr_ints(ATTR_contract_a, a->n_contract, a->contract_x),
                    attr_ints(ATTR_contract_b, a->n_contract, a->contract_y)};
    int64_t terms = 1;
    for (int i = 0; i < a->n_contract; i++)
        terms *= dim_extent(g, x->value->type.dims[a->contract_x[i]]);
    Value *value = build(&g->b, OP_dot, 2, (Value *[]){x->value, y->value}, 5, attrs);
    if (!value || type_elements(g, &value->type) * (terms ? terms : 1) > 40 * g->most)
        return NULL;
    double most = reach(x) * reach(y) * (double)terms;
    return add_item(g, value, -most, most);
}

static const char *some_quant(Grow *g)
{
    return quant_info((Quant)rng_between(&g->rng, QUANT_NONE + 1, QUANT_COUNT - 1))->word;
}

/* Of integers: by a matrix, along a constant axis of x; NULL: there is none. */
static Item *integer_product(Grow *g, Item *x)
{
    const Type *a = &x->value->type;
    const int axis = rng_below(&g->rng, a->rank), turned = rng_below(&g->rng, 2);
    if (!dim_is_const(a->dims[axis]))
        return NULL;
    Type b = type_scalar(DT_F32);
    b.rank = 2;
    b.dims[turned] = a->dims[axis];
    b.dims[1 - turned] = rng_chance(&g->rng, 70) ? dim_const(some_size(g)) : some_dim(g);
    Item *y = type_fits(g, &b) ? tamed(g, found_or_leaf(g, b), 50) : NULL;
    if (!y || a->rank == MAX_RANK)
        return NULL;
    Attr attrs[] = {attr_ints(ATTR_batch_a, 0, NULL), attr_ints(ATTR_batch_b, 0, NULL),
                    attr_ints(ATTR_contract_a, 1, &axis), attr_ints(ATTR_contract_b, 1, &turned),
                    attr_string(ATTR_quant, some_quant(g))};
    Value *value = build(&g->b, OP_dot, 2, (Value *[]){x->value, y->value}, 5, attrs);
    const int64_t terms = a->dims[axis].size;
    if (!value || type_elements(g, &value->type) * (terms ? terms : 1) > 40 * g->most)
        return NULL;
    const double most = reach(x) * reach(y) * (double)terms;
    return add_item(g, value, -most, most);
}

/* Scaled, where it is not of bf16; NULL where the operands do not fit. */
static Item *some_product(Grow *g, Item *x, Item *y)
{
    const Type *a = &x->value->type, *b = &y->value->type;
    Axes axes = pair_axes(g, a, b);
    if (a->rank + b->rank - axes.n_batch - 2 * axes.n_contract > 6)
        return NULL;
    if (a->dtype == DT_BF16)
        return half_product(g, x, y, &axes);
    Item *z = product(g, x, y, axes.n_batch, axes.batch_x, axes.batch_y, axes.n_contract,
                      axes.contract_x, axes.contract_y);
    return z && rng_chance(&g->rng, 50) ? tamed(g, z, 20) : z;
}

Item *grow_product(Grow *g)
{
    Item *x = tamed(g, pick(g, is_factor), 50);
    Item *y = x && rng_chance(&g->rng, 40) ? pick(g, is_factor) : NULL;
    if (!x)
        return NULL;
    if (x->value->type.dtype == DT_F32 && rng_chance(&g->rng, 70))
        return integer_product(g, x);
    if (!y || y->value->type.dtype != x->value->type.dtype)
        y = other_factor(g, &x->value->type);
    y = tamed(g, y, 50);
    return y ? some_product(g, x, y) : NULL;
}

/* B, ragged dimensions over it, now and then another pair, and constants, in any order. */
static Item *of_sentences(Grow *g)
{
    static const int ragged[] = {SYM_S, SYM_T, SYM_S, SYM_M};
    Type type = type_scalar(g->real);
    type.dims[type.rank++] = dim_symbol(SYM_B);
    for (int i = 0; i < 4; i++)
        if (rng_chance(&g->rng, i > 1 ? 15 : 60))
            type.dims[type.rank++] = dim_symbol(ragged[i]);
    if (rng_chance(&g->rng, 15)) { /* and those of others */
        type.dims[type.rank++] = dim_symbol(SYM_C);
        type.dims[type.rank++] = dim_symbol(SYM_U);
    }
    if (rng_chance(&g->rng, 60))
        type.dims[type.rank++] = dim_const(some_size(g));
    shuffle_dims(g, &type);
    return type_fits(g, &type) ? found_or_leaf(g, type) : NULL;
}

Item *block_sentences(Grow *g)
{
    Item *x = of_sentences(g), *y = tamed(g, of_sentences(g), 50);
    x = tamed(g, x, 50);
    return x && y ? some_product(g, x, y) : NULL;
}

/* Tokens of one batch beside those of another: summed, or added to the rows of a table. */
Item *block_two_batches(Grow *g)
{
    Dim dims[5] = {dim_symbol(SYM_B), dim_symbol(rng_chance(&g->rng, 50) ? SYM_S : SYM_T),
                   dim_symbol(SYM_C), dim_symbol(SYM_U), dim_const(some_size(g))};
    Type type = type_of(g->real, 4 + rng_chance(&g->rng, 30), dims);
    Item *x = type_fits(g, &type) ? found_or_leaf(g, type) : NULL;
    if (x && rng_chance(&g->rng, 50))
        x = binary(g, OP_mul, x, found_or_leaf(g, thinned(g, type)));
    x = tamed(g, x, 50);
    if (!x || rng_chance(&g->rng, 50))
        return x ? reduced(g, OP_reduce_sum, x, 2, (int[]){0, 1}) : NULL;
    Item *index = found_or_leaf(g, type_of(DT_I32, 2, dims));
    double most = reach(x) * (double)type_elements(g, &index->value->type);
    return add_item(g, build_scatter_add(&g->b, x->value, index->value, rng_between(&g->rng, 1, 6)),
                    -most, most);
}

/* ---- rows by index ---- */

static bool is_table(const Item *item)
{
    return is_finite(item) && item->value->type.rank > 0 && dim_is_const(item->value->type.dims[0]);
}

/* Rows as integers, or as panels, where no gradient is taken. */
static Item *integer_rows(Grow *g, Value *index)
{
    const Dim dims[] = {dim_const(rng_between(&g->rng, 1, 70)), dim_const(some_size(g))};
    Item *found = leaf(g, type_of(DT_F32, 2, dims));
    if (!found || found->value->op->kind != OP_param)
        return NULL;
    const Item table = *found;
    g->items.count--; /* no other op reads it */
    Attr packed =
        rng_chance(&g->rng, 20) ? attr_int(ATTR_panels, 1) : attr_string(ATTR_quant, some_quant(g));
    Value *rows = build(&g->b, OP_gather, 2, (Value *[]){table.value, index}, 1, &packed);
    return add_item(g, rows, fmin(table.lo, 0), fmax(table.hi, 0));
}

/* An output of its own: few ops that come later take f32. */
Item *block_integers(Grow *g)
{
    Type type = some_type(g, DT_I32);
    Item *index = g->smooth ? NULL : leaf(g, type);
    if (!g->smooth && rng_chance(&g->rng, 25)) { /* known when the program is made */
        const int64_t n = rng_between(&g->rng, 1, 20);
        index = add_item(g, build_iota(&g->b, dim_const(n)), 0, (double)n);
    }
    Item *x = index && index->value->type.rank < MAX_RANK ? integer_rows(g, index->value) : NULL;
    Item *y = x && rng_chance(&g->rng, 50) ? integer_product(g, x) : x;
    g->n_scopes++;
    g->rounds |= y != NULL;
    if (y)
        build_output(&g->b, next_scope(g, "integers"), y->value);
    return y;
}

Item *grow_gather(Grow *g)
{
    Item *table = pick(g, is_table);
    if (!table || rng_chance(&g->rng, 40)) {
        Dim dims[2] = {dim_const(rng_between(&g->rng, 1, 12)), dim_const(some_size(g))};
        table = weight(g, rng_between(&g->rng, 1, 2), dims);
    }
    Item *index = pick(g, is_int);
    if (!index || rng_chance(&g->rng, 50))
        index = leaf(g, some_type(g, DT_I32));
    if (!table || !index || table->value->type.rank + index->value->type.rank > 6)
        return NULL;
    Type type = index->value->type;
    for (int i = 1; i < table->value->type.rank; i++)
        type.dims[type.rank++] = table->value->type.dims[i];
    if (!type_fits(g, &type))
        return NULL;
    return add_item(g, build_gather(&g->b, table->value, index->value), fmin(table->lo, 0),
                    fmax(table->hi, 0));
}

Item *grow_scatter(Grow *g)
{
    Item *rows = pick(g, is_float);
    if (!rows || !rows->value->type.rank)
        return NULL;
    rows = tamed(g, rows, 1000);
    if (!rows)
        return NULL;
    Type type = rows->value->type;
    type.dtype = DT_I32;
    type.rank = rng_between(&g->rng, 1, type.rank);
    double n = (double)type_elements(g, &type);
    Item *index = found_or_leaf(g, type);
    if (!index)
        return NULL;
    int64_t size = rng_between(&g->rng, 1, 12);
    return add_item(g, build_scatter_add(&g->b, rows->value, index->value, size), -reach(rows) * n,
                    reach(rows) * n);
}

/* ---- a matrix for each row ---- */

/* [X…, n] for an index [X…], of whose last constants it may have 1. */
static Item *rows_for(Grow *g, Type type, int64_t n)
{
    type.dtype = g->real;
    for (int i = type.rank - 1; i >= 0 && dim_is_const(type.dims[i]) && rng_chance(&g->rng, 50);
         i--)
        type.dims[i] = dim_const(1);
    type.dims[type.rank++] = dim_const(n);
    return type_fits(g, &type) ? tamed(g, found_or_leaf(g, type), 20) : NULL;
}

static bool has_such_rows(const Item *x, const Type *index)
{
    return x && x->value->type.rank == index->rank + 1;
}

/* Rows by the matrices that are chosen for them, written as op or as a product of what is looked
 * up, or the adjoint. */
Item *grow_grouped(Grow *g)
{
    Type type = some_type(g, DT_I32);
    int ragged = 0;
    for (int i = 0; i < type.rank; i++)
        ragged += symbol_is_ragged(g->module, type.dims[i].symbol);
    if (ragged > 1 || type.rank > 4)
        return NULL;
    Item *index = found_or_leaf(g, type);
    const int64_t n = rng_between(&g->rng, 1, 6), d = some_size(g), f = some_size(g);
    const bool across = rng_chance(&g->rng, 50);
    Item *x = index ? rows_for(g, type, d) : NULL;
    if (!has_such_rows(x, &type))
        return NULL;
    if (rng_chance(&g->rng, 30)) {
        Item *y = rows_for(g, type, f);
        if (!has_such_rows(y, &type))
            return NULL;
        const double most = reach(x) * reach(y) * (double)type_elements(g, &type);
        return add_item(g, build_grouped_outer(&g->b, x->value, y->value, index->value, n), -most,
                        most);
    }
    Item *w =
        weight(g, 3, (Dim[]){dim_const(n), dim_const(across ? f : d), dim_const(across ? d : f)});
    const double most = w ? reach(x) * reach(w) * (double)d : 0;
    if (!w || rng_chance(&g->rng, 60))
        return w ? add_item(g,
                            build_grouped_dot(&g->b, x->value, w->value, index->value, 1 + across),
                            -most, most)
                 : NULL;
    /* [X…, 1, d] @ [X…, d, f] */
    Dim dims[MAX_RANK];
    memcpy(dims, x->value->type.dims, sizeof dims);
    dims[type.rank + 1] = dims[type.rank];
    dims[type.rank] = dim_const(1);
    int turned[MAX_RANK];
    for (int i = 0; i < type.rank + 2; i++)
        turned[i] = i < type.rank ? i : 2 * type.rank + 1 - i;
    Value *matrices = build_gather(&g->b, w->value, index->value);
    if (matrices && across)
        matrices = build_transpose(&g->b, matrices, turned);
    return add_item(
        g, build_matmul(&g->b, build_reshape(&g->b, x->value, type.rank + 2, dims), matrices),
        -most, most);
}

/* ---- elements by position ---- */

/* An axis of x along which positions may be looked up, or -1. */
static int some_looked_up(Grow *g, const Type *x)
{
    if (x->rank == 0)
        return -1;
    int axis = rng_below(&g->rng, x->rank), symbol = x->dims[axis].symbol;
    if (dim_is_const(x->dims[axis]))
        return axis;
    int batch = g->module->symbols.data[symbol].batch;
    if (batch != NO_SYMBOL && type_find_dim(x, batch) < 0)
        return -1;
    for (int i = 0; i < x->rank; i++)
        if (symbol_is_ragged_over(g->module, x->dims[i].symbol, symbol))
            return -1;
    return axis;
}

/* In place of the dimension: itself, another one of the same batch, or a constant. */
static Dim some_positions(Grow *g, const Type *x, Dim dim)
{
    static const int ragged[] = {SYM_S, SYM_T, SYM_U, SYM_P};
    int other = ragged[rng_below(&g->rng, 4)];
    if (rng_chance(&g->rng, 60))
        return dim;
    if (type_find_dim(x, g->module->symbols.data[other].batch) >= 0 && rng_chance(&g->rng, 50))
        return dim_symbol(other);
    return dim_const(some_size(g));
}

/* Positions along the axis of a result of this type: 0, 1, 2, …, moved or backwards, of each
 * sentence or of all; or any numbers. */
static Item *some_index(Grow *g, const Type *type, int axis)
{
    Dim dim = type->dims[axis];
    Item *index = positions(g, dim, axis, type->rank);
    if (rng_chance(&g->rng, 30)) {
        Type any = thinned(g, *type);
        any.dtype = DT_I32;
        return found_or_leaf(g, any);
    }
    if (rng_chance(&g->rng, 30)) {
        Type by_sentence = thinned(g, *type);
        by_sentence.dtype = DT_I32;
        if (axis >= type->rank - by_sentence.rank)
            by_sentence.dims[axis - (type->rank - by_sentence.rank)] = dim_const(1);
        index = binary(g, rng_chance(&g->rng, 50) ? OP_add : OP_sub, found_or_leaf(g, by_sentence),
                       index);
    }
    return binary(g, OP_sub, index, constant(g, DT_I32, rng_between(&g->rng, -3, 3)));
}

/* The elements looked up, or positions like these added to. */
Item *grow_lookup(Grow *g)
{
    Item *x = pick(g, is_any);
    int axis = x ? some_looked_up(g, &x->value->type) : -1;
    if (axis < 0 || !is_finite(x))
        return NULL;
    Value *value = x->value;
    double most = reach(x), lo = fmin(x->lo, 0), hi = fmax(x->hi, 0);
    Type type = value->type;
    type.dims[axis] = some_positions(g, &type, type.dims[axis]);
    Item *index = type_fits(g, &type) ? some_index(g, &type, axis) : NULL;
    if (!index)
        return NULL;
    if (value->type.dtype != g->real || !rng_chance(&g->rng, 30))
        return add_item(g, build_lookup(&g->b, value, index->value, axis), lo, hi);
    Type from = type;
    from.dtype = g->real;
    Item *rows = found_or_leaf(g, from);
    if (!rows || !is_finite(rows) || !type_same_shape(&rows->value->type, &type))
        return NULL;
    most = reach(rows) * (double)type_elements(g, &type);
    return add_item(g,
                    build_lookup_add(&g->b, rows->value, index->value, axis, value->type.rank,
                                     value->type.dims),
                    -most, most);
}

Item *grow_top_k(Grow *g)
{
    Item *x = pick(g, is_number);
    const int last = x ? x->value->type.rank - 1 : -1;
    if (last < 0)
        return NULL;
    Value *value = x->value;
    const Dim n = value->type.dims[last];
    const int batch = dim_is_const(n) ? NO_SYMBOL : g->module->symbols.data[n.symbol].batch;
    if (batch != NO_SYMBOL && type_find_dim(&value->type, batch) < 0)
        return NULL;
    Dim k = some_positions(g, &value->type, n);
    if (dim_is_const(n) && dim_is_const(k) && k.size > n.size)
        k = n;
    if (symbol_is_ragged(g->module, k.symbol) &&
        type_find_dim(&value->type, g->module->symbols.data[k.symbol].batch) < 0)
        return NULL;
    Type type = value->type;
    type.dims[last] = k;
    Item *index = type_fits(g, &type)
                      ? add_item(g, build_top_k(&g->b, value, k), -1, (double)dim_extent(g, n) - 1)
                      : NULL;
    if (!index || rng_chance(&g->rng, 50))
        return index;
    return add_item(g, build_lookup(&g->b, value, index->value, last), fmin(x->lo, 0),
                    fmax(x->hi, 0));
}

/* Σ x[position - k] w[k], causal or not. */
Item *block_convolution(Grow *g)
{
    Dim dims[] = {dim_symbol(SYM_B), dim_symbol(rng_chance(&g->rng, 50) ? SYM_S : SYM_T),
                  dim_const(some_size(g))};
    Type type = type_of(g->real, 3, dims);
    Item *x = type_fits(g, &type) ? tamed(g, found_or_leaf(g, type), 20) : NULL, *sum = NULL;
    if (!x || !type_same_shape(&x->value->type, &type))
        return NULL;
    int taps = rng_between(&g->rng, 1, 6), before = rng_between(&g->rng, 0, taps);
    for (int k = 0; k < taps; k++) {
        Item *at = binary(g, OP_add, positions(g, dims[1], 1, 3), constant(g, DT_I32, k - before));
        Item *w = weight(g, 1, &dims[2]);
        if (!at || !w)
            return NULL;
        Item *row = add_item(g, build_lookup(&g->b, x->value, at->value, 1), fmin(x->lo, 0),
                             fmax(x->hi, 0));
        row = binary(g, OP_mul, row, w);
        sum = sum ? binary(g, OP_add, sum, row) : row;
    }
    return sum;
}

/* ---- from nothing ---- */

Item *grow_source(Grow *g)
{
    static const int ragged[] = {SYM_S, SYM_T, SYM_U, SYM_P, SYM_M, SYM_H};
    switch (rng_below(&g->rng, 7)) {
    case 0: {
        Type type = some_type(g, DT_I32);
        int axis = type.rank ? rng_below(&g->rng, type.rank) : 0;
        return type.rank ? positions(g, type.dims[axis], axis, type.rank) : NULL;
    }
    case 1: {
        int symbol = RNG_PICK(&g->rng, ragged);
        DType dtype = rng_chance(&g->rng, 50) ? g->real : DT_I32;
        double n = 1;
        for (int i = 0; i < g->n_batches; i++) {
            double sum = 0;
            const BatchDim *d = &g->batches[i].dims[symbol];
            for (int r = 0; r < d->n; r++)
                sum += d->lengths[r];
            n = fmax(n, sum);
        }
        return add_item(g, build_size(&g->b, dtype, symbol), 0, n);
    }
    case 2: {
        int symbol = RNG_PICK(&g->rng, ragged);
        return add_item(g, build_lengths(&g->b, rng_chance(&g->rng, 50) ? g->real : DT_I32, symbol),
                        0, (double)dim_extent(g, dim_symbol(symbol)));
    }
    case 3: return add_item(g, build_random(&g->b, some_type(g, g->real), g->n_sites++), 0, 1);
    case 4: return leaf(g, some_type(g, rng_chance(&g->rng, 30) ? DT_BOOL : DT_I32));
    case 5:
        if (g->mixed)
            return leaf(g, some_type(g, rng_chance(&g->rng, 50) ? DT_BF16 : DT_F32));
        /* fall through */
    default: return leaf(g, some_type(g, g->real));
    }
}
