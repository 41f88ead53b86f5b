/* The rewrites of rules.def that look at more than a pattern tells. */
#include "passes/clone.h"
#include "passes/simplify/rules.h"

Value *rewrite_dropout_of_nothing(Builder *b, Op *op)
{
    (void)b;
    return op_float(op, ATTR_rate) == 0 ? op->args[0] : NULL;
}

/* ---- views ---- */

Value *rewrite_reshape_once(Builder *b, Op *op)
{
    const Type *type = &op_result(op)->type;
    return build_reshape(b, op->args[0]->op->args[0], type->rank, type->dims);
}

Value *rewrite_transpose_once(Builder *b, Op *op)
{
    const Op *above = op->args[0]->op;
    const Attr *outer = op_attr(op, ATTR_perm), *inner = op_attr(above, ATTR_perm);
    int perm[MAX_RANK];
    for (int i = 0; i < outer->n; i++)
        perm[i] = inner->ints[outer->ints[i]];
    return build_transpose(b, above->args[0], perm);
}

/* (a b)' = b' a': a matrix that is only read transposed is made that way, so that
 * what is elementwise reads its rows. */
Value *rewrite_swap_product(Builder *b, Op *op)
{
    const Op *dot = op->args[0]->op;
    const Attr *ca = op_attr(dot, ATTR_contract_a), *cb = op_attr(dot, ATTR_contract_b);
    Value *x = dot->args[0], *y = dot->args[1];
    bool is_matrix = dot->results[0].type.rank == 2 && !op_attr(dot, ATTR_batch_a)->n;
    bool one_each = y->type.rank > cb->n && x->type.rank > ca->n; /* free axes */
    if (!is_matrix || !one_each || op_attr(dot, ATTR_dtype) ||
        op_attr(op, ATTR_perm)->ints[0] != 1 || !value_is_used_once(op->args[0]))
        return NULL;
    b->loc = dot->loc;
    b->scope = dot->scope;
    return build_dot(b, y, x, 0, NULL, NULL, ca->n, cb->ints, ca->ints);
}

/* ---- leaves of another shape ---- */

Value *rewrite_const_of_shape(Builder *b, Op *op)
{
    return build_const_of(b, op_result(op)->type, op_float(op->args[0]->op, ATTR_value));
}

/* Whether the one dimension of an iota or of lengths is one of the other type, too. */
static bool keeps_dimension(const Type *from, const Type *to)
{
    Dim along = dim_const(1);
    for (int i = 0; i < from->rank; i++)
        if (!dim_is_one(from->dims[i]))
            along = from->dims[i];
    for (int i = 0; i < to->rank; i++)
        if (dim_equal(to->dims[i], along))
            return true;
    return false;
}

/* iota and lengths may have ones around their dimension. */
Value *rewrite_leaf_of_shape(Builder *b, Op *op)
{
    const Type *type = &op_result(op)->type;
    if (!keeps_dimension(&op->args[0]->type, type))
        return NULL;
    Op *leaf = clone_op(b->function, op->args[0]->op, NULL);
    leaf->results[0].type = *type;
    block_insert_before(b->block, b->before, leaf);
    return op_result(leaf);
}

enum { DEEPEST_POSITIONS = 8 };

/* Made of positions, lengths and constants alone. */
static bool is_of_positions(const Value *v, int depth)
{
    const Op *op = v->op;
    bool leaf = op->kind == OP_iota || op->kind == OP_lengths || op->kind == OP_const;
    bool made = !leaf && depth < DEEPEST_POSITIONS && op_family(op) == FAMILY_elementwise;
    for (int i = 0; made && i < op->n_args; i++)
        made = is_of_positions(op->args[i], depth + 1);
    return leaf || made;
}

/* v, which broadcasts to `from`, made under the dimensions of `to`. */
static Value *made_like(Builder *b, Value *v, const Type *from, const Type *to)
{
    Op *op = v->op;
    Value *args[3];
    if (v->type.rank == 0)
        return v;
    if (op_family(op) != FAMILY_elementwise)
        return build_reshape_like(b, v, from, to);
    for (int i = 0; i < op->n_args; i++)
        args[i] = made_like(b, op->args[i], from, to);
    return build(b, op->kind, op->n_args, args, op->n_attrs, op->attrs);
}

/* Positions that a lookup reads are made with the lookup's own ones around them, so that its region
 * can make them. */
Value *rewrite_positions_of_shape(Builder *b, Op *op)
{
    Value *positions = op->args[0];
    const Type *to = &op_result(op)->type;
    int dims[MAX_RANK];
    bool looked_up = false;
    FOR_USES (use, op_result(op))
        looked_up |= use->user->kind == OP_lookup;
    if (!looked_up || op_family(positions->op) != FAMILY_elementwise ||
        !type_differs_by_ones(&positions->type, to, dims) || !is_of_positions(positions, 0))
        return NULL;
    return made_like(b, positions, &positions->type, to);
}

/* Whether v, which broadcasts to `type`, is the same all along the axis. */
static bool is_same_along(const Value *v, const Type *type, int axis)
{
    int own = axis - (type->rank - v->type.rank);
    return own < 0 || dim_is_one(v->type.dims[own]);
}

/* f(x)[p] = f(x[p]), where f(0) = 0 and all else that f reads is the same for all rows. So the
 * lookups of a convolution's gradient, Σ (dy w)[p + k], read one tensor, and one of bf16 is read as
 * it is stored. */
Value *rewrite_lookup_sooner(Builder *b, Op *op)
{
    Op *above = op->args[0]->op;
    const Type *type = &op->args[0]->type;
    int axis = (int)op_int(op, ATTR_axis);
    Value *args[2];
    if (!type_same_shape(&above->args[0]->type, type) ||
        (above->kind == OP_cast &&
         (!dtype_is_float(type->dtype) || above->args[0]->type.dtype != DT_BF16)) ||
        (above->n_args > 1 && !is_same_along(above->args[1], type, axis)))
        return NULL;
    args[0] = build_lookup(b, above->args[0], op->args[1], axis);
    args[1] = above->n_args > 1 ? above->args[1] : NULL;
    return build(b, above->kind, above->n_args, args, above->n_attrs, above->attrs);
}

/* ---- reductions ---- */

/* Along axes of length 1 there is nothing to reduce. */
Value *rewrite_reduce_what_is_long(Builder *b, Op *op)
{
    Value *x = op->args[0];
    const Attr *axes = op_attr(op, ATTR_axes);
    int kept[MAX_RANK], n = 0;
    for (int i = 0; i < axes->n; i++)
        if (!dim_is_one(x->type.dims[axes->ints[i]]))
            kept[n++] = axes->ints[i];
    return n < axes->n ? build_reduce(b, op->kind, x, n, kept) : NULL;
}
