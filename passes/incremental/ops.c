/* Ops of decode_step: which roles an op asks of its operands, and the op over what they give. */
#include "passes/incremental/incremental.h"

#include <string.h>

static bool is_time(const Step *s, Dim dim) { return target_dim(s, dim) != NULL; }

Roles aligned_roles(const Step *s, const Value *x, int rank, Roles roles)
{
    Roles mine = {{0}};
    int shift = rank - x->type.rank;
    for (int d = 0; d < x->type.rank; d++)
        mine.of[d] = is_time(s, x->type.dims[d]) ? roles.of[d + shift] : 0;
    return mine;
}

/* Axis `from` of the value as axis `to`; the others keep their order. */
static Value *move_axis(Step *s, Value *x, int from, int to)
{
    int perm[MAX_RANK];
    for (int i = 0, other = 0; i < x->type.rank; i++) {
        other += other == from;
        perm[i] = i == to ? from : other++;
    }
    return build_transpose(&s->b, x, perm);
}

Value *align_lifted(Step *s, const Value *v, Value *built, int rank, int batch)
{
    if (!built || !is_lifted(v, built))
        return built;
    Dim dims[MAX_RANK], lot = built->type.dims[0];
    int before = rank - v->type.rank;
    for (int i = 0; i < rank; i++)
        dims[i] = i == batch ? lot : i < before ? dim_const(1) : built->type.dims[i - before + 1];
    if (batch >= before)
        built = move_axis(s, built, 0, batch - before);
    return build_reshape(&s->b, built, rank, dims);
}

