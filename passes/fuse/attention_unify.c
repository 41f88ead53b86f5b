/* Products in one form:
 *
 *   scores    dot [batch, queries…, d], [batch, keys, d]
 *   rows      dot scores, [batch, keys, d]               gives [batch, queries…, d]
 *   columns   dot scores, [batch, queries…, d]           gives [batch, keys, d]
 *
 * with transposes, mostly views, where operands or results were in another one. */
#include "passes/fuse/attention.h"

/* The operand's axes: batch as paired, contracted and free ones in the order wanted. */
typedef struct Axes {
    int batch[MAX_RANK], contract[MAX_RANK], free[MAX_RANK];
    int n_batch, n_contract, n_free;
} Axes;

static Axes axes_of(const Op *dot, int side)
{
    const Attr *batch = op_attr(dot, side ? ATTR_batch_b : ATTR_batch_a);
    const Attr *contract = op_attr(dot, side ? ATTR_contract_b : ATTR_contract_a);
    Axes axes = {.n_batch = batch->n, .n_contract = contract->n};
    bool used[MAX_RANK] = {0};
    for (int i = 0; i < batch->n; i++)
        used[axes.batch[i] = batch->ints[i]] = true;
    for (int i = 0; i < contract->n; i++)
        used[axes.contract[i] = contract->ints[i]] = true;
    for (int i = 0; i < dot->args[side]->type.rank; i++)
        if (!used[i])
            axes.free[axes.n_free++] = i;
    return axes;
}

/* x with its axes in the order batch, first, second; a transpose of a transpose as one. */
static Value *in_order(Builder *b, Value *x, const Axes *axes, const int *first, int n_first,
                       const int *second, int n_second)
{
    int perm[MAX_RANK], n = 0;
    for (int i = 0; i < axes->n_batch; i++)
        perm[n++] = axes->batch[i];
    for (int i = 0; i < n_first; i++)
        perm[n++] = first[i];
    for (int i = 0; i < n_second; i++)
        perm[n++] = second[i];
    if (x->op->kind == OP_transpose) {
        for (int i = 0; i < n; i++)
            perm[i] = op_attr(x->op, ATTR_perm)->ints[perm[i]];
        x = x->op->args[0];
    }
    return build_transpose(b, x, perm);
}

static void set_axes(Function *function, Op *op, AttrName name, int from, int n)
{
    int axes[MAX_RANK];
    for (int i = 0; i < n; i++)
        axes[i] = from + i;
    op_set_attr(function, op, attr_ints(name, n, axes));
}

static void unify_scores(Fuser *f, Op *dot)
{
    Builder b = builder_before(f->function, &f->function->body, dot);
    for (int side = 0; side < 2; side++) {
        Axes axes = axes_of(dot, side);
        op_set_arg(dot, side,
                   in_order(&b, dot->args[side], &axes, axes.free, axes.n_free, axes.contract,
                            axes.n_contract));
        set_axes(f->function, dot, side ? ATTR_batch_b : ATTR_batch_a, 0, axes.n_batch);
        set_axes(f->function, dot, side ? ATTR_contract_b : ATTR_contract_a,
                 axes.n_batch + axes.n_free, 1);
    }
}

static void sort_pairs(int *a, int *b, int n)
{
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && a[k] < a[k - 1]; k--) {
            int x = a[k], y = b[k];
            a[k] = a[k - 1], b[k] = b[k - 1];
            a[k - 1] = x, b[k - 1] = y;
        }
}

/* The result of the unified product as that of the product before: there the other
 * operand's free axis stood before those of the scores, if these were the right one. */
static Value *as_before(Builder *b, Value *product, const Axes *mine, int side)
{
    int perm[MAX_RANK], n = 0;
    for (int i = 0; i < mine->n_batch; i++)
        perm[n++] = i;
    if (side == 1)
        perm[n++] = mine->n_batch + mine->n_free;
    for (int i = 0; i < mine->n_free; i++)
        perm[n++] = mine->n_batch + i;
    if (side == 0)
        perm[n++] = mine->n_batch + mine->n_free;
    return build_transpose(b, product, perm);
}

static void unify_product(Fuser *f, const FusedScores *s, Op *dot)
{
    Builder b = builder_before(f->function, &f->function->body, dot);
    int side = scores_side(dot, s);
    Axes mine = axes_of(dot, side), theirs = axes_of(dot, 1 - side);
    sort_pairs(mine.contract, theirs.contract, mine.n_contract);
    Value *other = in_order(&b, dot->args[1 - side], &theirs, theirs.contract, theirs.n_contract,
                            theirs.free, theirs.n_free);
    int batch[MAX_RANK], contract[MAX_RANK];
    for (int i = 0; i < mine.n_batch; i++)
        batch[i] = i;
    for (int i = 0; i < mine.n_contract; i++)
        contract[i] = mine.n_batch + i;
    Value *product = build_dot(&b, dot->args[side], other, mine.n_batch, mine.batch, batch,
                               mine.n_contract, mine.contract, contract);
    const Attr *dtype = op_attr(dot, ATTR_dtype);
    if (dtype) {
        op_set_attr(f->function, product->op, *dtype);
        product->type.dtype = op_result(dot)->type.dtype;
    }
    Value *before = as_before(&b, product, &mine, side);
    node_of(f, dot)->unified = product->op;
    vec_push(f->arena, f->replaced, ((Replaced){op_result(dot), before}));
}

void unify_products(Fuser *f, FusedScores *s)
{
    for (size_t i = 0; i < s->ops.count; i++) {
        Op *op = s->ops.data[i];
        if (node_of(f, op)->part == PART_PRODUCT)
            unify_product(f, s, op);
        else if (op->kind == OP_dot)
            unify_scores(f, op);
    }
}
