/* simplify: constants folded, identities removed, equal ops computed once, dead
 * ones dropped.
 *
 *   %1 = const {value = 1}
 *   %2 = mul %0, %1              %3 = exp %0
 *   %3 = exp %2            ⇒
 *   %4 = exp %0                  (uses of %4 read %3)
 *
 * The identities are the table rules.def; all are exact in floating point.
 * Runs to a fixed point: one walk in order, since a rewrite only looks back.
 * Keeps: SSA order, effects. Requires: no regions. */
#include "passes/pass.h"

#include "base/bf16.h"
#include "ir/fold.h"
#include "ir/infer.h"
#include "passes/clone.h"
#include "passes/simplify/rules.h"

#include <math.h>
#include <stdint.h>

/* A constant's value; false if v is not one. */
static bool constant_of(const Value *v, double *value)
{
    if (v->op->kind != OP_const)
        return false;
    *value = op_float(v->op, ATTR_value);
    return true;
}

static double round_to(DType type, double x)
{
    if (type == DT_F32)
        return (float)x;
    return type == DT_BF16 ? bf16_to_float(bf16_from_float((float)x)) : x;
}

/* An elementwise op of constants is a constant. */
static Value *fold(Function *function, Op *op)
{
    double x[3], out;
    if (op_family(op) != FAMILY_elementwise || op->n_args > 3)
        return NULL;
    for (int i = 0; i < op->n_args; i++)
        if (!constant_of(op->args[i], &x[i]))
            return NULL;
    if (!fold_value(op->kind, op_result(op)->type.dtype, x, &out) ||
        (op_result(op)->type.dtype == DT_I32 && fabs(out) > INT32_MAX)) /* which wraps around */
        return NULL;
    Builder b = builder_before(function, &function->body, op);
    return build_const_of(&b, op_result(op)->type, round_to(op_result(op)->type.dtype, out));
}

/* Whether the operands' shapes make up the type's, if `value` is operand `arg`. */
static bool broadcasts_to(const Op *op, int arg, const Value *value, const Type *type)
{
    Type all = value->type;
    for (int i = 0; i < op->n_args; i++)
        if (i != arg && !shape_broadcast(&all, &op->args[i]->type, &all))
            return false;
    return type_same_shape(&all, type);
}

/* Operands of elementwise ops broadcast by themselves. */
static bool read_through_broadcast(Op *op)
{
    bool changed = false;
    if (op_family(op) != FAMILY_elementwise || op->n_args < 2)
        return false;
    for (int i = 0; i < op->n_args; i++) {
        const Op *above = op->args[i]->op;
        if (above->kind != OP_broadcast ||
            !broadcasts_to(op, i, above->args[0], &op_result(op)->type))
            continue;
        op_set_arg(op, i, above->args[0]);
        changed = true;
    }
    return changed;
}

static bool rewrite_once(Function *function)
{
    bool changed = false;
    FOR_OPS (op, &function->body) {
        if (op_family(op) == FAMILY_effect || op->n_results != 1 || !op->n_args)
            continue;
        changed |= read_through_broadcast(op);
        Value *better = fold(function, op);
        if (!better)
            better = rules_apply(function, op, NULL);
        if (better && better != op_result(op)) {
            value_replace(op_result(op), better);
            block_remove(&function->body, op);
            changed = true;
        }
    }
    return changed;
}

bool pass_simplify(Function *function, PassContext *context)
{
    for (int round = 0; round < 16; round++) {
        bool changed = rewrite_once(function);
        changed |= merge_equal_ops(function);
        changed |= remove_dead(function) > 0;
        if (!changed)
            break;
    }
    return true;
}
