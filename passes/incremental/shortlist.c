/* derive_shortlist: decode_step's logits of some tokens alone.
 *
 *   encode       gains the input shortlist i32[K], and hands over the rows of params that belong to
 *                these tokens: %m = gather %embedding, %shortlist; output memory.N
 *   decode_step  %logits [B, Q~, V] = dot %x, %embedding   ⇒   [B, Q~, K] = dot %x, %m
 *
 * In bf16 encode rounds the rows that products read: the pass `precision` casts weights, and would
 * cast these at every step.
 *
 * Going back from the logits along their axis of tokens: through elementwise ops, products,
 * transposes, reshapes and broadcasts to params, and to the tokens' numbers (iota), which are the
 * shortlist's. Anything else is reported. */
#include "passes/incremental/incremental.h"

#include "passes/clone.h"
#include "passes/pass.h"

#include "base/vec.h"

#include <string.h>

typedef struct Narrowing {
    Module *module;
    Diagnostics *diags;
    Builder encode, step;
    Value *ids; /* encode's input */
    Dim wide, narrow;
    int n_memory;
    VEC(const Op *) products; /* that were narrowed */
    bool halves, failed;      /* halves: products are in bf16 */
} Narrowing;

static Value *narrow_value(Narrowing *n, Value *v, int axis, bool half);

static Value *refuse_op(Narrowing *n, const Op *op)
{
    if (!n->failed)
        diag_error(n->diags, op->loc,
                   "a shortlist needs logits of each token by itself, but '%s' is computed of all",
                   op_info[op->kind].name);
    n->failed = true;
    return NULL;
}

/* The rows of a param for the tokens, from encode; half: as bf16. */
static Value *narrow_param(Narrowing *n, Op *op, int axis, bool half)
{
    const Type *type = &op_result(op)->type;
    const char *name = arena_printf(n->module->arena, "memory.%d", n->n_memory++);
    int perm[MAX_RANK], inverse[MAX_RANK], count = 0;
    perm[count++] = axis;
    for (int i = 0; i < type->rank; i++)
        if (i != axis)
            perm[count++] = i;
    for (int i = 0; i < type->rank; i++)
        inverse[perm[i]] = i;
    Value *param = build_param(&n->encode, module_param(n->module, op_string(op, ATTR_name)));
    Value *rows = build_gather(&n->encode, build_transpose(&n->encode, param, perm), n->ids);
    if (half)
        rows = build_cast(&n->encode, rows, DT_BF16);
    build_output(&n->encode, name, rows);
    return build_transpose(&n->step, build_input(&n->step, name, rows->type), inverse);
}

/* Of the numbers of all tokens along the axis, those of the shortlist. */
static Value *narrow_numbers(Narrowing *n, const Type *type, int axis)
{
    const char *name = arena_printf(n->module->arena, "memory.%d", n->n_memory++);
    Dim dims[MAX_RANK];
    for (int i = 0; i < type->rank; i++)
        dims[i] = i == axis ? n->narrow : type->dims[i];
    build_output(&n->encode, name, n->ids);
    Value *ids = build_input(&n->step, name, n->ids->type);
    return build_reshape(&n->step, ids, type->rank, dims);
}

/* The axis of the operand that is this axis of a product's result; *side: 0 of a, 1 of b. -1: it is
 * of both. */
static int axis_of_dot(const Op *op, int axis, int *side)
{
    static const AttrName batches[] = {ATTR_batch_a, ATTR_batch_b},
                          contracts[] = {ATTR_contract_a, ATTR_contract_b};
    int at = op_attr(op, ATTR_batch_a)->n;
    for (*side = 0; *side < 2; ++*side)
        for (int i = 0; i < op->args[*side]->type.rank; i++)
            if (!attr_lists(op_attr(op, batches[*side]), i) &&
                !attr_lists(op_attr(op, contracts[*side]), i) && at++ == axis)
                return i;
    return -1;
}

/* The axis of a reshape's operand that stays as this axis of its result: before it and behind it
 * are as many elements. -1: there is none. */
static int axis_of_reshape(const Op *op, int axis)
{
    const Type *from = &op->args[0]->type, *to = &op->results[0].type;
    int64_t behind = 1, mine = 1;
    for (int i = axis + 1; i < to->rank; i++) {
        if (!dim_is_const(to->dims[i]))
            return -1;
        behind *= to->dims[i].size;
    }
    for (int i = from->rank - 1; i >= 0; i--) {
        if (mine == behind && dim_equal(from->dims[i], to->dims[axis]))
            return i;
        if (!dim_is_const(from->dims[i]))
            return -1;
        mine *= from->dims[i].size;
    }
    return -1;
}

