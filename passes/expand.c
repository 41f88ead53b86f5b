/* expand: row operations become elementwise ops and reductions, and every
 * reduction becomes one that a region can hold.
 *
 *   softmax x      ⇒   m = max(reduce_max x, lowest);  e = exp(x - m)
 *                      e · (1 / max(reduce_sum e, 1e-30))
 *   logsumexp x    ⇒   log(reduce_sum e) + m
 *   reduce over the last storage axis and others
 *                  ⇒   first over the last (a row reduction), then the others
 *   reduce where columns would end up along another axis
 *                  ⇒   the same with a column: over [B, S~, 1] instead of [B, S~],
 *                      over [B, 4, S~, 1] instead of [B, 4, S~] along B
 *   reduce where columns differ in how far rows go
 *                  ⇒   the same: over [B, S~, U~, C, 1] instead of [B, S~, U~, C]
 *
 * The two bounds make a row that is empty or all -inf give zeros (softmax) and
 * -inf (logsumexp): m is finite then, the lowest that the type has, and e is 0.
 * Where any element is finite, reduce_sum e >= 1 and neither bound is felt. */
#include "ir/layout.h"
#include "passes/clone.h"
#include "passes/pass.h"

static Value *row_exponentials(Builder *b, Value *x, Value **shift)
{
    int last = x->type.rank - 1;
    Value *top = build_reduce(b, OP_reduce_max, x, 1, &last);
    *shift =
        build_binary(b, OP_max, top, build_const(b, x->type.dtype, dtype_lowest(x->type.dtype)));
    return build_unary(b, OP_exp, build_binary(b, OP_sub, x, *shift));
}

static Value *expand_softmax(Builder *b, Value *x)
{
    int last = x->type.rank - 1;
    Value *shift, *e = row_exponentials(b, x, &shift);
    Value *sum = build_reduce(b, OP_reduce_sum, e, 1, &last);
    Value *some = build_binary(b, OP_max, sum, build_const(b, x->type.dtype, 1e-30));
    return build_binary(b, OP_mul, e,
                        build_binary(b, OP_div, build_const(b, x->type.dtype, 1), some));
}

static Value *expand_logsumexp(Builder *b, Value *x)
{
    int last = x->type.rank - 1;
    Value *shift, *e = row_exponentials(b, x, &shift);
    Value *sum = build_reduce(b, OP_reduce_sum, e, 1, &last);
    return build_binary(b, OP_add, build_unary(b, OP_log, sum), shift);
}

bool is_row_reduction(const Module *module, const Op *op)
{
    const Type *x = &op->args[0]->type;
    const Attr *axes = op_attr(op, ATTR_axes);
    Layout layout = layout_of(module, x);
    const Axis *last = &layout.axes[layout.n - 1];
    return axes->n == 1 && last->batch_dim < 0 && axes->ints[0] == last->dim;
}

/* The same over a last axis of one column. */
static Value *reduce_with_column(Builder *b, Op *op, Diagnostics *diags)
{
    Value *x = op->args[0];
    if (x->type.rank == MAX_RANK) {
        diag_error(diags, op->loc,
                   "a reduction of %d dimensions along sentences needs one more: reshape to fewer",
                   MAX_RANK);
        return NULL;
    }
    const Type *result = &op_result(op)->type;
    const Attr *axes = op_attr(op, ATTR_axes);
    Dim dims[MAX_RANK];
    for (int i = 0; i < x->type.rank; i++)
        dims[i] = x->type.dims[i];
    dims[x->type.rank] = dim_const(1);
    Value *column = build_reshape(b, x, x->type.rank + 1, dims);
    column = build_reduce(b, op->kind, column, axes->n, axes->ints);
    return build_reshape(b, column, result->rank, result->dims);
}

/* Tokens are an axis in front of all others only while their sentences are there: without
 * these, what was the last axis of storage may no longer be. */
