/* lookup in decode_step: along the text, positions are looked up in all so far, which are cached.
 *
 *   lookup x [B, T~, d], position - 1   ⇒   lookup (append cache, x) [B, P~, d],
 *                                                  length(P) - length(Q) + 0, 1, … - 1
 *
 * Parts of a sequence that the text belongs to are looked up by position, too (frontend's concat
 * and slice): their newest positions are those of the text itself, and nothing is found of other
 * parts.
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

static bool is_newest(const Op *op, Roles roles)
{
    return roles.of[op_int(op, ATTR_axis)] == ROLE_Q;
}

/* The newest positions of an operand that is looked up in at positions of the same tokens, perhaps
 * along another dimension of them; NULL: it has another shape, or a message. */
static Value *build_own(Step *s, Op *op, Roles roles)
{
    const Value *result = op_result(op);
    Value *x = op->args[0];
    int axis = (int)op_int(op, ATTR_axis);
    bool same = x->type.rank == result->type.rank;
    for (int i = 0; same && i < result->type.rank; i++)
        same = i == axis || dim_equal(x->type.dims[i], result->type.dims[i]);
    return same ? build_step(s, x, roles) : NULL;
}

/* Zeros of the result's shape in decode_step. */
static Value *build_zeros(Step *s, const Value *result, Roles roles)
{
    Type type = result->type;
    for (int i = 0; i < type.rank; i++)
        type.dims[i] = as_step_dim(s, type.dims[i], roles.of[i]);
    return build_const_of(&s->b, type, 0);
}

Value *build_looked_up(Step *s, Op *op, Roles roles)
{
    Found found = is_newest(op, roles) ? dependence_found(s->dependence, op) : FOUND_ANY;
    Value *own = found == FOUND_OWN ? build_own(s, op, roles) : NULL;
    if (own || s->failed)
        return own;
    if (found == FOUND_NOTHING)
        return build_zeros(s, op_result(op), roles);

    Value *x = op->args[0], *index = op->args[1], *result = op_result(op);
    int rank = result->type.rank, axis = (int)op_int(op, ATTR_axis);
    int batch = type_find_dim(&result->type, s->batch);
    Roles of_x = aligned_roles(s, x, rank, roles);
    if (target_dim(s, x->type.dims[axis]))
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
