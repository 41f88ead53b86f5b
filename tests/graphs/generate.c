/* Families of graphs: which parts of models and which ops, how likely; and the batches. */
#include "ir/text.h"
#include "passes/clone.h"
#include "tests/graphs/grow.h"

#include <stdlib.h>
#include <string.h>

typedef Item *GrowOp(Grow *g);

static Item *wide_cross_entropy(Grow *g) { return block_cross_entropy(g, true); }
static Item *cross_entropy(Grow *g) { return block_cross_entropy(g, false); }

/* Ops at random, by how likely each is beside the others. */
static const struct {
    GrowOp *grow;
    int weight;
} ops[] = {
    /* clang-format off */
    {grow_unary,         17},
    {grow_binary,        26},
    {grow_logic,         4},
    {grow_select,        7},
    {grow_cast,          3},
    {grow_reduce,        11},
    {grow_norm,          5},
    {grow_reshape,       6},
    {grow_transpose,     6},
    {grow_stretch,       3},
    {grow_window,        8},
    {grow_product,       8},
    {grow_gather,        3},
    {grow_scatter,       3},
    {grow_grouped,       2},
    {grow_lookup,        4},
    {grow_top_k,         3},
    {grow_source,        4},
    {block_norm,         1},
    {block_feed_forward, 1},
    {block_projections,  1},
    /* clang-format on */
};
enum { MOST_BLOCKS = 4 };

typedef struct Recipe {
    GrowOp *blocks[MOST_BLOCKS]; /* any of them, several times */
    GrowOp *often;               /* this op more than others, or NULL */
    int fewest, most;            /* ops at random */
    int loss;                    /* of a hundred, how many have a loss */
    bool mixed, scalars;
} Recipe;

const Family families[] = {
    /* clang-format off */
    {"elements",  "elementwise ops that broadcast, truth values, integers", 10},
    {"rows",      "reductions within reductions, softmax and norms",        12},
    {"shapes",    "chains of reshape, transpose, slice, pad, concat, flip", 10},
    {"products",  "contractions of all kinds, several of one operand",      12},
    {"sentences", "products and sums over sentences of several lengths",    6},
    {"attention", "attention with masks, positions, heads, and ops inside", 18},
    {"indices",   "gathers, scatters, chosen matrices, indices outside",    8},
    {"positions", "elements by position, convolutions, their adjoints",     8},
    {"model",     "blocks of a transformer with a loss",                    14},
    {"losses",    "cross-entropy, smoothed, tied; CTC",                     7},
    {"wide",      "losses as wide as a vocabulary, by chunks of rows",      4},
    {"cache",     "steps of decoding over caches that are appended to",     5},
    {"decoder",   "texts to logits: weights that look back, or leak",       8},
    {"mixed",     "casts between all element types, products of bf16",      6},
    {"scalars",   "scalars and tiny tensors",                               2},
    /* clang-format on */
};
const int family_count = sizeof families / sizeof *families;

static const Recipe recipes[] = {
    /* clang-format off */
    {{NULL},                                                             NULL,            10, 40, 35, false, false},
    {{block_norm},                                                       grow_reduce,     8,  35, 40, false, false},
    {{block_embedding},                                                  grow_window,     10, 35, 35, false, false},
    {{block_projections, block_feed_forward},                            grow_product,    6,  25, 45, false, false},
    {{block_sentences, block_two_batches},                               block_sentences, 8,  20, 45, false, false},
    {{block_attention},                                                  NULL,            1,  20, 50, false, false},
    {{block_embedding, grow_grouped},                                    grow_gather,     8,  30, 45, false, false},
    {{block_convolution},                                                grow_lookup,     8,  30, 60, false, false},
    {{block_embedding, block_attention, block_feed_forward, block_norm},
     /* clang-format on */
     NULL,
     0,
     10,
     90,
     false,
     false},
    /* clang-format off */
    {{cross_entropy, block_ctc, cross_entropy},                          NULL,            2,  15, 85, false, false},
    {{wide_cross_entropy},                                               NULL,            0,  6,  85, false, false},
    {{block_cache},                                                      NULL,            2,  20, 0,  false, false},
    {{block_decoder},                                                    NULL,            0,  0,  0,  false, false},
    {{block_attention, block_projections, block_integers},               grow_cast,       10, 35, 25, true,  false},
    {{NULL},                                                             NULL,            8,  30, 40, false, true},
    /* clang-format on */
};