Value *build_elementwise(Step *s, Op *op, Roles roles)
{
    Value *args[3], *result = op_result(op);
    int rank = result->type.rank, batch = type_find_dim(&result->type, s->batch);
    bool lifted = false;
    for (int i = 0; i < op->n_args; i++) {
        args[i] = build_step(s, op->args[i], aligned_roles(s, op->args[i], rank, roles));
        if (!args[i])
            return NULL;
        lifted |= is_lifted(op->args[i], args[i]);
    }
    if (batch < 0 && lifted) {
        rank++;
        batch = 0;
    }
    for (int i = 0; i < op->n_args; i++)
        args[i] = align_lifted(s, op->args[i], args[i], rank, batch);
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

/* Whether the op runs along the axis of its operand. */
static bool runs_along(const Op *op, int axis)
{
    const Attr *axes = op_attr(op, ATTR_axes);
    return axes ? attr_lists(axes, axis) : axis == op->args[0]->type.rank - 1;
}

/* Along positions it runs over all so far. */
Value *build_along_rows(Step *s, Op *op, Roles roles)
{
    const Type *x = &op->args[0]->type;
    for (int i = 0; i < x->rank; i++)
        if (is_time(s, x->dims[i]) && runs_along(op, i)) {
            if (roles.of[i] == ROLE_Q)
                return refuse(s, op,
                              "it runs along positions, of which a step has the newest alone");
            roles.of[i] = ROLE_P;
        }
    Value *built = build_step(s, op->args[0], roles);
    return built ? build_moved(s, op, built) : NULL;
}

/* The greatest of a row that does not go along positions. */
Value *build_chosen(Step *s, Op *op, Roles roles)
{
    const Type *result = &op->results[0].type;
    Value *x = build_step(s, op->args[0], roles);
    int last = result->rank - 1;
    return x ? build_top_k(&s->b, x, as_step_dim(s, result->dims[last], roles.of[last])) : NULL;
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

/* The value for each row of the batch, in front; itself if it is so already. */
static Value *lift(Step *s, const Value *v, Value *built)
{
    Dim dims[MAX_RANK] = {dim_const(1)};
    if (is_lifted(v, built))
        return built;
    memcpy(dims + 1, built->type.dims, (size_t)v->type.rank * sizeof *dims);
    Value *one = build_reshape(&s->b, built, v->type.rank + 1, dims);
    dims[0] = dim_symbol(s->batch);
    return build_broadcast(&s->b, one, v->type.rank + 1, dims);
}

static Value *build_concatenation(Step *s, Op *op, Roles roles)
{
    Value **args = ARENA_ARRAY(s->module->arena, Value *, op->n_args);
    bool lifted = false;
    for (int i = 0; i < op->n_args; i++) {
        args[i] = build_step(s, op->args[i], roles);
        if (!args[i])
            return NULL;
        lifted |= is_lifted(op->args[i], args[i]);
    }
    for (int i = 0; lifted && i < op->n_args; i++)
        args[i] = lift(s, op->args[i], args[i]);
    return build_concat(&s->b, op->n_args, args, (int)op_int(op, ATTR_axis) + lifted);
}

/* A reshape or broadcast of the built operand, to the step's dimensions. */
static Value *build_to_shape(Step *s, Op *op, Value *x, Roles roles)
{
    const Value *result = op_result(op);
    Dim dims[MAX_RANK];
    int n = 0, batch = type_find_dim(&result->type, s->batch);
    if (is_lifted(op->args[0], x) && batch < 0) {
        dims[n++] = x->type.dims[0];
        batch = 0;
    }
    for (int i = 0; i < result->type.rank; i++)
        dims[n++] = as_step_dim(s, result->type.dims[i], roles.of[i]);
    if (op->kind == OP_reshape)
        return build_reshape(&s->b, x, n, dims);
    return build_broadcast(&s->b, align_lifted(s, op->args[0], x, n, batch), n, dims);
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
        bool time = is_time(s, type->dims[contract->ints[i]]);
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

/* The axes of one operand of a dot, as it is built. */
typedef struct Side {
    int batch[MAX_RANK], contract[MAX_RANK], rows,
        n_free; /* rows: the axis of the batch B, or -1 */
    bool lifted;
} Side;

static Side side_of(const Step *s, const Op *op, int side, const Value *built)
{
    const Attr *batch = op_attr(op, side ? ATTR_batch_b : ATTR_batch_a),
               *contract = op_attr(op, side ? ATTR_contract_b : ATTR_contract_a);
    const Type *type = &op->args[side]->type;
    Side out = {.lifted = is_lifted(op->args[side], built)};
    for (int i = 0; i < batch->n; i++)
        out.batch[i] = batch->ints[i] + out.lifted;
    for (int i = 0; i < contract->n; i++)
        out.contract[i] = contract->ints[i] + out.lifted;
    out.rows = out.lifted ? 0 : type_find_dim(type, s->batch);
    out.n_free = type->rank - batch->n - contract->n;
    return out;
}

/* A dot with a lifted operand: both are for the same row of the batch B. The result has B where the
 * forward's has it, or in front. */
static Value *build_lifted_dot(Step *s, const Op *op, Value *a, Value *b)
{
    Side x = side_of(s, op, 0, a), y = side_of(s, op, 1, b);
    int n = op_attr(op, ATTR_batch_a)->n, n_contract = op_attr(op, ATTR_contract_a)->n;
    int wanted = type_find_dim(&op->results[0].type, s->batch), at = n;
    bool shared = x.rows >= 0 && y.rows >= 0;
    x.batch[n] = x.rows;
    y.batch[n] = y.rows;
    if (!shared && y.lifted)
        at += x.n_free;
    Value *result =
        build_dot(&s->b, a, b, n + shared, x.batch, y.batch, n_contract, x.contract, y.contract);
    return result ? move_axis(s, result, at, wanted < 0 ? 0 : wanted) : NULL;
}

Value *build_contraction(Step *s, Op *op, Roles roles)
{
    return is_of_row_sets(s, op, roles) ? build_row_sets(s, op, roles)
                                        : build_ordered(s, op, roles);
}

Value *build_ordered(Step *s, Op *op, Roles roles)
{
    const Roles of_operand[2] = {dot_roles(s, op, 0, roles), dot_roles(s, op, 1, roles)};
    for (int side = 0; side < 2; side++) {
        if (!absorbs(s, op, side, of_operand[side]))
            continue;
        Value *other = build_step(s, op->args[1 - side], of_operand[1 - side]);
        if (!other || !is_lifted(op->args[1 - side], other))
            return other ? build_absorbed(s, op, side, other) : NULL;
    }
    Value *a = build_step(s, op->args[0], of_operand[0]);
    Value *b = a ? build_step(s, op->args[1], of_operand[1]) : NULL;
    if (!a || !b)
        return NULL;
    if (is_lifted(op->args[0], a) || is_lifted(op->args[1], b))
        return build_lifted_dot(s, op, a, b);
    return build(&s->b, OP_dot, 2, (Value *[]){a, b}, op->n_attrs, op->attrs);
}

/* Rows by the matrices that the index names, of the same positions. */
Value *build_grouped_rows(Step *s, Op *op, Roles roles)
{
    const Value *x = op->args[0], *w = op->args[1], *index = op->args[2];
    Value *args[] = {build_step(s, op->args[0], aligned_roles(s, x, x->type.rank, roles)),
                     build_step(s, op->args[1], (Roles){{0}}),
                     build_step(s, op->args[2], aligned_roles(s, index, index->type.rank, roles))};
    if (!args[0] || !args[1] || !args[2])
        return NULL;
    if (is_lifted(w, args[1]) || is_lifted(x, args[0]) != is_lifted(index, args[2]))
        return refuse(s, op, "its matrices, or its rows alone, are made of the newest positions");
    return build(&s->b, op->kind, op->n_args, args, op->n_attrs, op->attrs);
}

/* Rows of a table that is lifted, [B, n, …], at indices that are the same for each row of the
 * batch. */
static Value *build_lifted_lookup(Step *s, const Op *op, Value *table, Value *index)
{
    int n = index->type.rank;
    if (type_find_dim(&index->type, s->batch) >= 0)
        return refuse(s, op,
                      "what it looks up in is made of the newest positions, and so is the "
                      "index");
    Value *rows = build_gather(&s->b, move_axis(s, table, 0, 1), index);
    return rows ? move_axis(s, rows, n, 0) : NULL;
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
    Value *table = build_step(s, op->args[0], of_table);
    Value *index = table ? build_step(s, op->args[1], of_index) : NULL;
    if (index && is_lifted(op->args[0], table))
        return build_lifted_lookup(s, op, table, index);
    return index ? build_gather(&s->b, table, index) : NULL;
}
