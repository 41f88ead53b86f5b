/* derive_incremental: from the whole-sentence `forward` to encode and decode_step.
 *
 * decode_step computes the newest positions only. Every value asked for is built
 * for given roles of its target dimensions T~:
 *
 *   Q   the newest positions (usually one a sentence)
 *   P   all positions so far
 *
 *   scores [B, H, Q~, P~]  =  q [B, H, Q~, d] · k [B, H, d, P~]
 *
 * Going back from the logits, roles follow from the ops. Where a value that comes
 * from the target's tokens is wanted for P alone, it is computed for Q and appended
 * to a cache: keys and values, in attention. What the target does not enter is
 * computed once a sentence by `encode`. Positions (iota) are counted from what is
 * cached: length(P) - length(Q) + 0, 1, …, so that a value made from them alone
 * gains the batch dimension in front (it is "lifted").
 *
 * That the newest positions may be computed from the past is proved: each
 * contraction over P must have weights that a causal mask makes zero for later
 * positions; anything else that mixes positions is reported. */
#include "passes/causal.h"
#include "passes/clone.h"
#include "passes/pass.h"
#include "passes/simplify.h"

#include <string.h>

typedef enum Role { ROLE_Q = 'Q', ROLE_P = 'P' } Role;
typedef struct Roles {
    char of[MAX_RANK]; /* 0 for dimensions other than T */
} Roles;

/* What is known of a value of the forward. */
typedef struct Origin {
    bool target, other;  /* comes from the target's tokens; from another input */
    bool length;         /* its type or something below it has a T dimension */
    int n_built;
    struct { Roles roles; Value *value; } built[8];
    Value *memory;       /* as an input of decode_step */
} Origin;

typedef struct Step {
    Module *module;
    Diagnostics *diags;
    Function *forward, *encode, *step;
    SideTable origins; /* value of the forward → its Origin */
    Builder b;
    int batch, time, q, p;
    int n_memory, n_caches;
    bool failed;
} Step;

static Origin *origin(const Step *s, const Value *v) { return side_of_value(&s->origins, v); }

static void trace_origins(Step *s, const char *target)
{
    FOR_OPS(op, &s->forward->body)
        for (int r = 0; r < op->n_results; r++) {
            Value *v = &op->results[r];
            Origin *o = ARENA_NEW(s->module->arena, Origin);
            side_set_value(&s->origins, v, o);
            if (op->kind == OP_input)
                *(strcmp(op_string(op, ATTR_name), target) ? &o->other : &o->target) = true;
            for (int i = 0; i < v->type.rank; i++)
                o->length |= v->type.dims[i].symbol == s->time;
            if ((op->kind == OP_size || op->kind == OP_lengths) && op_int(op, ATTR_dim) == s->time)
                o->length = true;
            for (int i = 0; i < op->n_args; i++) {
                const Origin *above = origin(s, op->args[i]);
                o->target |= above->target;
                o->other |= above->other;
                o->length |= above->length;
            }
        }
}

static Value *refuse(Step *s, const Op *op, const char *why)
{
    bool inside = op->scope && *op->scope;
    if (!s->failed)
        diag_error(s->diags, op->loc, "%s%s%s cannot be computed a position at a time: %s",
                   op_info[op->kind].name, inside ? " in " : "", inside ? op->scope : "", why);
    s->failed = true;
    return NULL;
}

/* ---- building ---- */

static Value *build_step(Step *s, Value *v, Roles roles);

static bool has_role(const Value *v, Roles roles, Role role)
{
    for (int i = 0; i < v->type.rank; i++)
        if (roles.of[i] == (char)role)
            return true;
    return false;
}

static int axis_of(const Value *v, int symbol)
{
    for (int i = 0; i < v->type.rank; i++)
        if (v->type.dims[i].symbol == symbol)
            return i;
    return -1;
}