static bool moves_columns(const Module *module, const Type *result, const Axis *last)
{
    Layout layout = layout_of(module, result);
    const Axis *end = &layout.axes[layout.n - 1];
    return end->dim != last->dim && !dim_is_one(end->extent);
}

/* Whether how long another dimension is differs from column to column: U~ of [B, S~, U~, C] is
 * ragged over C, but shares no axis of storage with it. */
static bool ends_by_column(const Module *module, const Type *type, const Axis *last)
{
    for (int i = 0; i < type->rank; i++) {
        int symbol = type->dims[i].symbol;
        if (!dim_is_const(last->extent) &&
            symbol_is_ragged_over(module, symbol, last->extent.symbol))
            return true;
    }
    return false;
}

typedef enum ReductionSplit { SPLIT_NOT, SPLIT_COLUMN, SPLIT_LAST } ReductionSplit;

/* What a reduction is made into; of SPLIT_LAST `others` are its axes but the last. */
static ReductionSplit split_of(const Module *module, const Op *op, int others[MAX_RANK], int *n)
{
    const Attr *axes = op_attr(op, ATTR_axes);
    Layout layout = layout_of(module, &op->args[0]->type);
    const Axis *last = &layout.axes[layout.n - 1];
    *n = 0;
    if (last->batch_dim >= 0 /* tokens only */ || ends_by_column(module, &op->args[0]->type, last))
        return SPLIT_COLUMN;
    for (int i = 0; i < axes->n; i++)
        if (axes->ints[i] != last->dim)
            others[(*n)++] = axes->ints[i];
    if (*n == axes->n)
        return moves_columns(module, &op->results[0].type, last) ? SPLIT_COLUMN : SPLIT_NOT;
    return *n ? SPLIT_LAST : SPLIT_NOT;
}

static Value *split_reduction(Builder *b, Op *op, Diagnostics *diags)
{
    int others[MAX_RANK], n;
    ReductionSplit split = split_of(b->function->module, op, others, &n);
    if (split == SPLIT_COLUMN)
        return reduce_with_column(b, op, diags);
    if (split == SPLIT_NOT)
        return NULL;
    Layout layout = layout_of(b->function->module, &op->args[0]->type);
    Value *rows = build_reduce(b, op->kind, op->args[0], 1, &layout.axes[layout.n - 1].dim);
    return build_reduce(b, op->kind, rows, n, others);
}

bool is_expanded(const Function *function)
{
    int others[MAX_RANK], n;
    FOR_OPS (op, &function->body)
        if (op->kind == OP_softmax || op->kind == OP_logsumexp || op->kind == OP_stop_gradient ||
            (op_family(op) == FAMILY_reduce &&
             split_of(function->module, op, others, &n) != SPLIT_NOT))
            return false;
    return true;
}

bool pass_expand(Function *function, PassContext *context)
{
    FOR_OPS (op, &function->body) {
        Builder b = builder_before(function, &function->body, op);
        Value *by = op->kind == OP_softmax         ? expand_softmax(&b, op->args[0])
                    : op->kind == OP_logsumexp     ? expand_logsumexp(&b, op->args[0])
                    : op->kind == OP_stop_gradient ? op->args[0]
                                                   : NULL;
        if (!by)
            continue;
        value_replace(op_result(op), by);
        block_remove(&function->body, op);
    }
    /* A second walk: a split reduction may have to be split again. */
    for (bool again = true; again;) {
        again = false;
        FOR_OPS (op, &function->body) {
            if (op_family(op) != FAMILY_reduce)
                continue;
            Builder b = builder_before(function, &function->body, op);
            Value *by = split_reduction(&b, op, context->diags);
            if (context->diags->errors)
                return false;
            if (!by)
                continue;
            value_replace(op_result(op), by);
            block_remove(&function->body, op);
            again = true;
        }
    }
    remove_dead(function);
    return true;
}
