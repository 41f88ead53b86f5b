/* A value of the forward for given roles: what it is decides how it comes into decode_step. */
#include "passes/incremental/incremental.h"

#include "ir/layout.h"
#include "passes/clone.h"
#include "passes/dependence/dependence.h"

#include <assert.h>
#include <string.h>

Value *refuse(Step *s, const Op *op, const char *why)
{
    if (!s->failed)
        diag_error(s->diags, op->loc, "%s cannot be computed a position at a time: %s",
                   dependence_op_in_words(s->module->arena, op), why);
    s->failed = true;
    return NULL;
}

static bool has_role(const Value *v, Roles roles, DimRole role)
{
    for (int i = 0; i < v->type.rank; i++)
        if (roles.of[i] == (char)role)
            return true;
    return false;
}

Dim as_step_dim(const Step *s, Dim dim, char role)
{
    return role ? dim_symbol(role == ROLE_Q ? newest_symbol(s) : past_symbol(s, dim)) : dim;
}

/* Position of the newest tokens: length(P) - length(Q) + 0, 1, … : [B, … Q~ …], where P is all so
 * far of the dimension that they are counted along. */
static Value *build_newest_positions(Step *s, const Value *v)
{
    Dim ones[MAX_RANK], along[MAX_RANK];
    int rank = v->type.rank + 1, axis = target_axis(s, v);
    for (int i = 0; i < rank; i++) {
        ones[i] = i ? dim_const(1) : dim_symbol(s->batch);
        along[i] = i == axis + 1 ? dim_symbol(newest_symbol(s)) : dim_const(1);
    }
    int symbol = past_symbol(s, v->type.dims[axis]);
    Value *past = build_lengths(&s->b, DT_I32, symbol),
          *newest = build_lengths(&s->b, DT_I32, newest_symbol(s));
    Value *before = build_reshape(&s->b, build_binary(&s->b, OP_sub, past, newest), rank, ones);
    Value *count =
        build_reshape(&s->b, build_iota(&s->b, dim_symbol(newest_symbol(s))), rank, along);
    return build_binary(&s->b, OP_add, before, count);
}

/* A leaf with its target dimensions in their roles; iota of all positions so far and what does
 * not depend on positions are the same op. */
static Value *build_leaf_of_roles(Step *s, Op *op, Roles roles)
{
    Op *copy = clone_op(s->step, op, NULL);
    Type *type = &copy->results[0].type;
    for (int i = 0; i < type->rank; i++)
        type->dims[i] = as_step_dim(s, type->dims[i], roles.of[i]);
    if (op->kind == OP_input)
        return build_input(&s->b, op_string(op, ATTR_name), *type);
    block_append(&s->step->body, copy);
    return op_result(copy);
}

static Value *build_leaf(Step *s, Op *op, Roles roles)
{
    if (op->kind == OP_param)
        return build_param(&s->b, module_param(s->module, op_string(op, ATTR_name)));
    if (op->kind == OP_input && !origin(s, op_result(op))->target &&
        target_axis(s, op_result(op)) >= 0)
        return refuse(s, op, "it has the dimension of what is generated, but it is another input");
    if (op->kind == OP_iota && has_role(op_result(op), roles, ROLE_Q))
        return build_newest_positions(s, op_result(op));
    return build_leaf_of_roles(s, op, roles);
}

void cache_axes(int rank, int batch, int time, int perm[MAX_RANK], int inverse[MAX_RANK])
{
    int n = 0;
    perm[n++] = batch;
    perm[n++] = time;
    for (int i = 0; i < rank; i++)
        if (i != batch && i != time)
            perm[n++] = i;
    for (int i = 0; i < rank; i++)
        inverse[perm[i]] = i;
}

Value *build_cache(Step *s, Type type)
{
    ParamInfo info = {.name = arena_printf(s->module->arena, "cache.%d", s->n_caches++),
                      .type = type,
                      .role = PARAM_STATE,
                      .init = INIT_ZEROS};
    return build_new_param(&s->b, module_add_param(s->module, info));
}

