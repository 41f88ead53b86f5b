/* Which values are scores: from a product outwards, through everything of its shape. */
#include "passes/fuse/attention.h"

#include "ir/infer.h"

enum { MOST_OPS = 120, MOST_PRODUCTS = 8 };

static bool is_scores_form(const Module *module, const Op *op)
{
    if (op->kind != OP_dot || !op_attr(op, ATTR_batch_a)->n)
        return false;
    const Type *a = &op->args[0]->type, *b = &op->args[1]->type, *c = &op->results[0].type;
    const Attr *batch = op_attr(op, ATTR_batch_a), *contract = op_attr(op, ATTR_contract_a);
    Layout layout = layout_of(module, c);
    const Axis *last = &layout.axes[layout.n - 1];
    return contract->n == 1 && dim_is_const(a->dims[contract->ints[0]]) &&
           b->rank == batch->n + 2 && a->rank >= batch->n + 2 && last->dim == c->rank - 1 &&
           last->batch_dim < 0 && !dim_is_one(c->dims[c->rank - 2]) &&
           (c->dtype == DT_F32 || c->dtype == DT_F64);
}

bool is_scores_product(const Module *module, const Op *op)
{
    return is_scores_form(module, op) &&
           !dim_is_const(op->results[0].type.dims[op->results[0].type.rank - 1]);
}

/* ---- products of scores ---- */

static bool sums_queries(const Op *product, const FusedScores *s)
{
    AttrName contract = scores_side(product, s) ? ATTR_contract_b : ATTR_contract_a;
    return attr_lists(op_attr(product, contract), s->type.rank - 2);
}

static bool is_sorted(const Attr *list)
{
    for (int i = 1; i < list->n; i++)
        if (list->ints[i] < list->ints[i - 1])
            return false;
    return true;
}

/* Whether an operand with batch and contracted dimensions has one more, of constant size. */
static bool leaves_a_constant(const Type *operand, const Attr *batch, const Attr *contract)
{
    if (operand->rank != batch->n + contract->n + 1)
        return false;
    for (int i = 0; i < operand->rank; i++)
        if (!attr_lists(batch, i) && !attr_lists(contract, i) && !dim_is_const(operand->dims[i]))
            return false;
    return true;
}

/* Whether the op contracts scores with something that is none, along the keys or along
 * all queries that share them, and leaves one constant axis of the other operand. */
static bool is_use_up(const Op *op, const FusedScores *s)
{
    if (op->kind != OP_dot)
        return false;
    int side = scores_side(op, s), keys = s->type.rank - 1, queries = keys - 1;
    const Type *other = &op->args[1 - side]->type;
    const Attr *batch = op_attr(op, side ? ATTR_batch_b : ATTR_batch_a);
    const Attr *theirs = op_attr(op, side ? ATTR_batch_a : ATTR_batch_b);
    const Attr *contract = op_attr(op, side ? ATTR_contract_b : ATTR_contract_a);
    const Attr *away = op_attr(op, side ? ATTR_contract_a : ATTR_contract_b);
    bool rows = contract->n == 1 && contract->ints[0] == keys;
    bool columns = attr_lists(contract, queries) && !attr_lists(contract, keys) &&
                   batch->n + contract->n + 1 == s->type.rank;
    return (rows || columns) && batch->n >= 1 && is_sorted(batch) && !attr_lists(batch, queries) &&
           !attr_lists(batch, keys) && !type_same_shape(other, &s->type) &&
           leaves_a_constant(other, theirs, away) && op->results[0].type.dtype == s->type.dtype;
}

/* ---- the set ---- */

static bool is_scores_type(const FusedScores *s, const Value *value)
{
    return type_same_shape(&value->type, &s->type);
}

static void add_score_part(Fuser *f, FusedScores *s, Op *op, ScoresPart part)
{
    ScoresNode *node = node_of(f, op);
    if (node->scores == s)
        return;
    node->scores = s;
    node->part = part;
    vec_push(f->arena, s->ops, op);
}