static Dim as_step_dim(const Step *s, Dim dim, char role)
{
    return role ? dim_symbol(role == ROLE_Q ? s->q : s->p) : dim;
}

/* The value in decode_step has the batch in front, which the forward's lacks. */
static bool is_lifted(const Value *v, const Value *built) { return built->type.rank > v->type.rank; }

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

static Value *build_elementwise(Step *s, Op *op, Roles roles)
{
    Value *args[3], *result = op_result(op);
    int rank = result->type.rank;
    for (int i = 0; i < op->n_args; i++) {
        Value *x = op->args[i];
        Roles mine = {{0}};
        int shift = rank - x->type.rank;
        for (int d = 0; d < x->type.rank; d++)
            mine.of[d] = x->type.dims[d].symbol == s->time ? roles.of[d + shift] : 0;
        args[i] = build_step(s, x, mine);
        if (!args[i])
            return NULL;
    }
    bool batched = axis_of(result, s->batch) == 0, lifted = false;
    for (int i = 0; i < op->n_args; i++)
        lifted |= is_lifted(op->args[i], args[i]);
    for (int i = 0; i < op->n_args; i++)
        args[i] = align_lifted(s, op->args[i], args[i], rank + (lifted && !batched));
    return build(&s->b, op->kind, op->n_args, args, op->n_attrs, op->attrs);
}

/* The same op on the built operand, attributes that name axes moved by the lift. */
static Value *build_moved(Step *s, Op *op, Value *x)
{
    int lift = is_lifted(op->args[0], x);
    Attr attrs[ATTR_COUNT];
    for (int i = 0; i < op->n_attrs; i++) {
        attrs[i] = op->attrs[i];
        if (attrs[i].name == ATTR_axis)
            attrs[i].i += lift;
        if (attrs[i].name == ATTR_axes)
            for (int k = 0; k < attrs[i].n; k++)
                attrs[i].ints[k] += lift;
        if (attrs[i].name == ATTR_perm && lift) {
            for (int k = attrs[i].n; k > 0; k--)
                attrs[i].ints[k] = attrs[i].ints[k - 1] + 1;
            attrs[i].ints[0] = 0;
            attrs[i].n++;
        }
    }
    Value *args[MAX_RANK] = {x};
    return build(&s->b, op->kind, 1, args, op->n_attrs, attrs);
}

