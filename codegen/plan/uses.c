/* How long each value is needed, and which values could be written where a concat
 * or an assign wants them. */
#include "codegen/plan/plan.h"

static void make_placements(Plan *plan)
{
    FOR_OPS (op, &plan->function->body)
        for (int r = 0; r < op->n_results; r++) {
            Placement *p = ARENA_NEW(plan->arena, Placement);
            p->contiguous = NO_BUFFER;
            p->last_use = -1;
            side_set_value(&plan->placements, &op->results[r], p);
        }
}

/* Whether the result may be seen through the operand's memory. */
static bool may_share(const Op *op) { return op_is_view(op) || op->kind == OP_append; }

static void note_uses(const Plan *plan, const Op *op, int position)
{
    int until = position;
    if (may_share(op) && placement(plan, &op->results[0])->last_use > until)
        until = placement(plan, &op->results[0])->last_use;
    /* they do not read what takes the value */
    bool gives = op->kind == OP_assign || op->kind == OP_keep;
    if (op->kind == OP_output || gives)
        until = AT_END;
    for (int i = gives; i < op->n_args; i++) {
        Placement *p = placement(plan, op->args[i]);
        if (until > p->last_use)
            p->last_use = until;
    }
}

/* A part of a concat may be written where the concat's result is, whoever else
 * reads it: nothing else is ever written there. */
static void note_homes(const Plan *plan, Op *op)
{
    bool moves = op->kind == OP_reshape || op->kind == OP_transpose;
    for (int i = 0; i < op->n_args; i++)
        if (op->kind == OP_concat || (moves && placement(plan, &op->results[0])->home &&
                                      !placement(plan, op->args[i])->home))
            placement(plan, op->args[i])->home = op;
}

void plan_uses(Plan *plan)
{
    make_placements(plan);
    int position = 0;
    FOR_OPS (op, &plan->function->body)
        position++;
    for (Op *op = plan->function->body.last; op; op = op->previous) {
        note_uses(plan, op, --position);
        note_homes(plan, op);
        if (op->kind == OP_assign || op->kind == OP_keep)
            placement(plan, op->args[1])->assign = op;
        if (op->kind == OP_keep)
            placement(plan, op->args[0])->kept = true;
    }
}

/* ---- what a kernel reads before it writes ---- */

static bool is_reduction(const Op *op) { return op_family(op) == FAMILY_reduce; }

/* Whether the op of a region computes an element from elements of the same place. */
static bool stays_in_place(const Op *op)
{
    OpFamily family = op_family(op);
    return family == FAMILY_elementwise || family == FAMILY_leaf || op->kind == OP_broadcast;
}

bool op_is_one_sweep(const Op *op)
{
    if (op->kind != OP_row)
        return op_family(op) == FAMILY_elementwise;
    FOR_OPS (inner, op->body) {
        if (!stays_in_place(inner) && !is_reduction(inner) && inner->kind != OP_yield)
            return false;
        for (int i = 0; i < inner->n_args && inner->kind != OP_yield; i++)
            if (is_reduction(inner->args[i]->op))
                return false; /* what needs a sum comes after the sweep that makes it */
    }
    return true;
}

/* Values of the function are the operands; all others are the body's own. */
static bool is_of_body(const Op *op, const Value *value)
{
    for (int i = 0; i < op->n_args; i++)
        if (op->args[i] == value)
            return false;
    return true;
}

/* Of the values of the body, `reads` has the operand where they depend on it. */
static bool depends_on(const Plan *plan, const Op *op, const Value *value, const Value *operand)
{
    return value == operand ||
           (is_of_body(op, value) && side_of_value(&plan->reads, value) == operand);
}

bool op_result_reads(Plan *plan, const Op *op, int result, const Value *operand)
{
    if (!op->body)
        return true;
    FOR_OPS (inner, op->body)
        for (int r = 0; r < inner->n_results; r++) {
            bool depends = false;
            for (int i = 0; i < inner->n_args; i++)
                depends |= depends_on(plan, op, inner->args[i], operand);
            side_set_value(&plan->reads, &inner->results[r], depends ? (void *)operand : NULL);
        }
    return depends_on(plan, op, op->body->last->args[result], operand);
}