/* All positions so far of a value from the target: the newest are appended. */
static Value *build_cached(Step *s, Value *v)
{
    Roles newest = {{0}};
    int batch = type_find_dim(&v->type, s->batch), time = target_axis(s, v);
    const TargetDim *dim = target_dim(s, v->type.dims[time]);
    int perm[MAX_RANK], inverse[MAX_RANK];
    assert(batch >= 0); /* a text is ragged over it */
    newest.of[time] = ROLE_Q;
    Value *rows = build_step(s, v, newest);
    if (!rows)
        return NULL;
    cache_axes(v->type.rank, batch, time, perm, inverse);
    rows = build_transpose(&s->b, rows, perm);
    Type type = rows->type;
    type.dims[1] = dim_symbol(dim->past[ROWS_ALL]);
    Value *cache = build_cache(s, type);
    if (dim->before.symbol != NO_SYMBOL || dim->before.size) {
        Beginning beginning = {.name = op_string(cache->op, ATTR_name), .value = v};
        memcpy(beginning.perm, perm, sizeof perm);
        vec_push(s->module->arena, s->beginnings, beginning);
    }
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

static Value *build_op(Step *s, Op *op, Roles roles)
{
    switch (op_family(op)) {
    case FAMILY_leaf: return build_leaf(s, op, roles);
    case FAMILY_elementwise: return build_elementwise(s, op, roles);
    case FAMILY_norm:
    case FAMILY_reduce: return build_along_rows(s, op, roles);
    case FAMILY_shape: return build_shape(s, op, roles);
    case FAMILY_matmul:
        return op->kind == OP_dot           ? build_contraction(s, op, roles)
               : op->kind == OP_grouped_dot ? build_grouped_rows(s, op, roles)
                                            : refuse(s, op, "it adds up positions");
    default: break;
    }
    if (op->kind == OP_gather)
        return build_table_rows(s, op, roles);
    if (op->kind == OP_lookup)
        return build_looked_up(s, op, roles);
    if (op->kind == OP_top_k)
        return build_chosen(s, op, roles);
    return refuse(s, op, "nothing is known of what it makes of positions");
}

int count_times(const Step *s, const Value *v)
{
    int n = 0;
    for (int i = 0; i < v->type.rank; i++)
        n += target_dim(s, v->type.dims[i]) != NULL;
    return n;
}

/* A value that was not built in these roles before: handed over, from the cache, or by its op. What
 * has several axes of positions is not cached but made anew of what has one. */
static Value *build_new(Step *s, Value *v, Roles roles)
{
    const Origin *o = origin(s, v);
    if (!o->target && !o->length && o->other)
        return build_memory(s, v);
    if (s->rows != ROWS_ALL && (o->target ? count_times(s, v) == 1 : !o->length) &&
        !(s->rows == ROWS_MANY && o->of_latent && has_role(v, roles, ROLE_P)))
        return build_from_all(s, v, roles);
    if (s->rows == ROWS_ALL && o->target && has_role(v, roles, ROLE_P) && count_times(s, v) == 1)
        return build_cached(s, v);
    return build_op(s, v->op, roles);
}

/* Whether what was built has the dimensions that its roles ask for, behind the batch if it is
 * lifted. */
static bool is_as_asked(const Step *s, const Value *v, const Value *built, Roles roles)
{
    int lifted = is_lifted(v, built);
    bool ok = built->type.rank == v->type.rank + lifted &&
              (!lifted || built->type.dims[0].symbol == s->batch);
    for (int i = 0; ok && i < v->type.rank; i++)
        ok = dim_equal(built->type.dims[i + lifted], as_step_dim(s, v->type.dims[i], roles.of[i]));
    return ok;
}

/* Whether it is stored by the tokens of another input, which hypotheses of a sentence share, though
 * each has values of its own. */
static bool is_shared(const Step *s, const Value *v, const Value *built)
{
    Layout layout = layout_of(s->module, &built->type);
    if (!layout_is_packed(&layout))
        return false;
    int tokens = built->type.dims[layout.axes[0].dim].symbol;
    bool is_past = false;
    for (size_t i = 0; i < s->dims.count; i++)
        is_past |= tokens == s->dims.data[i].past[s->rows];
    return tokens != newest_symbol(s) && !is_past &&
           (origin(s, v)->target || type_find_dim(&built->type, newest_symbol(s)) >= 0);
}

Value *build_step(Step *s, Value *v, Roles roles)
{
    Origin *o = origin(s, v);
    if (s->failed)
        return NULL;
    for (int i = 0; i < o->n_built; i++)
        if (o->built[i].rows == s->rows && !memcmp(&o->built[i].roles, &roles, sizeof roles))
            return o->built[i].value;
    s->b.loc = v->op->loc;
    s->b.scope = v->op->scope;
    Value *built = build_new(s, v, roles);
    if (built && !is_as_asked(s, v, built, roles))
        return refuse(s, v->op, "its positions are combined in a way that is not supported");
    if (built && is_shared(s, v, built))
        return refuse(s, v->op,
                      "its result has the source's positions before the text's; swap the two");
    if (built && o->n_built < (int)(sizeof o->built / sizeof *o->built)) {
        o->built[o->n_built].roles = roles;
        o->built[o->n_built].rows = s->rows;
        o->built[o->n_built++].value = built;
    }
    return built;
}
