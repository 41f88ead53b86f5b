/* Levels, sweeps and saved values; see sweeps.h. */
#include "codegen/emit/region/sweeps.h"

/* Cost of ops and loads up to which they are done again rather than saved: saving is a store to
 * the first-level cache and a load. */
enum { CHEAP = 6 };

const Op *sweep_op(const Emit *e, int number)
{
    return number < e->body.n_inputs ? NULL : e->body.ops[number - e->body.n_inputs].op;
}

const Type *sweep_type(const Emit *e, int number)
{
    const Op *op = sweep_op(e, number);
    return op ? &op->results[0].type : &e->body.inputs[number]->type;
}

int sweep_yield(const Emit *e, int result) { return body_number(&e->body, e->body.yields[result]); }

static bool is_reduction(const Op *op) { return op && op_family(op) == FAMILY_reduce; }

static bool varies_in_columns(const Emit *e, const Type *type)
{
    if (e->signature->range == RANGE_ELEMENTS) {
        for (int i = 0; i < type->rank; i++)
            if (!dim_is_one(type->dims[i]))
                return true;
        return false;
    }
    if (e->layout.n == 0 || dim_is_one(e->layout.axes[e->layout.n - 1].extent))
        return false;
    const Axis *last = &e->layout.axes[e->layout.n - 1];
    int shift = e->signature->space.rank - type->rank;
    bool own = last->dim >= shift && !dim_is_one(type->dims[last->dim - shift]);
    if (last->batch_dim >= 0)
        own |= last->batch_dim >= shift && !dim_is_one(type->dims[last->batch_dim - shift]);
    return own;
}

static void find_levels(const Emit *e, const bool *ready, SweepPlan *plan)
{
    for (int n = 0; n < e->n_values; n++) {
        const Op *op = sweep_op(e, n);
        plan->columnar[n] = varies_in_columns(e, sweep_type(e, n));
        for (int i = 0; op && !(ready && ready[n]) && i < op->n_args; i++) {
            int level = plan->level[body_number(&e->body, op->args[i])];
            plan->level[n] = level > plan->level[n] ? level : plan->level[n];
        }
        if (is_reduction(op) && !(ready && ready[n]))
            plan->level[n]++;
        if (plan->level[n] + 1 > plan->n_sweeps)
            plan->n_sweeps = plan->level[n] + 1;
    }
}

/* A product's scores are in memory: a load. */
static int cost_of(const Emit *e, const SweepPlan *plan, int number)
{
    const Op *op = sweep_op(e, number);
    if (!plan->columnar[number])
        return 0;
    if (!op || op->kind == OP_dot)
        return 1;
    int cost = op_info[op->kind].cost;
    for (int i = 0; i < op->n_args && cost <= CHEAP; i++)
        cost += cost_of(e, plan, body_number(&e->body, op->args[i]));
    return cost;
}

/* Goes through what a sweep computes, from one of its roots. What an earlier
 * sweep computed already and is dear is saved there. */
static void visit(const Emit *e, SweepPlan *plan, int sweep, int number)
{
    const Op *op = sweep_op(e, number);
    if (!op || op->kind == OP_dot || !plan->columnar[number] || is_reduction(op) ||
        plan->sweep[number] == sweep + 1 || !e->body.ops[number - e->body.n_inputs].aligned)
        return;
    if (plan->saved[number])
        return;
    if (plan->sweep[number] && cost_of(e, plan, number) > CHEAP) {
        plan->saved[number] = true;
        plan->saved_in[number] = plan->sweep[number] - 1;
        return;
    }
    plan->sweep[number] = sweep + 1;
    for (int i = 0; i < op->n_args; i++)
        visit(e, plan, sweep, body_number(&e->body, op->args[i]));
}

bool sweep_reduces_any(const Emit *e, const SweepPlan *plan, int sweep, const Op *op)
{
    return is_reduction(op) && plan->level[body_number(&e->body, op->args[0])] == sweep;
}

bool sweep_reduces(const Emit *e, const SweepPlan *plan, int sweep, const Op *op)
{
    return sweep_reduces_any(e, plan, sweep, op) &&
           plan->columnar[body_number(&e->body, op->args[0])];
}

bool sweep_contracts(const Emit *e, const SweepPlan *plan, int sweep, const Op *op)
{
    int n = op->kind == OP_dot ? body_number(&e->body, op->args[0]) : -1;
    return n >= 0 && n >= e->body.n_inputs && plan->level[n] == sweep;
}

bool sweep_stores(const Emit *e, const SweepPlan *plan, int sweep, int result)
{
    int n = sweep_yield(e, result);
    const Op *op = sweep_op(e, n);
    return plan->columnar[n] && plan->level[n] == sweep && !(op && op->kind == OP_dot);
}

SweepPlan plan_sweeps(Emit *e, bool may_save, const bool *ready)
{
    SweepPlan plan = {.level = ARENA_ARRAY(e->arena, int, e->n_values),
                      .columnar = ARENA_ARRAY(e->arena, bool, e->n_values),
                      .sweep = ARENA_ARRAY(e->arena, int, e->n_values),
                      .saved = ARENA_ARRAY(e->arena, bool, e->n_values),
                      .saved_in = ARENA_ARRAY(e->arena, int, e->n_values)};
    find_levels(e, ready, &plan);
    for (int sweep = 0; may_save && sweep < plan.n_sweeps; sweep++) {
        for (int i = 0; i < e->body.n_ops; i++) {
            const Op *op = e->body.ops[i].op;
            if (sweep_reduces(e, &plan, sweep, op) || sweep_contracts(e, &plan, sweep, op))
                visit(e, &plan, sweep, body_number(&e->body, op->args[0]));
        }
        for (int i = 0; i < e->body.n_results; i++)
            if (sweep_stores(e, &plan, sweep, i))
                visit(e, &plan, sweep, sweep_yield(e, i));
    }
    return plan;
}
