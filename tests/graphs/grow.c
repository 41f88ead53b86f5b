/* Sizes, items and leaves; see grow.h. */
#include "tests/graphs/grow.h"

#include <math.h>

/* ---- sizes ---- */

int64_t dim_extent(const Grow *g, Dim dim)
{
    int64_t most = dim.size;
    for (int i = 0; i < g->n_batches && !dim_is_const(dim); i++)
        if (g->batches[i].dims[dim.symbol].extent > most)
            most = g->batches[i].dims[dim.symbol].extent;
    return most;
}

int64_t type_elements(const Grow *g, const Type *type)
{
    int64_t n = 1;
    for (int i = 0; i < type->rank; i++)
        n *= dim_extent(g, type->dims[i]);
    return n;
}

bool type_fits(const Grow *g, const Type *type) { return type_elements(g, type) <= g->most; }

bool may_be_empty(const Grow *g, Dim dim)
{
    if (dim_is_const(dim))
        return dim.size == 0;
    for (int i = 0; i < g->n_batches; i++) {
        const BatchDim *d = &g->batches[i].dims[dim.symbol];
        if (d->extent == 0)
            return true;
        for (int r = 0; r < d->n; r++)
            if (d->lengths[r] == 0)
                return true;
    }
    return false;
}

int some_size(Grow *g) { return g->sizes[rng_below(&g->rng, 4)]; }

Dim some_dim(Grow *g)
{
    static const int symbols[] = {SYM_B, SYM_S, SYM_T, SYM_N, SYM_S, SYM_B,
                                  SYM_C, SYM_U, SYM_P, SYM_M, SYM_H};
    return rng_chance(&g->rng, 50) ? dim_const(some_size(g))
                                   : dim_symbol(RNG_PICK(&g->rng, symbols));
}

/* Shapes of models: letters are symbols, d a constant, h a small one. */
static const char *const shapes[] = {
    "BSd", "BSd", "BSd",  "BS",  "BTd", "BT",  "BSTd", "BST",  "BST",  "BhSd", "BhST",
    "BSS", "BSh", "Bd",   "d",   "dd",  "Nd",  "N",    "BN",   "BNd",  "",     "BdS",
    "SBd", "dBS", "Sd",   "ST",  "SS",  "Sh",  "hSd",  "hST",  "BShd", "BSN",  "NBS",
    "CU",  "CUd", "BSCU", "BCd", "BSU", "hN",  "BhSS", "BhTd", "hd",   "B",    "dS",
    "NN",  "RPd", "TB",   "BMd", "BMd", "BHd", "BM",   "BMSd",
};

static Type type_of_text(Grow *g, DType dtype, const char *text)
{
    static const char letters[] = "BSTNRPQCUMH";
    Type type = type_scalar(dtype);
    for (; *text; text++) {
        Dim dim = dim_const(some_size(g));
        if (*text == 'h')
            dim = dim_const(rng_between(&g->rng, 1, 3));
        for (int s = 0; letters[s]; s++)
            if (*text == letters[s])
                dim = dim_symbol(s);
        type.dims[type.rank++] = dim;
    }
    return type;
}

/* Of two equal batch dimensions none is the one that a ragged one goes by. */
static bool is_ambiguous(const Grow *g, const Type *type)
{
    int ragged = 0, batches = 0;
    for (int i = 0; i < type->rank; i++)
        for (int j = 0; j < type->rank; j++) {
            int symbol = type->dims[i].symbol;
            if (!symbol_is_ragged(g->module, symbol) ||
                type->dims[j].symbol != g->module->symbols.data[symbol].batch)
                continue;
            ragged++;
            for (int k = 0; k < j; k++)
                batches += dim_equal(type->dims[k], type->dims[j]);
        }
    return ragged && batches;
}

Type some_type(Grow *g, DType dtype)
{
    for (int tried = 0; tried < 20; tried++) {
        Type type = type_scalar(dtype);
        if (rng_chance(&g->rng, 80))
            type = type_of_text(g, dtype, RNG_PICK(&g->rng, shapes));
        else
            for (int rank = rng_below(&g->rng, 5); rank; rank--)
                type.dims[type.rank++] = some_dim(g);
        if (type_fits(g, &type) && !is_ambiguous(g, &type))
            return type;
    }
    return type_scalar(dtype);
}

Type thinned(Grow *g, Type type)
{
    int drop = rng_chance(&g->rng, 40) && type.rank ? rng_below(&g->rng, type.rank + 1) : 0;
    Type thin = type_scalar(type.dtype);
    for (int i = drop; i < type.rank; i++)
        thin.dims[thin.rank++] = rng_chance(&g->rng, 35) ? dim_const(1) : type.dims[i];
    return thin;
}

