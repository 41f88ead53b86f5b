/* Ops of decode_step: which roles an op asks of its operands, and the op over what they give. */
#include "passes/incremental/incremental.h"

#include "passes/causal.h"

#include <string.h>

static bool is_time(const Step *s, Dim dim) { return dim.symbol == s->time; }

/* Roles of an operand that is aligned with the result at its last dimension. */
static Roles aligned_roles(const Step *s, const Value *x, int rank, Roles roles)
{
    Roles mine = {{0}};
    int shift = rank - x->type.rank;
    for (int d = 0; d < x->type.rank; d++)
        mine.of[d] = is_time(s, x->type.dims[d]) ? roles.of[d + shift] : 0;
    return mine;
}

/* A lifted operand of an op whose result (in decode_step) has `rank` dimensions:
 * [B, x…] becomes [B, 1…, x…]. */
static Value *align_lifted(Step *s, const Value *v, Value *built, int rank)
{
    if (!built || !is_lifted(v, built) || built->type.rank == rank)
        return built;
    Dim dims[MAX_RANK];
    for (int i = 0; i < rank; i++) {
        int at = i - (rank - v->type.rank);
        dims[i] = at >= 0 ? built->type.dims[at + 1] : dim_const(1);
    }
    dims[0] = built->type.dims[0];
    return build_reshape(&s->b, built, rank, dims);
}

Value *build_elementwise(Step *s, Op *op, Roles roles)
{
    Value *args[3], *result = op_result(op);
    int rank = result->type.rank;
    bool batched = type_find_dim(&result->type, s->batch) == 0, lifted = false;
    for (int i = 0; i < op->n_args; i++) {
        args[i] = build_step(s, op->args[i], aligned_roles(s, op->args[i], rank, roles));
        if (!args[i])
            return NULL;
        lifted |= is_lifted(op->args[i], args[i]);
    }
    for (int i = 0; i < op->n_args; i++)
        args[i] = align_lifted(s, op->args[i], args[i], rank + (lifted && !batched));
    return build(&s->b, op->kind, op->n_args, args, op->n_attrs, op->attrs);
}

/* An attribute that names axes, for an operand that has one more in front. */
static void lift_attr(Attr *attr)
{
    switch (attr->name) {
    case ATTR_axis: attr->i++; break;
    case ATTR_axes:
        for (int k = 0; k < attr->n; k++)
            attr->ints[k]++;
        break;
    case ATTR_perm:
        for (int k = attr->n++; k > 0; k--)
            attr->ints[k] = attr->ints[k - 1] + 1;
        attr->ints[0] = 0;
        break;
    default: break;
    }
}

/* The same op on the built operand. */
static Value *build_moved(Step *s, Op *op, Value *x)
{
    Attr attrs[ATTR_COUNT];
    for (int i = 0; i < op->n_attrs; i++) {
        attrs[i] = op->attrs[i];
        if (is_lifted(op->args[0], x))
            lift_attr(&attrs[i]);
    }
    return build(&s->b, op->kind, 1, &x, op->n_attrs, attrs);
}

/* ---- along rows ---- */

static bool runs_over_time(const Step *s, const Op *op)
{
    const Attr *axes = op_attr(op, ATTR_axes);
    const Type *x = &op->args[0]->type;
    for (int i = 0; axes && i < axes->n; i++)
        if (is_time(s, x->dims[axes->ints[i]]))
            return true;
    return op->kind == OP_logsumexp && is_time(s, x->dims[x->rank - 1]);
}

Value *build_along_rows(Step *s, Op *op, Roles roles)
{
    if (runs_over_time(s, op))
        return refuse(s, op, "it runs over the positions");
    Value *x = build_step(s, op->args[0], roles);
    return x ? build_moved(s, op, x) : NULL;
}

/* ---- shapes ---- */

static Roles transpose_roles(const Op *op, Roles roles)
{
    const Attr *perm = op_attr(op, ATTR_perm);
    Roles mine = {{0}};
    for (int i = 0; i < perm->n; i++)
        mine.of[perm->ints[i]] = roles.of[i];
    return mine;
}

/* Symbolic dimensions keep their order. */
static Roles reshape_roles(const Step *s, const Op *op, Roles roles)
{
    const Type *x = &op->args[0]->type, *result = &op->results[0].type;
    Roles mine = {{0}};
    int at = 0;
    for (int d = 0; d < x->rank; d++) {
        if (!is_time(s, x->dims[d]))
            continue;
        while (!is_time(s, result->dims[at]))
            at++;
        mine.of[d] = roles.of[at++];
    }
    return mine;
}

static Value *build_concatenation(Step *s, Op *op, Roles roles)
{
    Value **args = ARENA_ARRAY(s->module->arena, Value *, op->n_args);
    int axis = (int)op_int(op, ATTR_axis);
    for (int i = 0; i < op->n_args; i++) {
        args[i] = build_step(s, op->args[i], roles);
        if (!args[i])
            return NULL;
        if (is_lifted(op->args[i], args[i]) != is_lifted(op->args[0], args[0]))
            return refuse(s, op, "its parts differ in what they depend on");
    }
    return build_concat(&s->b, op->n_args, args, axis + is_lifted(op->args[0], args[0]));
}

