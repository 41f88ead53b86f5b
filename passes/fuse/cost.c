/* Whether to compute a value again or to read it (fuse.h). */
#include "passes/fuse/fuse.h"

#include <math.h>

/* Cost of an op that is small beside reading an operand from memory; what is in the
 * first-level cache is read for less (codegen/emit/region/sweeps.c). */
enum { CHEAP = 8 };

bool is_cheap(const Op *op)
{
    return op_info[op->kind].cost <= CHEAP &&
           (op_family(op) == FAMILY_elementwise || op->kind == OP_broadcast || is_generator(op));
}

bool fills_space(const Type *type, const Type *space)
{
    int extra = space->rank - type->rank;
    for (int i = 0; i < space->rank; i++)
        if (!dim_is_one(space->dims[i]) && (i < extra || dim_is_one(type->dims[i - extra])))
            return false;
    return true;
}

/* One value a row: the space with its last dimension as 1. */
static bool is_row_value(const Type *type, const Type *space)
{
    if (type->rank != space->rank || type->rank == 0 || !dim_is_one(type->dims[type->rank - 1]))
        return false;
    for (int i = 0; i + 1 < type->rank; i++)
        if (!dim_equal(type->dims[i], space->dims[i]))
            return false;
    return true;
}

enum { DEEPEST = 24, MOST_VISITS = 1024 /* of one search: a value may be reached in many ways */ };
#define NEAR 0.25 /* a tie, but for a few values a row */

static double read_cost(bool full, Presence presence)
{
    if (full)
        return presence == NOT_STORED ? 2.5 : 1;
    return presence == STORED ? 0 : 0.1;
}

/* Reductions and gathers never are computed again; of values that are smaller than the space
 * only what is cheap. */
static bool may_compute(const Recompute *r, const Op *op, bool full, int depth)
{
    if (depth >= DEEPEST || op_family(op) == FAMILY_reduce || op->kind == OP_gather)
        return false;
    return is_cheap(op) || (full && op->kind == OP_lookup) ||
           (full && r->any_op && is_row_op(r->module, op));
}

/* The op's and its operands'; INFINITY: not below `most`. What is smaller than a row's value is
 * computed again for every row that reads it, only worth it when it comes from nothing. */
static double compute_cost(Recompute *r, const Value *value, bool full, double most, int depth)
{
    const Op *op = value->op;
    bool from_nothing = !full && !is_row_value(&value->type, r->space);
    double sum = is_cheap(op) || op->kind == OP_lookup ? 0 : 0.4;
    for (int i = 0; i < op->n_args && sum <= most; i++) {
        bool again = false;
        const Value *x = op->args[i];
        double cost = reads_elsewhere(op, i)
                          ? read_cost(fills_space(&x->type, r->space), r->presence(x, r->context))
                          : recompute_cost(r, x, depth + 1, &again);
        if (from_nothing && !(again && cost == 0))
            return INFINITY;
        sum += cost;
    }
    return sum <= most ? sum : INFINITY;
}

double recompute_cost(Recompute *r, const Value *value, int depth, bool *again)
{
    bool full = fills_space(&value->type, r->space);
    *again = is_generator(value->op);
    if (*again)
        return 0;
    Presence presence = r->presence(value, r->context);
    if (value->type.dtype == DT_BF16) /* rounded in order to be stored: always read */
        return full ? 0.5 : 0;
    double read = read_cost(full, presence);
    r->visits = depth ? r->visits + 1 : 0;
    if (r->visits > MOST_VISITS || !may_compute(r, value->op, full, depth))
        return read;
    double compute = compute_cost(r, value, full, read + NEAR, depth);
    *again = presence == STORED ? compute < read : compute <= read + NEAR;
    return *again ? compute : read;
}
