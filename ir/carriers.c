/* Following an input's integers through the ops that pass them on. An element counts as passed on
 * exactly if it is among the results whatever the batch is and whatever the other inputs hold. */
#include "ir/carriers.h"

#include "ir/position_form.h"

const Op *op_shown(const Value *value)
{
    const Op *op = value->op;
    while (op->kind == OP_reshape || op->kind == OP_transpose || op->kind == OP_broadcast ||
           op->kind == OP_slice || op->kind == OP_flip || op->kind == OP_cast ||
           op->kind == OP_stop_gradient)
        op = op->args[0]->op;
    return op;
}

bool value_is_constant(const Value *value, double *number)
{
    const Op *op = op_shown(value);
    const bool is_constant = op->kind == OP_const;
    *number = is_constant ? op_float(op, ATTR_value) : 0;
    return is_constant;
}

const Carried *carried_by(const Carriers *carriers, const Value *value)
{
    return value->op ? side_of_op(&carriers->of_ops, value->op) : NULL;
}

bool carries_part(const Carriers *carriers, const Value *value, const CarriedPart *part)
{
    for (const Carried *c = carried_by(carriers, value); c; c = c->next)
        if (c->is_exact && part_equal(&c->part, part))
            return true;
    return false;
}

static bool same_carried(const Carried *a, const Carried *b)
{
    return part_equal(&a->part, &b->part) && a->is_exact == b->is_exact &&
           a->is_direct == b->is_direct && a->by_select == b->by_select && a->is_f32 == b->is_f32;
}

static void add_carried(Carriers *carriers, const Op *op, Carried carried)
{
    for (const Carried *c = side_of_op(&carriers->of_ops, op); c; c = c->next)
        if (same_carried(c, &carried))
            return;
    Carried *added = ARENA_NEW(carriers->of_ops.arena, Carried);
    carried.next = side_of_op(&carriers->of_ops, op);
    *added = carried;
    side_set_op(&carriers->of_ops, op, added);
}

/* ---- one op ---- */

/* Whether each element of `from`, stretched to the other type, is there at least once: what is
 * stretched to a dimension of the batch is not there if that is empty. */
static bool keeps_elements(const Type *from, const Type *to)
{
    for (int i = 1; i <= to->rank; i++) {
        const Dim after = to->dims[to->rank - i],
                  before = i <= from->rank ? from->dims[from->rank - i] : dim_const(1);
        if (!dim_equal(before, after) && !(dim_is_const(after) && after.size > 0))
            return false;
    }
    return true;
}

static bool is_random(const Value *value)
{
    while (value->op->kind == OP_reshape || value->op->kind == OP_broadcast)
        value = value->op->args[0];
    return value->op->kind == OP_random;
}

/* Whether chance alone decides, and neither outcome is sure. */
static bool is_drawn(const Value *condition)
{
    const Op *op = condition->op;
    double rate;
    for (int side = 0; (op->kind == OP_lt || op->kind == OP_le) && side < 2; side++)
        if (is_random(op->args[side]) && value_is_constant(op->args[1 - side], &rate) && rate > 0 &&
            rate < 1)
            return true;
    return false;
}

/* A slice of the input's own axis is a part of it, if all dimensions behind it are constant. */
static void cut_part(const Carriers *carriers, const Op *slice, Carried *carried)
{
    const Type *type = &carriers->input->results[0].type;
    const int axis = (int)op_int(slice, ATTR_axis);
    bool fits = carried->is_direct && (part_is_whole(&carried->part) || carried->part.axis == axis);
    for (int i = axis; i < type->rank; i++)
        fits = fits && dim_is_const(type->dims[i]);
    if (fits && carried->is_exact)
        carried->part = (CarriedPart){axis, carried->part.start + op_int(slice, ATTR_start),
                                      op_int(slice, ATTR_size)};
    carried->is_exact = carried->is_exact && fits;
}

/* What the op makes of what an operand holds, its own or that of a lookup that it joins. */
static void pass_on(Carriers *carriers, const Op *op, const Value *operand, Carried carried)
{
    const Type *from = &operand->type, *to = &op->results[0].type;
    switch (op->kind) {
    case OP_cast:
        carried.is_f32 = carried.is_f32 || to->dtype == DT_F32;
        carried.is_exact = carried.is_exact && to->dtype != DT_BF16 && to->dtype != DT_BOOL;
        break;
    case OP_stop_gradient: break;
    case OP_slice: cut_part(carriers, op, &carried); break;
    case OP_broadcast:
        carried.is_exact = carried.is_exact && keeps_elements(from, to);
        carried.is_direct = false;
        break;
    case OP_select:
        carried.by_select = true;
        carried.is_exact = carried.is_exact && keeps_elements(from, to) && is_drawn(op->args[0]);
        carried.is_direct = carried.is_direct && type_same_shape(from, to);
        break;
    default: carried.is_direct = false;
    }
    add_carried(carriers, op, carried);
}