/* A reshape or broadcast of the built operand, to the step's dimensions. */
static Value *build_to_shape(Step *s, Op *op, Value *x, Roles roles)
{
    const Value *result = op_result(op);
    Dim dims[MAX_RANK];
    int n = 0;
    if (is_lifted(op->args[0], x) && type_find_dim(&result->type, s->batch) != 0)
        dims[n++] = x->type.dims[0];
    for (int i = 0; i < result->type.rank; i++)
        dims[n++] = as_step_dim(s, result->type.dims[i], roles.of[i]);
    if (op->kind == OP_reshape)
        return build_reshape(&s->b, x, n, dims);
    return build_broadcast(&s->b, align_lifted(s, op->args[0], x, n), n, dims);
}

Value *build_shape(Step *s, Op *op, Roles roles)
{
    Roles mine;
    switch (op->kind) {
    case OP_concat: return build_concatenation(s, op, roles);
    case OP_reshape: mine = reshape_roles(s, op, roles); break;
    case OP_transpose: mine = transpose_roles(op, roles); break;
    default: mine = aligned_roles(s, op->args[0], op_result(op)->type.rank, roles);
    }
    Value *x = build_step(s, op->args[0], mine);
    if (!x)
        return NULL;
    if (op->kind == OP_reshape || op->kind == OP_broadcast)
        return build_to_shape(s, op, x, roles);
    return build_moved(s, op, x);
}

/* ---- products ---- */

/* Roles of one operand of a dot: free and batch axes as in the result, contracted
 * target axes see everything so far. */
static Roles dot_roles(const Step *s, const Op *op, int side, Roles roles)
{
    const Attr *batch = op_attr(op, side ? ATTR_batch_b : ATTR_batch_a);
    const Attr *contract = op_attr(op, side ? ATTR_contract_b : ATTR_contract_a);
    const Type *type = &op->args[side]->type;
    Roles mine = {{0}};
    bool used[MAX_RANK] = {0};
    for (int i = 0; i < batch->n; i++) {
        mine.of[batch->ints[i]] = roles.of[i];
        used[batch->ints[i]] = true;
    }
    for (int i = 0; i < contract->n; i++) {
        bool time = type->dims[contract->ints[i]].symbol == s->time;
        mine.of[contract->ints[i]] = time ? ROLE_P : 0;
        used[contract->ints[i]] = true;
    }
    int at = batch->n;
    if (side)
        at += op->args[0]->type.rank - batch->n - contract->n;
    for (int i = 0; i < type->rank; i++)
        if (!used[i])
            mine.of[i] = roles.of[at++];
    return mine;
}

/* Whether the operand's weights for later positions are zero along one of the axes. */
static bool looks_back(const Step *s, const Value *x, const Attr *contract)
{
    for (int i = 0; i < contract->n; i++) {
        int key = contract->ints[i];
        for (int query = 0; query < x->type.rank; query++)
            if (is_time(s, x->type.dims[key]) && query != key && is_time(s, x->type.dims[query]) &&
                is_causal(x, s->time, query, key))
                return true;
    }
    return false;
}

/* A contraction over positions must have causal weights on one side. */
static bool contraction_looks_back(const Step *s, const Op *op)
{
    return looks_back(s, op->args[0], op_attr(op, ATTR_contract_a)) ||
           looks_back(s, op->args[1], op_attr(op, ATTR_contract_b));
}

Value *build_contraction(Step *s, Op *op, Roles roles)
{
    const Attr *contract = op_attr(op, ATTR_contract_a);
    bool over_time = false;
    for (int i = 0; i < contract->n; i++)
        over_time |= op->args[0]->type.dims[contract->ints[i]].symbol == s->time;
    if (over_time && !contraction_looks_back(s, op))
        return refuse(s, op,
                      "it mixes positions without a causal mask, as in "
                      "`mask(scores, causal(T))`");
    Value *a = build_step(s, op->args[0], dot_roles(s, op, 0, roles));
    Value *b = a ? build_step(s, op->args[1], dot_roles(s, op, 1, roles)) : NULL;
    if (!a || !b)
        return NULL;
    if (is_lifted(op->args[0], a) || is_lifted(op->args[1], b))
        return refuse(s, op, "a product of positions is not supported");
    return build(&s->b, OP_dot, 2, (Value *[]){a, b}, op->n_attrs, op->attrs);
}

/* The result has the index's dimensions, and then those of a row of the table. */
Value *build_table_rows(Step *s, Op *op, Roles roles)
{
    const Type *x = &op->args[0]->type;
    int n_index = op->args[1]->type.rank;
    Roles of_table = {{0}}, of_index = {{0}};
    memcpy(of_index.of, roles.of, (size_t)n_index);
    if (x->rank > 1)
        memcpy(of_table.of + 1, roles.of + n_index, (size_t)(x->rank - 1));
    if (is_time(s, x->dims[0]))
        return refuse(s, op, "it looks up positions");
    Value *table = build_step(s, op->args[0], of_table);
    Value *index = table ? build_step(s, op->args[1], of_index) : NULL;
    if (index && is_lifted(op->args[0], table))
        return refuse(s, op, "what it looks up in is made of positions");
    return index ? build_gather(&s->b, table, index) : NULL;
}
