/* Which values are stored in the order of groups: where products by one index follow one another
 * with elementwise kernels between them, as in a layer of experts,
 *
 *   %g = grouped_dot %x, %gate, %index          rows of x are read through the list of each group,
 *   %u = grouped_dot %x, %up, %index            and those of g, u and h lie as the groups do;
 *   %h = row(%g, %u)
 *   %y = grouped_dot %h, %down, %index          those of y are written through the list again
 *
 * nothing but these ops sees the order, so no bit changes; the rows between need no lists. A value
 * is sorted if the op that makes it can write it so and all that use it can read it so. */
#include "codegen/plan/plan.h"

/* The order in which the index groups rows: a value from which it is reshaped, and how many groups
 * there are, since rows of no group come last. */
typedef struct GroupOrder {
    const Value *index;
    int64_t n_groups;
} GroupOrder;

static const GroupOrder *order_of(const Plan *plan, const Value *value)
{
    return side_of_value(&plan->sorted, value);
}

bool rows_are_sorted(const Plan *plan, const Value *value) { return order_of(plan, value) != NULL; }

static bool same_order(const GroupOrder *a, const GroupOrder *b)
{
    return a && b && a->index == b->index && a->n_groups == b->n_groups;
}

static GroupOrder order_by(const Op *op)
{
    const Value *index = op->args[2];
    while (index->op->kind == OP_reshape)
        index = index->op->args[0];
    const Value *matrices = op->kind == OP_grouped_dot ? op->args[1] : &op->results[0];
    return (GroupOrder){index, matrices->type.dims[0].size};
}

/* The first axis from `i` on that is not 1, of all but the last one. */
static int next_axis(const Type *type, int i)
{
    while (i < type->rank - 1 && dim_is_one(type->dims[i]))
        i++;
    return i;
}

/* Whether both have as many rows, along axes in the same order. */
static bool same_rows(const Type *a, const Type *b)
{
    int i = next_axis(a, 0), k = next_axis(b, 0);
    while (i < a->rank - 1 && k < b->rank - 1 && dim_equal(a->dims[i], b->dims[k])) {
        i = next_axis(a, i + 1);
        k = next_axis(b, k + 1);
    }
    return i == a->rank - 1 && k == b->rank - 1;
}

/* A view of the same rows in the same order: it moves axes of size 1 alone. */
static bool keeps_rows(const Op *op)
{
    if (op->kind != OP_reshape && op->kind != OP_transpose)
        return false;
    const Type *from = &op->args[0]->type, *to = &op->results[0].type;
    if (from->rank == 0 || to->rank == 0 ||
        !dim_equal(from->dims[from->rank - 1], to->dims[to->rank - 1]))
        return false;
    const Attr *perm = op->kind == OP_transpose ? op_attr(op, ATTR_perm) : NULL;
    int last = -1;
    for (int i = 0; perm && i < perm->n; i++)
        if (!dim_is_one(to->dims[i])) {
            if (perm->ints[i] < last)
                return false;
            last = perm->ints[i];
        }
    return same_rows(from, to);
}

/* A kernel that computes each row of its results from the same row of its operands, or from one
 * that goes with all rows. */
static bool is_by_rows(const Op *op)
{
    if (op->kind != OP_row || op_chunk(op) != NO_CHUNK)
        return op_family(op) == FAMILY_elementwise && op_chunk(op) == NO_CHUNK;
    FOR_OPS (inner, op->body)
        if (op_family(inner) != FAMILY_elementwise && inner->kind != OP_const &&
            inner->kind != OP_yield)
            return false;
    return true;
}

static bool goes_with_all_rows(const Type *type) { return next_axis(type, 0) >= type->rank - 1; }

/* The order that all operands with rows have; NULL: there is none. */
static const GroupOrder *order_of_operands(const Plan *plan, const Op *op)
{
    const Type *rows = &op->results[0].type;
    const GroupOrder *order = NULL;
    for (int r = 0; r < op->n_results; r++)
        if (op->results[r].type.rank == 0 || !same_rows(&op->results[r].type, rows))
            return NULL;
    for (int i = 0; i < op->n_args; i++) {
        const Value *x = op->args[i];
        if (goes_with_all_rows(&x->type))
            continue;
        const GroupOrder *own = order_of(plan, x);
        if (!own || !same_rows(&x->type, rows) || (order && !same_order(own, order)))
            return NULL;
        order = own;
    }
    return order;
}

/* The order in which the op could write its results, given that of its operands. */
static const GroupOrder *order_of_results(Plan *plan, const Op *op)
{
    if (op->kind == OP_grouped_dot) {
        GroupOrder *order = ARENA_NEW(plan->arena, GroupOrder);
        *order = order_by(op);
        return order;
    }
    if (keeps_rows(op))
        return order_of(plan, op->args[0]);
    return is_by_rows(op) ? order_of_operands(plan, op) : NULL;
}

/* Whether a grouped op reads the value in this order: as rows, each of one element of the index. */
static bool reads_sorted(const Op *op, const Value *value, const GroupOrder *order)
{
    const GroupOrder own = order_by(op);
    const bool as_matrices = op->kind == OP_grouped_dot && op->args[1] == value;
    return same_order(&own, order) && !as_matrices &&
           repeats_of(&value->type, &op->args[2]->type) == 1;
}

static bool user_fits(const Plan *plan, const Op *op, const Value *value, const GroupOrder *order)
{
    if (op->kind == OP_grouped_dot || op->kind == OP_grouped_outer)
        return reads_sorted(op, value, order);
    for (int r = 0; r < op->n_results; r++)
        if (!same_order(order_of(plan, &op->results[r]), order))
            return false;
    return op->n_results > 0;
}

/* Whether the order of the value is one that its op writes and its users read. */
static bool stays_sorted(const Plan *plan, const Value *value)
{
    const Op *op = value->op;
    const GroupOrder *order = order_of(plan, value);
    bool fits = op->kind == OP_grouped_dot ||
                same_order(order, keeps_rows(op) ? order_of(plan, op->args[0])
                                                 : order_of_operands(plan, op));
    for (const Use *use = value->first_use; fits && use; use = use->next)
        fits = user_fits(plan, use->user, value, order);
    return fits;
}

void plan_sorted(Plan *plan)
{
    bool any = false;
    FOR_OPS (op, &plan->function->body) {
        const GroupOrder *order = order_of_results(plan, op);
        for (int r = 0; order && r < op->n_results; r++)
            side_set_value(&plan->sorted, &op->results[r], (void *)order);
        any |= order != NULL;
    }
    while (any) { /* what one may not be, those beside it may not be, either */
        any = false;
        FOR_OPS (op, &plan->function->body)
            for (int r = 0; r < op->n_results; r++)
                if (rows_are_sorted(plan, &op->results[r]) &&
                    !stays_sorted(plan, &op->results[r])) {
                    side_set_value(&plan->sorted, &op->results[r], NULL);
                    any = true;
                }
    }
}
