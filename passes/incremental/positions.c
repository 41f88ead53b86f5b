/* lookup in decode_step. Where it reads a few positions back at most, as a convolution does, as
 * many rows are kept, those before the newest, whatever the text's length. A position is among the
 * newest or among these, and the other lookup gives 0:
 *
 *   lookup x [B, T~, d], position - 3   ⇒   lookup x [B, Q~, d], 0, 1, … - 3
 *                                             + lookup cache [B, 3, d], 0, 1, … - 3 + 3
 *                                           assign cache, the last three of both
 *
 * Elsewhere positions are looked up in all so far, which are cached:
 *
 *   lookup x [B, T~, d], position / 2   ⇒   lookup (append cache, x) [B, P~, d],
 *                                                  (length(P) - length(Q) + 0, 1, …) / 2
 *
 * Parts of a sequence that the text belongs to are looked up by position, too (frontend's concat
 * and slice): their newest positions are those of the text itself, and nothing is found of other
 * parts.
 *
 * That no later position is looked up was proved before (passes/dependence). */
#include "passes/incremental/incremental.h"

#include "passes/dependence/dependence.h"

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

/* ---- the last rows ---- */

/* The most rows that are kept: a step moves all of them. */
enum { MOST_REACH = 256 };

/* -1: the lookup needs all positions so far. */
static int64_t reach_of(const Step *s, const Op *op)
{
    const Value *x = op->args[0];
    int axis = (int)op_int(op, ATTR_axis);
    bool rows = origin(s, x)->target && type_find_dim(&x->type, s->batch) >= 0 &&
                count_times(s, x) == 1 && x->type.dtype != DT_BOOL &&
                x->type.dims[axis].symbol == s->time &&
                op->results[0].type.dims[axis].symbol == s->time;
    int64_t reach = rows ? dependence_reach(s->dependence, op) : -1;
    return reach <= MOST_REACH ? reach : -1;
}

void find_reaches(Step *s)
{
    FOR_OPS (op, &s->forward->body) {
        int64_t reach = op->kind == OP_lookup ? reach_of(s, op) : -1;
        Origin *o = reach >= 0 ? origin(s, op->args[0]) : NULL;
        if (o && reach > o->reach)
            o->reach = reach;
    }
}

/* A number for each row of the batch, as a value of `rank` axes with the batch at `batch`. */
static Value *build_of_rows(Step *s, Value *v, int batch, int rank)
{
    Dim dims[MAX_RANK];
    for (int i = 0; i < rank; i++)
        dims[i] = i == batch ? dim_symbol(s->batch) : dim_const(1);
    return build_reshape(&s->b, v, rank, dims);
}

static Value *build_shifted(Step *s, Value *positions, int64_t by)
{
    return build_binary(&s->b, OP_add, positions, build_const(&s->b, DT_I32, (double)by));
}

/* Positions counted from the first of the newest, negative ones in what is kept. */
static Value *build_found(Step *s, Value *rows, Value *kept, Value *at, int64_t n, int axis)
{
    Value *newest = build_lookup(&s->b, rows, at, axis);
    Value *older = build_lookup(&s->b, kept, build_shifted(s, at, n), axis);
    return build_binary(&s->b, OP_add, newest, older);
}

/* What is kept of x, whose newest positions are `rows`, for this step; and for the next one. */
static Value *build_ring(Step *s, Value *x, Value *rows, int axis)
{
    Origin *o = origin(s, x);
    int perm[MAX_RANK], inverse[MAX_RANK], rank = x->type.rank;
    int batch = type_find_dim(&x->type, s->batch);
    if (o->ring)
        return o->ring;
    cache_axes(rank, batch, axis, perm, inverse);
    Type type = rows->type;
    for (int i = 0; i < rank; i++)
        type.dims[i] = perm[i] == axis ? dim_const(o->reach) : rows->type.dims[perm[i]];
    Value *cache = build_cache(s, type);
    o->ring = build_transpose(&s->b, cache, inverse);
    Value *end = build_of_rows(s, build_lengths(&s->b, DT_I32, newest_symbol(s)), batch, rank);
    Value *last =
        build_binary(&s->b, OP_add, end, build_iota_along(&s->b, dim_const(o->reach), axis, rank));
    Value *next = build_found(s, rows, o->ring, build_shifted(s, last, -o->reach), o->reach, axis);
    build_assign(&s->b, cache, build_transpose(&s->b, next, perm));
    return o->ring;
}

/* NULL: not so, or after a message. */
static Value *build_from_last(Step *s, Op *op, Roles roles)
{
    Value *x = op->args[0], *index = op->args[1];
    int rank = op_result(op)->type.rank, axis = (int)op_int(op, ATTR_axis);
    int batch = type_find_dim(&x->type, s->batch);
    Value *at = build_step(s, index, aligned_roles(s, index, rank, roles));
    if (!at || !is_lifted(index, at))
        return NULL;
    Value *rows = build_step(s, x, aligned_roles(s, x, rank, roles));
    if (!rows)
        return NULL;
    const int all = past_symbol(s, dim_symbol(s->time));
    Value *past = build_lengths(&s->b, DT_I32, all),
          *newest = build_lengths(&s->b, DT_I32, newest_symbol(s));
    Value *before = build_binary(&s->b, OP_sub, past, newest);
    at = build_binary(&s->b, OP_sub, align_lifted(s, index, at, rank, batch),
                      build_of_rows(s, before, batch, rank));
    if (!origin(s, x)->reach)
        return build_lookup(&s->b, rows, at, axis);
    return build_found(s, rows, build_ring(s, x, rows, axis), at, origin(s, x)->reach, axis);
}

/* ---- all rows ---- */

Value *build_looked_up(Step *s, Op *op, Roles roles)
{
    Found found = is_newest(op, roles) ? dependence_found(s->dependence, op) : FOUND_ANY;
    Value *own = found == FOUND_OWN ? build_own(s, op, roles) : NULL;
    if (own || s->failed)
        return own;
    if (found == FOUND_NOTHING)
        return build_zeros(s, op_result(op), roles);
    if (is_newest(op, roles) && reach_of(s, op) >= 0) {
        Value *last = build_from_last(s, op, roles);
        if (last || s->failed)
            return last;
    }

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