/* Whether a value is a param that is only moved. */
static bool is_moved_param(const Value *v)
{
    while (op_is_view(v->op))
        v = v->op->args[0];
    return v->op->kind == OP_param && v->type.dtype == DT_F32;
}

/* An op over its operands, of which those along the axis are narrowed. */
static Value *narrow_op(Narrowing *n, Op *op, int axis, bool half)
{
    Value *args[MAX_RANK];
    Attr attrs[ATTR_COUNT];
    const int rank = op_result(op)->type.rank;
    int only = -1, along = -1; /* of a product and of shapes: one operand, its axis */
    if (op->kind == OP_dot)
        along = axis_of_dot(op, axis, &only);
    else if (op->kind == OP_transpose)
        along = op_attr(op, ATTR_perm)->ints[axis];
    else if (op->kind == OP_reshape)
        along = axis_of_reshape(op, axis);
    else if (op->kind != OP_broadcast && op_family(op) != FAMILY_elementwise)
        return refuse_op(n, op);
    if (along < 0 && (op->kind == OP_dot || op->kind == OP_reshape))
        return refuse_op(n, op);
    if (op->kind == OP_dot)
        vec_push(n->module->arena, n->products, op);
    n->step.loc = op->loc;
    n->step.scope = op->scope;
    const bool rounds = op->kind == OP_dot && n->halves && is_moved_param(op->args[only]);
    for (int i = 0; i < op->n_args; i++) {
        const int mine = along >= 0 ? along : axis - (rank - op->args[i]->type.rank);
        const bool has = mine >= 0 && (only < 0 || i == only);
        args[i] = has ? narrow_value(n, op->args[i], mine, half || rounds) : op->args[i];
        if (rounds && i != only)
            args[i] = build_cast(&n->step, args[i], DT_BF16);
        if (!args[i])
            return NULL;
    }
    int n_attrs = 0;
    for (int i = 0; i < op->n_attrs; i++) {
        attrs[n_attrs] = op->attrs[i];
        if (attrs[n_attrs].name == ATTR_shape)
            attrs[n_attrs].dims[axis] = n->narrow;
        n_attrs += !rounds || attrs[n_attrs].name != ATTR_dtype;
    }
    if (rounds)
        attrs[n_attrs++] = attr_int(ATTR_dtype, DT_F32);
    return build(&n->step, op->kind, op->n_args, args, n_attrs, attrs);
}

/* The value for the tokens alone; it itself, where it is the same for every token. */
static Value *narrow_value(Narrowing *n, Value *v, int axis, bool half)
{
    Op *op = v->op;
    if (!dim_equal(v->type.dims[axis], n->wide))
        return v;
    if (op->kind == OP_param)
        return narrow_param(n, op, axis, half);
    if (op->kind == OP_iota)
        return narrow_numbers(n, &v->type, axis);
    if (op->kind == OP_const) {
        Type type = v->type;
        type.dims[axis] = n->narrow;
        return build_const_of(&n->step, type, op_float(op, ATTR_value));
    }
    return narrow_op(n, op, axis, half);
}

/* What else reads a product of all tokens, so that it is still computed; NULL: nothing. */
static const Op *wide_reader(const Narrowing *n, const Function *step)
{
    FOR_OPS (op, &step->body)
        for (int i = 0; i < op->n_args; i++)
            for (size_t k = 0; k < n->products.count; k++)
                if (op->args[i]->op == n->products.data[k])
                    return op;
    return NULL;
}

bool derive_shortlist(Module *module, const Incremental *incremental, const char *logits,
                      bool halves, Diagnostics *diags)
{
    Function *encode = incremental->encode, *step = incremental->decode_step;
    Op *output = encode ? find_output(step, logits) : NULL;
    if (!output) {
        diag_error(diags, (Loc){0}, "a shortlist is for models with a source");
        return false;
    }
    const Type *type = &output->args[0]->type;
    Narrowing n = {.module = module,
                   .diags = diags,
                   .halves = halves,
                   .encode = builder_at_end(encode),
                   .step = builder_before(step, &step->body, output),
                   .wide = type->dims[type->rank - 1],
                   .narrow = dim_symbol(named_symbol(module, "K", NO_SYMBOL))};
    FOR_OPS (op, &encode->body)
        n.n_memory += op->kind == OP_output;
    n.ids = build_input(&n.encode, SHORTLIST_INPUT, type_of(DT_I32, 1, &n.narrow));
    Value *narrow = narrow_value(&n, output->args[0], type->rank - 1, false);
    if (!narrow)
        return false;
    op_set_arg(output, 0, narrow);
    remove_dead(step);
    const Op *reader = wide_reader(&n, step);
    return !reader || refuse_op(&n, reader);
}
