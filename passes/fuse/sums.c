/* swap_sums: a sum along the keys of weighted scores is taken along the columns instead, where
 * a product has the weighted sums of the same operand (Dao et al. 2022, D of the backward).
 *
 *   %o = dot %p, %v      : [B, H, S~, d]            %o = dot %p, %v
 *   %g = dot %dy, %v     : [B, H, S~, T~]           %x = mul %dy, %o        : [B, H, S~, d]
 *   %x = mul %g, %p                          ⇒     %s = reduce_sum %x {axes = [3]}
 *   %s = reduce_sum %x {axes = [3]}
 *
 *   Σ_keys (Σ_d dy · v) p  =  Σ_d dy (Σ_keys p · v)
 *
 * So the gradient of a softmax needs no sum over all keys before the first of them is dealt
 * with: an attention's backward goes through its keys once. What stands between scores and sums
 * is taken apart into factors (products, quotients, dropouts, selects with zero); they are to be
 * those of the weights. Where both sides are rounded to bf16, be it before or behind a dropout, the
 * product's result is read as bf16, too, if it is kept so. Sums are taken in another order:
 * results differ by rounding. */
#include "passes/fuse/attention.h"

#include "passes/clone.h"

bool pass_swap_sums(Function *function, PassContext *context);

enum { MOST_FACTORS = 12 };

/* OP_mul: value; OP_div: 1 / value; OP_dropout: the mask of this op; OP_select: 1 where value is
 * `side`, else 0. */
typedef struct Factor {
    OpKind kind;
    int side;
    const Value *value;
    const Op *dropout;
} Factor;

typedef struct Factors {
    const Type *shape; /* what is of another one is not taken apart */
    size_t bytes;      /* of the least exact type in between; 8 at most */
    int n;             /* more than MOST_FACTORS: too many */
    Factor of[MOST_FACTORS];
} Factors;

/* ---- factors ---- */

static void add_factor(Factors *f, Factor factor)
{
    if (f->n < MOST_FACTORS)
        f->of[f->n] = factor;
    f->n++;
}

static void take_apart(Factors *f, const Value *value)
{
    const Op *op = value->op;
    Value *const *x = op->args;
    if (f->n > MOST_FACTORS)
        return;
    OpKind kind = type_same_shape(&value->type, f->shape) ? op->kind : OP_COUNT;
    if (kind == OP_mul) {
        take_apart(f, x[0]);
        take_apart(f, x[1]);
    } else if (kind == OP_div) {
        take_apart(f, x[0]);
        add_factor(f, (Factor){.kind = OP_div, .value = x[1]});
    } else if (kind == OP_dropout) {
        take_apart(f, x[0]);
        add_factor(f, (Factor){.kind = OP_dropout, .dropout = op});
    } else if (kind == OP_select && (value_is_const(x[1], 0) || value_is_const(x[2], 0))) {
        bool side = value_is_const(x[2], 0);
        take_apart(f, side ? x[1] : x[2]);
        add_factor(f, (Factor){.kind = OP_select, .value = x[0], .side = side});
    } else if (kind == OP_cast && dtype_is_float(x[0]->type.dtype)) {
        size_t bytes = dtype_bytes(value->type.dtype);
        f->bytes = bytes < f->bytes ? bytes : f->bytes;
        take_apart(f, x[0]);
    } else {
        add_factor(f, (Factor){.kind = OP_mul, .value = value});
    }
}

static bool same_factor(const Factor *a, const Factor *b)
{
    bool masks = a->kind == OP_dropout && b->kind == OP_dropout;
    return masks ? op_int(a->dropout, ATTR_site) == op_int(b->dropout, ATTR_site) &&
                       op_float(a->dropout, ATTR_rate) == op_float(b->dropout, ATTR_rate)
                 : a->kind == b->kind && a->value == b->value && a->side == b->side;
}

/* Whether `a` without the factor `left_out` has the factors of `b`, in any order. */
static bool same_factors(const Factors *a, int left_out, const Factors *b)
{
    bool taken[MOST_FACTORS] = {0};
    if (a->n > MOST_FACTORS || b->n != a->n - 1 || a->bytes != b->bytes)
        return false;
    for (int i = 0; i < a->n; i++) {
        int at = 0;
        while (at < b->n && (taken[at] || !same_factor(&a->of[i], &b->of[at])))
            at++;
        if (i != left_out && at == b->n)
            return false;
        if (i != left_out)
            taken[at] = true;
    }
    return true;
}

/* ---- products ---- */

/* Axes of a product's operand: as paired, then the free ones; the one contracted. */
typedef struct Axes {
    int n_batch, n, at[MAX_RANK], contract;
} Axes;

static Axes axes_of(const Op *dot, int side)
{
    const Attr *batch = op_attr(dot, side ? ATTR_batch_b : ATTR_batch_a);
    const Attr *contract = op_attr(dot, side ? ATTR_contract_b : ATTR_contract_a);
    Axes axes = {.n_batch = batch->n, .contract = contract->ints[0]};
    bool used[MAX_RANK] = {0};
    used[axes.contract] = true;
    for (int i = 0; i < batch->n; i++)
        used[axes.at[axes.n++] = batch->ints[i]] = true;
    for (int i = 0; i < dot->args[side]->type.rank; i++)
        if (!used[i])
            axes.at[axes.n++] = i;
    return axes;
}

