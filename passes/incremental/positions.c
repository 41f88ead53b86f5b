/* lookup in decode_step: along the text, positions are looked up in all so far, which are cached.
 *
 *   lookup x [B, T~, d], position - 1   ⇒   lookup (append cache, x) [B, P~, d],
 *                                                  length(P) - length(Q) + 0, 1, … - 1
 *
 * That no later position is looked up was proved before (passes/dependence). */
#include "passes/incremental/incremental.h"

/* The operand that is looked up in, with as many axes as the result has in decode_step. */
static Value *with_rank(Step *s, Value *x, int rank)
{
    Dim dims[MAX_RANK];
    int more = rank - x->type.rank;
    for (int i = 0; i < rank; i++)
        dims[i] = i < more ? dim_const(1) : x->type.dims[i - more];
    return build_reshape(&s->b, x, rank, dims);
}

Value *build_looked_up(Step *s, Op *op, Roles roles)
{
    Value *x = op->args[0], *index = op->args[1], *result = op_result(op);
    int rank = result->type.rank, axis = (int)op_int(op, ATTR_axis);
    int batch = type_find_dim(&result->type, s->batch);
    Roles of_x = aligned_roles(s, x, rank, roles);
    if (x->type.dims[axis].symbol == s->time)
        of_x.of[axis] = ROLE_P;
    Value *table = build_step(s, x, of_x);
    Value *at = table ? build_step(s, index, aligned_roles(s, index, rank, roles)) : NULL;
    if (!at)
        return NULL;
    if (batch < 0 && (is_lifted(x, table) || is_lifted(index, at))) {
        rank++;
        axis++;
        batch = 0;
    }
    table = with_rank(s, align_lifted(s, x, table, rank, batch), rank);
    return build_lookup(&s->b, table, align_lifted(s, index, at, rank, batch), axis);
}