/* ---- batches ---- */

static void set_lengths(Rng *rng, BatchDim *d, int64_t rows, int least, int most, bool equal)
{
    int same = rng_between(rng, least, most);
    d->n = (int)rows;
    d->extent = 0;
    for (int r = 0; r < rows; r++) {
        d->lengths[r] = equal ? same : rng_between(rng, least, most);
        if (!equal && least == 0 && rng_chance(rng, 12))
            d->lengths[r] = 0;
        d->extent = d->lengths[r] > d->extent ? d->lengths[r] : d->extent;
    }
}

static int64_t some_rows(Rng *rng)
{
    static const int rows[] = {1, 2, 3, 4, 2, 3, 5, 1, 7};
    return RNG_PICK(rng, rows);
}

/* Large: positions across the widths of vectors and blocks, or many rows. */
static Batch some_batch(Rng *rng, bool large)
{
    static const int longest[] = {1, 3, 5, 7, 4, 9, 17};
    static const int longer[] = {33, 65, 70, 130};
    Batch batch = {0};
    for (int i = 0; i < GRAPH_SYMBOLS; i++)
        batch.dims[i].n = -1;
    int most = large ? RNG_PICK(rng, longer) : RNG_PICK(rng, longest);
    int64_t rows = large && rng_chance(rng, 50) ? rng_between(rng, 1, 6) : some_rows(rng);
    batch.dims[SYM_B].extent = rows;
    int least = rng_chance(rng, 55) ? 0 : 1;
    bool equal = rng_chance(rng, 20);
    set_lengths(rng, &batch.dims[SYM_S], rows, least, most, equal);
    if (rng_chance(rng, 25))
        batch.dims[SYM_T] = batch.dims[SYM_S];
    else
        set_lengths(rng, &batch.dims[SYM_T], rows, rng_chance(rng, 50) ? 0 : 1,
                    large ? rng_between(rng, 5, 40) : most + 1, rng_chance(rng, 20));
    batch.dims[SYM_N].extent = rng_chance(rng, 5) ? 0 : rng_between(rng, 1, large ? 40 : 6);
    int64_t others = rng_between(rng, 1, 4);
    batch.dims[SYM_R].extent = others;
    set_lengths(rng, &batch.dims[SYM_P], others, 1, most, false);
    set_lengths(rng, &batch.dims[SYM_Q], others, rng_chance(rng, 20) ? 0 : 1,
                rng_chance(rng, 60) ? 1 : 3, rng_chance(rng, 60));
    BatchDim *p = &batch.dims[SYM_P], *q = &batch.dims[SYM_Q];
    q->extent = 0;
    for (int r = 0; r < others; r++) {
        q->lengths[r] = q->lengths[r] > p->lengths[r] ? p->lengths[r] : q->lengths[r];
        q->extent = q->lengths[r] > q->extent ? q->lengths[r] : q->extent;
    }
    batch.dims[SYM_C].extent = rng_between(rng, 1, 3);
    set_lengths(rng, &batch.dims[SYM_U], batch.dims[SYM_C].extent, 0, 4, false);
    return batch;
}

/* Some hundred rows, so that loops over chunks have several. */
static Batch tall_batch(Rng *rng)
{
    Batch batch = some_batch(rng, false);
    int64_t rows = rng_between(rng, 3, 6);
    batch.dims[SYM_B].extent = rows;
    set_lengths(rng, &batch.dims[SYM_S], rows, 60, 110, false);
    set_lengths(rng, &batch.dims[SYM_T], rows, 0, 3, false);
    return batch;
}