/* ---- parts one after the other, along a dimension of the batch ---- */

enum { MOST_JOINED = 16 };

/* The lookups that the value is the sum of, in their order; 0: it is made of others, or of too
 * many. */
static int summed_lookups(const Value *value, const Op **lookups, int n)
{
    const Op *op = value->op;
    if (op->kind == OP_add) {
        n = summed_lookups(op->args[0], lookups, n);
        return n ? summed_lookups(op->args[1], lookups, n) : 0;
    }
    if (op->kind != OP_lookup || n == MOST_JOINED)
        return 0;
    lookups[n] = op;
    return n + 1;
}

/* Adds to `before` the length of what the lookup reads. Whether it reads that at the positions of
 * the dimension `joined` from the old length on. */
static bool reads_behind(const Module *module, const Op *lookup, int joined, LengthSum *before)
{
    PositionForm form;
    const int axis = (int)op_int(lookup, ATTR_axis);
    const Type *index = &lookup->args[1]->type;
    if (axis >= index->rank || index->dims[axis].symbol != joined ||
        !position_form(module, lookup->args[1], &form) || form.along != joined || form.factor != 1)
        return false;
    bool ok = true;
    for (int i = 0; i < before->n; i++)
        ok = ok &&
             length_sum_add_term(&form.offset, before->terms[i].symbol, before->terms[i].times);
    form.offset.plus += before->plus;
    return ok && length_sum_is_zero(&form.offset) &&
           length_sum_add(module, before, lookup->args[0]->type.dims[axis], 1);
}

/* concat along a dimension of the batch is a sum of lookups, of which each is zero where the others
 * have elements (frontend/builtins_parts.c). How many there are, if the sum has all elements of
 * each; else 0. */
static int joined_lookups(const Module *module, const Op *add, const Op **lookups)
{
    const Type *type = &add->results[0].type;
    const int n = type->dtype == DT_I32 ? summed_lookups(&add->results[0], lookups, 0) : 0;
    const int axis = n ? (int)op_int(lookups[0], ATTR_axis) : 0,
              joined = n ? type->dims[axis].symbol : NO_SYMBOL;
    LengthSum length = {0};
    bool ok = joined != NO_SYMBOL && type_find_dim(type, joined) == axis;
    for (int i = 0; ok && i < n; i++)
        ok = type_same_shape(&lookups[i]->results[0].type, type) &&
             op_int(lookups[i], ATTR_axis) == axis &&
             reads_behind(module, lookups[i], joined, &length);
    return ok && length_sum_add(module, &length, dim_symbol(joined), -1) &&
                   length_sum_is_zero(&length)
               ? n
               : 0;
}

/* ---- all ops ---- */

/* Whether operand i is among those whose elements the op passes on. */
static bool takes_operand(const Op *op, int i)
{
    if (op->kind == OP_select)
        return i > 0;
    return op_family(op) == FAMILY_shape || op->kind == OP_cast || op->kind == OP_stop_gradient;
}

static void pass_all_on(Carriers *carriers, const Op *op, const Value *operand)
{
    for (const Carried *c = carried_by(carriers, operand); c; c = c->next)
        pass_on(carriers, op, operand, *c);
}

Carriers carriers_of(const Function *function, const Op *input)
{
    Carriers carriers = {input, side_new(function->module->arena)};
    FOR_OPS (op, &function->body) {
        if (op == input)
            add_carried(&carriers, op,
                        (Carried){{NO_AXIS, 0, 0}, .is_exact = true, .is_direct = true});
        const Op *lookups[MOST_JOINED];
        const int joined = op->kind == OP_add ? joined_lookups(function->module, op, lookups) : 0;
        for (int i = 0; i < joined; i++)
            pass_all_on(&carriers, op, lookups[i]->args[0]);
        for (int i = 0; i < op->n_args; i++)
            if (takes_operand(op, i))
                pass_all_on(&carriers, op, op->args[i]);
    }
    return carriers;
}
