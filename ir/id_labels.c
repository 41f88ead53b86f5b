/* From a comparison with classes forward to the loss in which it counts. */
#include "ir/id_labels.h"

int64_t positions_counted(const Value *value)
{
    const Op *op = op_shown(value);
    int64_t size = 1;
    if (op->kind != OP_iota)
        return INT64_MAX;
    for (int i = 0; i < op->results[0].type.rank; i++) {
        if (!dim_is_const(op->results[0].type.dims[i]))
            return INT64_MAX;
        size *= op->results[0].type.dims[i].size;
    }
    return size;
}

/* ---- the label's mask ---- */

/* Whether the value is 1 where the part is at least 0, and else 0. */
static bool is_label_mask(const Carriers *carriers, const Value *value, const CarriedPart *part)
{
    double bound;
    while (value->op->kind == OP_cast || value->op->kind == OP_reshape)
        value = value->op->args[0];
    const Op *op = value->op;
    return ((op->kind == OP_le && value_is_constant(op->args[0], &bound) && bound == 0) ||
            (op->kind == OP_lt && value_is_constant(op->args[0], &bound) && bound == -1)) &&
           carries_part(carriers, op->args[1], part) &&
           type_same_shape(&value->type, &op->args[1]->type);
}

static bool reduces_all(const Op *op)
{
    return op->kind == OP_reduce_sum && op_attr(op, ATTR_axes)->n == op->args[0]->type.rank;
}

static bool is_summed(const Value *value)
{
    FOR_USES (use, value)
        if (reduces_all(use->user) ||
            (use->user->kind == OP_reshape && is_summed(op_result(use->user))))
            return true;
    return false;
}

/* ---- the chosen logits ---- */

/* Walk: from the chosen logits to the mask; `seen` has the ops that it came to. */
typedef struct LabelWalk {
    const Carriers *carriers;
    const CarriedPart *part;
    SideTable seen;
} LabelWalk;

static bool reaches_mask(LabelWalk *walk, const Value *value);

/* What the op makes of the value; whether the label's mask is reached through it. */
static bool op_reaches_mask(LabelWalk *walk, Op *op, const Value *value)
{
    double number;
    const Value *result = op_result(op);
    if (side_number(&walk->seen, op))
        return false;
    side_set_number(&walk->seen, op, 1);
    switch (op->kind) {
    case OP_reshape:
    case OP_cast:
    case OP_neg: return reaches_mask(walk, result);
    case OP_add:
    case OP_sub: return type_same_shape(&result->type, &value->type) && reaches_mask(walk, result);
    case OP_mul: break;
    default: return false;
    }
    const Value *other = op->args[op->args[0] == value];
    if (!type_same_shape(&result->type, &value->type))
        return false;
    if (value_is_constant(other, &number))
        return number != 0 && reaches_mask(walk, result);
    return type_same_shape(&other->type, &value->type) &&
           is_label_mask(walk->carriers, other, walk->part) && is_summed(result);
}

static bool reaches_mask(LabelWalk *walk, const Value *value)
{
    FOR_USES (use, value)
        if (op_reaches_mask(walk, use->user, value))
            return true;
    return false;
}

/* Whether the op sums along its operand's last axis, and no other. */
static bool sums_rows(const Op *op)
{
    const Attr *axes = op->kind == OP_reduce_sum ? op_attr(op, ATTR_axes) : NULL;
    return axes && axes->n == 1 && axes->ints[0] == op->args[0]->type.rank - 1;
}

/* Whether the value is one row of positions, along its last axis. */
static bool is_row_of_positions(const Value *value)
{
    const Type *type = &value->type;
    const int axis = type_long_dim(type);
    return axis >= 0 && axis == type->rank - 1 && positions_counted(value) == type->dims[axis].size;
}

bool eq_compares_labels(const Carriers *carriers, const Op *eq, const CarriedPart *part)
{
    double other;
    LabelWalk walk = {carriers, part, side_new(carriers->of_ops.arena)};
    const Value *hit = &eq->results[0];
    if (!is_row_of_positions(eq->args[0]) && !is_row_of_positions(eq->args[1]))
        return false;
    FOR_USES (choice, hit) {
        const Op *select = choice->user;
        if (select->kind != OP_select || select->args[0] != hit ||
            !type_same_shape(&select->results[0].type, &hit->type) ||
            !value_is_constant(select->args[2], &other) || other != 0)
            continue;
        FOR_USES (sum, &select->results[0])
            if (sums_rows(sum->user) && reaches_mask(&walk, op_result(sum->user)))
                return true;
    }
    return false;
}