/* Whether operand `side` of the product is weights of these scores' shape, paired with the other
 * operand as the scores are, and summed along the keys. */
static bool sums_keys(const Op *sums, int side, const Op *scores)
{
    if (sums->kind != OP_dot || op_attr(sums, ATTR_contract_a)->n != 1 ||
        sums->args[1 - side] != scores->args[1] ||
        sums->results[0].type.dtype != scores->results[0].type.dtype ||
        !type_same_shape(&sums->args[side]->type, &scores->results[0].type))
        return false;
    Axes values = axes_of(scores, 1), weights = axes_of(sums, side),
         other = axes_of(sums, 1 - side);
    if (weights.contract != scores->results[0].type.rank - 1 ||
        other.contract != values.at[values.n_batch] || other.n_batch != values.n_batch)
        return false;
    for (int i = 0; i < other.n_batch; i++)
        if (weights.at[i] >= values.n_batch || other.at[i] != values.at[weights.at[i]])
            return false;
    return true;
}

/* The product with the weights that are the other factors, and its operand that they are. */
static Op *find_sums(const Op *scores, const Factors *factors, int at, int *side)
{
    FOR_USES (use, scores->args[1]) {
        for (*side = 0; *side < 2; (*side)++) {
            Op *sums = use->user;
            if (sums == scores || !sums_keys(sums, *side, scores))
                continue;
            Factors theirs = {.shape = factors->shape, .bytes = sizeof(double)};
            take_apart(&theirs, sums->args[*side]);
            if (same_factors(factors, at, &theirs))
                return sums;
        }
    }
    return NULL;
}

/* ---- in columns ---- */

/* The value as bf16, if it is kept so. */
static Value *as_kept(Value *value)
{
    FOR_USES (use, value)
        if (use->user->kind == OP_cast && op_result(use->user)->type.dtype == DT_BF16)
            return op_result(use->user);
    return value;
}

/* The weighted sums with the axes of the scores, columns in the place of keys. */
static Value *in_order_of_scores(Builder *b, const Axes *weights, int side, Value *sums)
{
    int perm[MAX_RANK], n_batch = weights->n_batch, free = n_batch + (side == 1);
    for (int i = 0; i < weights->n; i++)
        perm[weights->at[i]] = i < n_batch ? i : free + i - n_batch;
    perm[weights->n] = side == 1 ? n_batch : weights->n;
    return build_transpose(b, sums, perm);
}

static Value *in_columns(Function *function, Op *reduction, const Op *scores, Op *sums, int side,
                         bool rounded)
{
    Builder b = builder_before(function, &function->body, reduction);
    Axes left = axes_of(scores, 0), weights = axes_of(sums, side);
    left.at[left.n] = left.contract;
    Value *x = build_transpose(&b, scores->args[0], left.at);
    Value *y = rounded ? as_kept(op_result(sums)) : op_result(sums);
    y = in_order_of_scores(&b, &weights, side, y);
    DType dtype = op_result(reduction)->type.dtype;
    x = build_binary(&b, OP_mul, build_cast(&b, x, dtype), build_cast(&b, y, dtype));
    return build_reduce(&b, OP_reduce_sum, x, 1, &left.n);
}

/* ---- sums ---- */

static void swap_sum(Function *function, PassContext *context, Op *reduction)
{
    const Value *x = reduction->args[0];
    Factors factors = {.shape = &x->type, .bytes = sizeof(double)};
    take_apart(&factors, x);
    bool some = false;
    for (int i = 0; i < factors.n && 1 < factors.n && factors.n <= MOST_FACTORS; i++) {
        const Op *scores = factors.of[i].kind == OP_mul ? factors.of[i].value->op : NULL;
        int side;
        if (!scores || !is_scores_product(function->module, scores) ||
            !type_equal(&scores->results[0].type, factors.shape))
            continue;
        Op *sums = find_sums(scores, &factors, i, &side);
        some = true;
        if (!sums)
            continue;
        bool rounded = factors.bytes == dtype_bytes(DT_BF16);
        report_op(context->report, reduction, "sum over keys as one over columns");
        value_replace(op_result(reduction),
                      in_columns(function, reduction, scores, sums, side, rounded));
        return;
    }
    if (some)
        report_miss(context->report, reduction, MISS_SUM_WEIGHTS,
                    "sum over keys as one over columns");
}

static bool is_along_keys(const Op *op)
{
    return op->kind == OP_reduce_sum && dtype_is_float(op->results[0].type.dtype) &&
           op_attr(op, ATTR_axes)->n == 1 &&
           op_attr(op, ATTR_axes)->ints[0] == op->args[0]->type.rank - 1;
}

bool pass_swap_sums(Function *function, PassContext *context)
{
    FOR_OPS (op, &function->body)
        if (is_along_keys(op))
            swap_sum(function, context, op);
    remove_dead(function);
    order_ops(function);
    return true;
}