static Value *build_shape(Step *s, Op *op, Roles roles)
{
    Value *x = op->args[0], *result = op_result(op);
    Roles mine = {{0}};
    if (op->kind == OP_reshape) { /* symbolic dimensions keep their order */
        int at = 0;
        for (int d = 0; d < x->type.rank; d++) {
            if (x->type.dims[d].symbol != s->time)
                continue;
            while (result->type.dims[at].symbol != s->time)
                at++;
            mine.of[d] = roles.of[at++];
        }
    } else if (op->kind == OP_transpose) {
        const Attr *perm = op_attr(op, ATTR_perm);
        for (int i = 0; i < perm->n; i++)
            mine.of[perm->ints[i]] = roles.of[i];
    } else { /* broadcast, slice, pad, flip: right-aligned */
        int shift = result->type.rank - x->type.rank;
        for (int d = 0; d < x->type.rank; d++)
            mine.of[d] = x->type.dims[d].symbol == s->time ? roles.of[d + shift] : 0;
    }
    Value *built = build_step(s, x, mine);
    if (!built)
        return NULL;
    if (op->kind != OP_reshape && op->kind != OP_broadcast)
        return build_moved(s, op, built);
    Dim dims[MAX_RANK];
    int n = 0;
    if (is_lifted(x, built) && axis_of(result, s->batch) != 0)
        dims[n++] = built->type.dims[0];
    for (int i = 0; i < result->type.rank; i++)
        dims[n++] = as_step_dim(s, result->type.dims[i], roles.of[i]);
    if (op->kind == OP_reshape)
        return build_reshape(&s->b, built, n, dims);
    return build_broadcast(&s->b, align_lifted(s, x, built, n), n, dims);
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

/* A contraction over positions must have causal weights on one side. */
static bool contraction_looks_back(const Step *s, const Op *op)
{
    for (int side = 0; side < 2; side++) {
        const Attr *contract = op_attr(op, side ? ATTR_contract_b : ATTR_contract_a);
        const Value *x = op->args[side];
        for (int i = 0; i < contract->n; i++) {
            int key = contract->ints[i];
            for (int query = 0; query < x->type.rank; query++)
                if (x->type.dims[key].symbol == s->time && query != key &&
                    x->type.dims[query].symbol == s->time && is_causal(x, s->time, query, key))
                    return true;
        }
    }
    return false;
}

static Value *build_contraction(Step *s, Op *op, Roles roles)
{
    const Attr *contract = op_attr(op, ATTR_contract_a);
    bool over_time = false;
    for (int i = 0; i < contract->n; i++)
        over_time |= op->args[0]->type.dims[contract->ints[i]].symbol == s->time;
    if (over_time && !contraction_looks_back(s, op))
        return refuse(s, op, "it mixes positions without a causal mask");
    Value *a = build_step(s, op->args[0], dot_roles(s, op, 0, roles));
    Value *b = a ? build_step(s, op->args[1], dot_roles(s, op, 1, roles)) : NULL;
    if (!a || !b)
        return NULL;
    if (is_lifted(op->args[0], a) || is_lifted(op->args[1], b))
        return refuse(s, op, "a product of positions is not supported");
    return build(&s->b, OP_dot, 2, (Value *[]){a, b}, op->n_attrs, op->attrs);
}

/* Position of the newest tokens: length(P) - length(Q) + 0, 1, … : [B, … Q~ …]. */
static Value *build_newest_positions(Step *s, const Value *v)
{
    Dim ones[MAX_RANK], along[MAX_RANK];
    int rank = v->type.rank + 1;
    for (int i = 0; i < rank; i++) {
        ones[i] = i ? dim_const(1) : dim_symbol(s->batch);
        along[i] = i && v->type.dims[i - 1].symbol == s->time ? dim_symbol(s->q) : dim_const(1);
    }
    Value *past = build_lengths(&s->b, DT_I32, s->p), *newest = build_lengths(&s->b, DT_I32, s->q);
    Value *before = build_reshape(&s->b, build_binary(&s->b, OP_sub, past, newest), rank, ones);
    Value *count = build_reshape(&s->b, build_iota(&s->b, dim_symbol(s->q)), rank, along);
    return build_binary(&s->b, OP_add, before, count);
}

static Value *build_leaf(Step *s, Op *op, Roles roles)
{
    Value *v = op_result(op);
    if (op->kind == OP_param)
        return build_param(&s->b, module_param(s->module, op_string(op, ATTR_name)));
    if (op->kind == OP_lengths && op_int(op, ATTR_dim) == s->time)
        return build_reshape(&s->b, build_lengths(&s->b, v->type.dtype, s->p), v->type.rank, v->type.dims);
    if (op->kind == OP_size && op_int(op, ATTR_dim) == s->time)
        return refuse(s, op, "it asks for the whole length");
    if (op->kind == OP_iota && has_role(v, roles, ROLE_Q))
        return build_newest_positions(s, v);
    Type type = v->type;
    for (int i = 0; i < type.rank; i++)
        type.dims[i] = as_step_dim(s, type.dims[i], roles.of[i]);
    if (op->kind == OP_input)
        return build_input(&s->b, op_string(op, ATTR_name), type);
    Op *copy = op_new(s->step, op->kind, 0, NULL, 1);
    copy->attrs = op->attrs;
    copy->n_attrs = op->n_attrs;
    copy->loc = op->loc;
    copy->scope = op->scope;
    copy->results[0].type = type;
    block_append(&s->step->body, copy);
    return op_result(copy);
}

/* All positions so far of a value from the target: the newest are appended. */
static Value *build_cached(Step *s, Value *v)
{
    Roles newest = {{0}};
    int batch = axis_of(v, s->batch), time = axis_of(v, s->time), rank = v->type.rank;
    if (batch < 0)
        return refuse(s, v->op, "it has no batch dimension to cache along");
    newest.of[time] = ROLE_Q;
    Value *rows = build_step(s, v, newest);
    if (!rows)
        return NULL;
    /* [B, Q~, rest…] and back; neither moves an element (ir/layout.h). */
    int perm[MAX_RANK] = {batch, time}, inverse[MAX_RANK], n = 2;
    for (int i = 0; i < rank; i++)
        if (i != batch && i != time)
            perm[n++] = i;
    for (int i = 0; i < rank; i++)
        inverse[perm[i]] = i;
    rows = build_transpose(&s->b, rows, perm);
    Type type = rows->type;
    type.dims[1] = dim_symbol(s->p);
    ParamInfo info = {.name = arena_printf(s->module->arena, "cache.%d", s->n_caches++),
                      .type = type, .role = PARAM_STATE, .init = INIT_ZEROS};
    Value *cache = build_param(&s->b, module_add_param(s->module, info));
    cache = build_binary(&s->b, OP_append, cache, rows);
    return build_transpose(&s->b, cache, inverse);
}

/* A value of the encoder, handed over. */
static Value *build_memory(Step *s, Value *v)
{
    Origin *o = origin(s, v);
    if (o->memory)
        return o->memory;
    const char *name = arena_printf(s->module->arena, "memory.%d", s->n_memory++);
    Builder e = builder_at_end(s->encode);
    build_output(&e, name, v); /* the forward's value: replaced when encode is cut out */
    return o->memory = build_input(&s->b, name, v->type);
}

static Value *build_reduction(Step *s, Op *op, Roles roles)
{
    const Attr *axes = op_attr(op, ATTR_axes);
    const Type *x = &op->args[0]->type;
    bool over_time = op->kind == OP_logsumexp && x->dims[x->rank - 1].symbol == s->time;
    for (int i = 0; axes && i < axes->n; i++)
        over_time |= x->dims[axes->ints[i]].symbol == s->time;
    if (over_time)
        return refuse(s, op, "it runs over the positions");
    Value *built = build_step(s, op->args[0], roles);
    return built ? build_moved(s, op, built) : NULL;
}

static Value *build_lookup(Step *s, Op *op, Roles roles)
{
    Value *table = build_step(s, op->args[0], (Roles){{0}});
    Value *index = table ? build_step(s, op->args[1], roles) : NULL;
    return index ? build_gather(&s->b, table, index) : NULL;
}

static Value *build_op(Step *s, Op *op, Roles roles)
{
    if (op_family(op) == FAMILY_leaf)
        return build_leaf(s, op, roles);
    if (op_family(op) == FAMILY_elementwise)
        return build_elementwise(s, op, roles);
    switch (op->kind) {
    case OP_softmax: case OP_logsumexp: case OP_reduce_sum: case OP_reduce_max:
        return build_reduction(s, op, roles);
    case OP_reshape: case OP_transpose: case OP_broadcast: case OP_slice: case OP_pad: case OP_flip:
        return build_shape(s, op, roles);
    case OP_concat: return build_concatenation(s, op, roles);
    case OP_dot: return build_contraction(s, op, roles);
    case OP_gather: return build_lookup(s, op, roles);
    default: return refuse(s, op, "it is not position-wise");
    }
}

/* A value that was not built in these roles before: handed over, from the cache, or by its op. */
static Value *build_new(Step *s, Value *v, Roles roles)
{
    const Origin *o = origin(s, v);
    if (!o->target && !o->length && o->other)
        return build_memory(s, v);
    if (o->target && has_role(v, roles, ROLE_P) && !has_role(v, roles, ROLE_Q))
        return build_cached(s, v);
    return build_op(s, v->op, roles);
}

static Value *build_step(Step *s, Value *v, Roles roles)
{
    Origin *o = origin(s, v);
    if (s->failed)
        return NULL;
    for (int i = 0; i < o->n_built; i++)
        if (!memcmp(&o->built[i].roles, &roles, sizeof roles))
            return o->built[i].value;
    s->b.loc = v->op->loc;
    s->b.scope = v->op->scope;
    Value *built = build_new(s, v, roles);
    if (built && o->n_built < (int)(sizeof o->built / sizeof *o->built)) {
        o->built[o->n_built].roles = roles;
        o->built[o->n_built++].value = built;
    }
    return built;
}

/* `encode` so far holds only outputs that name the forward's values: it becomes a
 * copy of the forward that ends in them. */
static void cut_encoder(Step *s)
{
    Block outputs = s->encode->body;
    s->encode->body = (Block){0};
    SideTable copies = side_new(s->module->arena);
    FOR_OPS(op, &s->forward->body)
        if (op->kind != OP_output)
            block_append(&s->encode->body, clone_op(s->encode, op, &copies));
    FOR_OPS(op, &outputs)
        block_append(&s->encode->body, clone_op(s->encode, op, &copies));
    remove_dead(s->encode);
}

static int named_symbol(Module *module, const char *name, int batch)
{
    int symbol = module_symbol(module, name);
    while (symbol != NO_SYMBOL && module->symbols.data[symbol].batch != batch) {
        name = arena_printf(module->arena, "%s'", name);
        symbol = module_symbol(module, name);
    }
    return symbol != NO_SYMBOL ? symbol : module_add_symbol(module, name, batch);
}

bool derive_incremental(Module *module, const char *target, const char *logits, Incremental *out,
                        Diagnostics *diags)
{
    *out = (Incremental){0};
    Step s = {.module = module, .diags = diags, .origins = side_new(module->arena)};
    s.forward = derive_forward(module);
    PassContext context = {.diags = diags};
    pass_simplify(s.forward, &context);
    module->functions.count--; /* a working copy */
    Op *input = find_input(s.forward, target), *output = find_output(s.forward, logits);
    if (output && !input) {
        diag_error(diags, output->loc, "nothing to decode: output %s does not depend on an input %s",
                   logits, target);
        return false;
    }
    if (!output || input->results[0].type.rank != 2 ||
        !symbol_is_ragged(module, input->results[0].type.dims[1].symbol)) {
        diag_error(diags, (Loc){0}, "decoding needs an input %s: token[B, T~] and an output %s", target,
                   logits);
        return false;
    }
    s.batch = input->results[0].type.dims[0].symbol;
    s.time = input->results[0].type.dims[1].symbol;
    s.q = named_symbol(module, "Q", s.batch);
    s.p = named_symbol(module, "P", s.batch);
    s.encode = module_add_function(module, function_names()[FUNCTION_ENCODE]);
    s.step = module_add_function(module, function_names()[FUNCTION_DECODE_STEP]);
    s.b = builder_at_end(s.step);
    trace_origins(&s, target);
    Value *wanted = output->args[0];
    Roles roles = {{0}};
    for (int i = 0; i < wanted->type.rank; i++)
        if (wanted->type.dims[i].symbol == s.time)
            roles.of[i] = ROLE_Q;
    Value *result = build_step(&s, wanted, roles);
    if (!result) {
        module->functions.count -= 2;
        return false;
    }
    build_output(&s.b, logits, result);
    if (s.n_memory)
        cut_encoder(&s);
    else
        for (size_t i = 0; i < module->functions.count; i++)
            if (module->functions.data[i] == s.encode) {
                module->functions.data[i] = s.step;
                module->functions.count = i + 1;
            }
    out->encode = s.n_memory ? s.encode : NULL;
    out->decode_step = s.step;
    return true;
}