/* ---- growing ---- */

static void grow_some(Grow *g, const Recipe *recipe)
{
    if (recipe->often && rng_chance(&g->rng, 30)) {
        recipe->often(g);
        return;
    }
    int all = 0;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        all += ops[i].weight;
    int at = rng_below(&g->rng, all);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if ((at -= ops[i].weight) < 0) {
            if (rng_chance(&g->rng, 25))
                g->b.scope = next_scope(g, "any");
            ops[i].grow(g);
            return;
        }
}

static void add_blocks(Grow *g, const Recipe *recipe)
{
    int n = 0;
    while (n < MOST_BLOCKS && recipe->blocks[n])
        n++;
    for (int i = 0, count = n ? rng_between(&g->rng, 1, n < 3 ? 2 : n) : 0; i < count; i++)
        recipe->blocks[n == 4 ? i : rng_below(&g->rng, n)](g);
}

static Item *sum_of_all(Grow *g, Item *x)
{
    int first[MAX_RANK], n = 0, rest[MAX_RANK], m = 0;
    bool split = rng_chance(&g->rng, 30);
    for (int i = 0; x && i < x->value->type.rank; i++)
        if (split && rng_chance(&g->rng, 50))
            rest[m++] = i;
        else
            first[n++] = i;
    x = reduced(g, OP_reduce_sum, x, n, first);
    x = reduced(g, OP_reduce_sum, x, m, rest);
    return reshaped(g, x, 0, NULL);
}

static bool is_real(const Item *item)
{
    return is_float(item) && item->value->op->kind != OP_const && item->value->op->kind != OP_input;
}

/* A weighted sum of some values, so that no gradient is the same everywhere. */
static void add_loss(Grow *g)
{
    Item *loss = NULL;
    for (int n = rng_between(&g->rng, 1, 3); n; n--) {
        Item *x = tamed(g, pick(g, is_real), 100);
        if (!x)
            continue;
        if (x->value->type.dtype != g->real)
            x = cast_to(g, x, g->real);
        if (x && x->value->type.rank && rng_chance(&g->rng, 70))
            x = binary(g, OP_mul, x, found_or_leaf(g, thinned(g, x->value->type)));
        x = sum_of_all(g, x);
        loss = loss && x ? binary(g, OP_add, loss, x) : x ? x : loss;
    }
    if (!loss)
        loss = sum_of_all(g, weight(g, 1, (Dim[]){dim_const(3)}));
    if (reach(loss) > 100)
        loss = scaled(g, loss, 0.0625);
    g->b.scope = NULL;
    if (loss)
        build_output(&g->b, "loss", loss->value);
}

static bool is_made(const Item *item) { return item->value->op->n_args > 0; }

static void add_outputs(Grow *g)
{
    int n = rng_between(&g->rng, 1, 4);
    for (int i = 0; i < n; i++) {
        Item *x = i == 0                    ? pick(g, is_made)
                  : rng_chance(&g->rng, 93) ? pick(g, is_any)
                                            : &g->items.data[0];
        if (x)
            build_output(&g->b, arena_printf(g->arena, "out%d", i), x->value);
    }
}

int count_ops(const Function *function)
{
    int n = 0;
    FOR_OPS (op, &function->body)
        n += op_family(op) != FAMILY_leaf && op_family(op) != FAMILY_effect;
    return n;
}