/* ---- items ---- */

Item *add_item(Grow *g, Value *value, double lo, double hi)
{
    if (!value || !type_fits(g, &value->type) || value->type.rank > 6 ||
        is_ambiguous(g, &value->type))
        return NULL;
    if (item_of(g, value)) /* the builder gave an operand back */
        return item_of(g, value);
    Item item = {value, lo, hi};
    vec_reserve(g->arena, g->items, 512); /* pointers stay */
    if (g->items.count == 512)
        return NULL;
    vec_push(g->arena, g->items, item);
    return &vec_last(g->items);
}

Item *item_of(Grow *g, const Value *value)
{
    for (size_t i = g->items.count; i-- > 0;)
        if (g->items.data[i].value == value)
            return &g->items.data[i];
    return NULL;
}

Item *pick(Grow *g, bool (*fits)(const Item *item))
{
    int n = (int)g->items.count;
    for (int tried = 0; tried < 40 && n; tried++) {
        int back =
            rng_chance(&g->rng, 60) ? rng_below(&g->rng, n < 6 ? n : 6) : rng_below(&g->rng, n);
        Item *item = &g->items.data[n - 1 - back];
        if (fits(item))
            return item;
    }
    return NULL;
}

bool is_any(const Item *item) { return is_finite(item); }
bool is_float(const Item *item)
{
    return (item->value->type.dtype == DT_F64 || item->value->type.dtype == DT_F32) &&
           is_finite(item);
}
bool is_int(const Item *item) { return item->value->type.dtype == DT_I32 && is_finite(item); }
bool is_number(const Item *item) { return item->value->type.dtype != DT_BOOL && is_finite(item); }
bool is_truth(const Item *item) { return item->value->type.dtype == DT_BOOL; }

double reach(const Item *item) { return fmax(fabs(item->lo), fabs(item->hi)); }

/* ---- leaves ---- */

const char *next_scope(Grow *g, const char *name)
{
    return arena_printf(g->arena, "block.%d.%s", g->n_scopes, name);
}

static bool all_const(const Type *type)
{
    for (int i = 0; i < type->rank; i++)
        if (!dim_is_const(type->dims[i]))
            return false;
    return true;
}

static Item *new_param(Grow *g, Type type, ParamRole role)
{
    const ParamInfo *info = module_add_param(
        g->module, (ParamInfo){.name = arena_printf(g->arena, "p%d", g->n_params++),
                               .type = type,
                               .role = role,
                               .init = INIT_ZEROS,
                               .decay = g->n_params % 2});
    return add_item(g, build_new_param(&g->b, info), -2, 2);
}

Item *weight(Grow *g, int rank, const Dim *dims)
{
    return new_param(g, type_of(g->real, rank, dims), PARAM_TRAINED);
}

Item *constant(Grow *g, DType dtype, double value)
{
    return add_item(g, build_const(&g->b, dtype, value), value, value);
}

Item *leaf(Grow *g, Type type)
{
    double lo = -2, hi = 2;
    if (type.dtype == DT_I32)
        lo = -1, hi = 9;
    if (type.dtype == DT_BOOL)
        lo = 0, hi = 1;
    bool is_real = type.dtype == DT_F64 || type.dtype == DT_F32;
    if (is_real && all_const(&type) && rng_chance(&g->rng, 65))
        return new_param(g, type, rng_chance(&g->rng, 85) ? PARAM_TRAINED : PARAM_FROZEN);
    if (is_real && rng_chance(&g->rng, 4)) {
        double value = rng_between(&g->rng, -6, 6) / 4.0;
        return add_item(g, build_const_of(&g->b, type, value), value, value);
    }
    return add_item(g, build_input(&g->b, arena_printf(g->arena, "x%d", g->n_leaves++), type), lo,
                    hi);
}

Item *float_leaf(Grow *g, int rank, const Dim *dims)
{
    return leaf(g, type_of(g->real, rank, dims));
}

Item *found_or_leaf(Grow *g, Type type)
{
    int n = (int)g->items.count, from = n ? rng_below(&g->rng, n) : 0;
    for (int i = 0; i < n && rng_chance(&g->rng, 97); i++) {
        Item *item = &g->items.data[(from + i) % n];
        if (type_equal(&item->value->type, &type) && is_finite(item))
            return item;
    }
    return leaf(g, type);
}