static bool is_elementwise(const Op *op)
{
    return op_family(op) == FAMILY_elementwise || op->kind == OP_broadcast;
}

/* Products sum in the scores' type; in between there may be values of bf16, which are
 * f32 rounded. */
static bool fits_tile(const Fuser *f, const FusedScores *s, const Op *op)
{
    DType dtype = op->results[0].type.dtype;
    if (op->kind == OP_dot)
        return is_scores_form(f->function->module, op) && dtype == s->type.dtype;
    return is_elementwise(op) &&
           (!dtype_is_float(dtype) || dtype == s->type.dtype || dtype == DT_BF16);
}

static Miss add_user(Fuser *f, FusedScores *s, Op *user)
{
    if (user->n_results && is_scores_type(s, op_result(user)) && is_elementwise(user) &&
        fits_tile(f, s, user)) {
        add_score_part(f, s, user, PART_SCORES);
    } else if (op_family(user) == FAMILY_reduce && op_attr(user, ATTR_axes)->n == 1 &&
               op_attr(user, ATTR_axes)->ints[0] == s->type.rank - 1) {
        add_score_part(f, s, user, PART_ROW);
    } else if (is_use_up(user, s)) {
        add_score_part(f, s, user, PART_PRODUCT);
    } else {
        s->where = user;
        return MISS_SCORES_READ;
    }
    return MISS_NONE;
}

static Miss grow_scores(Fuser *f, FusedScores *s, Op *op)
{
    for (int i = 0; i < op->n_args; i++) {
        Op *above = op->args[i]->op;
        if (!is_scores_type(s, op->args[i]) || node_of(f, above)->scores == s)
            continue;
        if (!fits_tile(f, s, above)) {
            s->where = above;
            return MISS_SCORES_FROM;
        }
        add_score_part(f, s, above, PART_SCORES);
    }
    FOR_USES (use, op_result(op)) {
        Miss why = add_user(f, s, use->user);
        if (why != MISS_NONE)
            return why;
    }
    return MISS_NONE;
}

/* What is computed from a row value for rows or for scores; others read it. */
static void grow_row(Fuser *f, FusedScores *s, Op *op)
{
    FOR_USES (use, op_result(op)) {
        Op *user = use->user;
        if (!is_elementwise(user))
            continue;
        if (type_same_shape(&op_result(user)->type, &s->row))
            add_score_part(f, s, user, PART_ROW);
        else if (is_scores_type(s, op_result(user)))
            add_score_part(f, s, user, PART_SCORES);
    }
}

/* Decoding: each sentence has a query or two, whose keys were just put into a cache, or the queries
 * of the sentences with few of them (passes/incremental/rows.c). */
static bool has_few_queries(const Fuser *f, const FusedScores *s)
{
    const Module *module = f->function->module;
    Dim queries = s->type.dims[s->type.rank - 2];
    if (symbol_is_made(module, queries.symbol)) {
        const DimFormula *formula = &module->symbols.data[queries.symbol].formula;
        if (formula->most && !formula->least)
            queries = dim_symbol(formula->terms[formula->n - 1].symbol);
    }
    for (size_t i = 0; i < f->appends.count; i++)
        if (dim_equal(f->appends.data[i]->args[1]->type.dims[1], queries))
            return true;
    return false;
}

/* Whether how many queries or keys there are differs along the scores' axis. */
static bool is_sentences(const Module *module, const FusedScores *s, int axis)
{
    for (int i = s->type.rank - 2; i < s->type.rank; i++) {
        int symbol = s->type.dims[i].symbol;
        if (symbol_is_ragged_over(module, symbol, s->type.dims[axis].symbol))
            return true;
    }
    return false;
}