static void add_symbols(Module *module)
{
    static const struct {
        const char *name;
        int batch;
        DimFormula formula;
    } symbols[GRAPH_SYMBOLS] = {
        /* clang-format off */
        {"B", NO_SYMBOL, {0}},
        {"S", SYM_B, {0}},
        {"T", SYM_B, {0}},
        {"N", NO_SYMBOL, {0}},
        {"R", NO_SYMBOL, {0}},
        {"P", SYM_R, {0}},
        {"Q", SYM_R, {0}},
        {"C", NO_SYMBOL, {0}},
        {"U", SYM_C, {0}},
        {"M", SYM_B, {2, {{SYM_S, 1}, {SYM_T, 1}}, 1, 1, 0, 0}},
        {"H", SYM_B, {1, {{SYM_S, 3}}, -2, 2, 0, 4}},
        /* clang-format on */
    };
    for (int i = 0; i < GRAPH_SYMBOLS; i++) {
        int symbol = module_add_symbol(module, symbols[i].name, symbols[i].batch);
        module->symbols.data[symbol].formula = symbols[i].formula;
    }
}

/* One try: false if it has too few ops. */
static bool grow_case(Arena *arena, Rng rng, int family, Case *out)
{
    static const int sizes[] = {1, 2, 3, 4, 5, 6, 8, 12, 16, 17, 33};
    const Recipe *recipe = &recipes[family];
    Diagnostics diags;
    diag_init(&diags, arena);
    Grow g = {.rng = rng,
              .arena = arena,
              .module = module_new(arena, &diags, "graph"),
              .real = DT_F64,
              .mixed = recipe->mixed,
              .batches = out->batches};
    bool wide = !strcmp(families[family].name, "wide"), tall = wide && rng_chance(&g.rng, 40);
    bool attends = !strcmp(families[family].name, "attention");
    bool large = !wide && rng_chance(&g.rng, attends ? 22 : 8);
    g.n_batches = out->n_batches = tall || large ? 1 : rng_between(&g.rng, 1, 2);
    for (int i = 0; i < g.n_batches; i++)
        out->batches[i] = tall ? tall_batch(&g.rng) : some_batch(&g.rng, large);
    for (int i = 0; i < 4; i++)
        g.sizes[i] = recipe->scalars ? rng_between(&g.rng, 1, 2) : RNG_PICK(&g.rng, sizes);
    if (large)
        g.sizes[0] = rng_chance(&g.rng, 50) ? 64 : 70;
    g.most = recipe->scalars ? 4 : large ? 20000 : 2500;
    if (tall)
        g.most = 8000;
    g.smooth = rng_chance(&g.rng, recipe->loss);
    add_symbols(g.module);
    for (int i = 0; i < g.n_batches; i++)
        batch_make_dims(g.module, &out->batches[i]);
    g.b = builder_at_end(module_add_function(g.module, "model"));
    for (int i = rng_between(&g.rng, 1, 3); i; i--)
        leaf(&g, some_type(&g, g.real));
    add_blocks(&g, recipe);
    for (int i = rng_between(&g.rng, recipe->fewest, recipe->most); i; i--)
        grow_some(&g, recipe);
    if (rng_chance(&g.rng, g.smooth ? 15 : 10) && !g.rounds)
        block_state(&g);
    g.b.scope = NULL;
    add_outputs(&g);
    if (g.smooth)
        add_loss(&g);
    remove_dead(g.b.function);
    if (count_ops(g.b.function) < 8)
        return false;
    Text text = {0};
    function_number(g.b.function);
    ir_print_module(g.module, &text);
    out->text = text_keep(arena, &text);
    out->family = families[family].name;
    return true;
}

static int some_family(Rng *rng, const char *name)
{
    int sum = 0;
    for (int i = 0; i < family_count; i++) {
        if (name && !strcmp(families[i].name, name))
            return i;
        sum += families[i].weight;
    }
    int at = rng_below(rng, sum);
    for (int i = 0; i < family_count; i++)
        if ((at -= families[i].weight) < 0)
            return i;
    abort();
}

void generate_case(Arena *arena, uint64_t seed, int64_t number, const char *family, Case *out)
{
    Rng rng = {mix64(mix64(seed) + (uint64_t)number)};
    *out = (Case){.seed = rng_next(&rng)};
    int chosen = some_family(&rng, family);
    for (;;) {
        Rng own = {rng_next(&rng)};
        if (grow_case(arena, own, chosen, out))
            return;
    }
}