/* Whether the product goes along the scores' axis with its own part for each. */
static bool is_batch(const Fuser *f, const Op *product, const FusedScores *s, int axis)
{
    if (node_of(f, product)->part != PART_PRODUCT)
        return axis < op_attr(product, ATTR_batch_a)->n;
    return attr_lists(op_attr(product, scores_side(product, s) ? ATTR_batch_b : ATTR_batch_a),
                      axis);
}

/* A unit stands at a sentence, whose queries and keys it goes through: all products must. */
static const Op *find_across(const Fuser *f, const FusedScores *s)
{
    const Module *module = f->function->module;
    for (size_t i = 0; i < s->ops.count; i++)
        for (int axis = 0; s->ops.data[i]->kind == OP_dot && axis < s->type.rank - 2; axis++)
            if (is_sentences(module, s, axis) && !is_batch(f, s->ops.data[i], s, axis))
                return s->ops.data[i];
    return NULL;
}

/* Products read from memory what they multiply scores with: a value of one element a row that
 * the set computes itself is there too late. */
static const Op *find_own_operand(const Fuser *f, const FusedScores *s)
{
    for (size_t i = 0; i < s->ops.count; i++)
        for (int a = 0; s->ops.data[i]->kind == OP_dot && a < 2; a++) {
            const ScoresNode *node = node_of(f, s->ops.data[i]->args[a]->op);
            if (node->scores == s && node->part == PART_ROW)
                return s->ops.data[i];
        }
    return NULL;
}

/* Sums over queries run within one unit: all of them leave the units' axes alone. */
static const Op *find_unlike(const Fuser *f, const FusedScores *s)
{
    int least = MAX_RANK;
    for (size_t i = 0; i < s->ops.count; i++)
        if (s->ops.data[i]->kind == OP_dot && op_attr(s->ops.data[i], ATTR_batch_a)->n < least)
            least = op_attr(s->ops.data[i], ATTR_batch_a)->n;
    for (size_t i = 0; i < s->ops.count; i++)
        if (node_of(f, s->ops.data[i])->part == PART_PRODUCT && sums_queries(s->ops.data[i], s) &&
            op_attr(s->ops.data[i], ATTR_batch_a)->n != least)
            return s->ops.data[i];
    return NULL;
}

static Miss why_not_set(const Fuser *f, FusedScores *s)
{
    int products = 0, used_up = 0;
    for (size_t i = 0; i < s->ops.count; i++) {
        products += s->ops.data[i]->kind == OP_dot;
        used_up += node_of(f, s->ops.data[i])->part == PART_PRODUCT;
    }
    s->where = find_across(f, s);
    s->where = s->where ? s->where : find_own_operand(f, s);
    s->where = s->where ? s->where : find_unlike(f, s);
    return s->where                   ? MISS_SCORES_READ
           : !used_up                 ? MISS_SCORES_ALONE
           : has_few_queries(f, s)    ? MISS_SCORES_FEW
           : products > MOST_PRODUCTS ? MISS_SCORES_MANY
                                      : MISS_NONE;
}

static Miss gather(Fuser *f, FusedScores *s)
{
    for (size_t i = 0; i < s->ops.count; i++) {
        Op *op = s->ops.data[i];
        Miss why = MISS_NONE;
        if (node_of(f, op)->part == PART_SCORES)
            why = grow_scores(f, s, op);
        else if (node_of(f, op)->part == PART_ROW)
            grow_row(f, s, op);
        if (why != MISS_NONE || s->ops.count > MOST_OPS)
            return why != MISS_NONE ? why : MISS_SCORES_MANY;
    }
    return why_not_set(f, s);
}

Miss gather_scores(Fuser *f, FusedScores *s, Op *product)
{
    s->type = s->row = op_result(product)->type;
    s->row.dims[s->row.rank - 1] = dim_const(1);
    add_score_part(f, s, product, PART_SCORES);
    Miss why = gather(f, s);
    for (size_t i = 0; why != MISS_NONE && i < s->ops.count; i++)
        if (s->ops.data[i] != product) /* asked once */
            node_of(f, s->ops.data[i])->scores = NULL;
    return why;
}
