/* Functions of a training whose batches come in pieces (batch_sums.h): what gives a piece's part of
 * loss and gradient, what the pieces are added up for, and the update behind them. */
#include "passes/batch_sums.h"
#include "passes/clone.h"
#include "passes/derive.h"
#include "passes/optimizer.h"

#include <string.h>

static Value *gradient_param(Builder *b, const char *name, Type type)
{
    Module *module = b->function->module;
    const ParamInfo *info = module_param(module, name);
    if (!info)
        info = module_add_param(
            module,
            (ParamInfo){.name = name, .type = type, .role = PARAM_GRADIENT, .init = INIT_ZEROS});
    return build_param(b, info);
}

/* Adds a gradient of the param to the tensor `name`, as early as may be. */
static void accumulate(Function *function, const Value *param, Value *gradient, const char *name)
{
    Builder b = builder_behind(function, &function->body, gradient->op);
    b.loc = param->op->loc;
    b.scope = param->op->scope;
    Value *sum = gradient_param(&b, name, param->type);
    build_assign(&b, sum, build_binary(&b, OP_add, sum, gradient));
}

static bool is_assign(const Op *op) { return op->kind == OP_assign; }

/* The piece's part of the loss. States are not assigned: that is done once, behind all pieces. */
static void take_share(const BatchSums *sums)
{
    Function *function = sums->function;
    Builder b = builder_before(function, &function->body, function->body.first);
    share_loss(sums, build_input(&b, SHARE_INPUT, type_scalar(DT_F32)));
    read_totals(sums, false);
}

static Trained begin_accumulate(Module *module, Function **function)
{
    *function = derive(module, FUNCTION_ACCUMULATE, true, KEEP_LOSS);
    BatchSums sums = find_batch_sums(*function);
    take_share(&sums);
    give_totals(&sums, true);
    drop_effects(*function, is_assign);
    return differentiate(*function, unit_scale(*function));
}

Function *derive_totals(Module *module, bool training)
{
    Function *function =
        derive_named(module, training ? "train_totals" : "totals", training, KEEP_LOSS);
    BatchSums sums = find_batch_sums(function);
    bool any = give_totals(&sums, false);
    drop_effects(function, is_assign);
    drop_effects(function, is_loss);
    if (!any)
        module->functions.count--;
    return any ? function : NULL;
}

Function *derive_loss_share(Module *module, bool outputs)
{
    Function *function =
        derive(module, FUNCTION_LOSS_SHARE, false, outputs ? KEEP_BOTH : KEEP_LOSS);
    BatchSums sums = find_batch_sums(function);
    take_share(&sums);
    remove_dead(function);
    return function;
}

bool check_pieces(Module *module)
{
    Function *function = derive_named(module, "pieces", true, KEEP_LOSS);
    BatchSums sums = find_batch_sums(function);
    module->functions.count--;
    if (sums.whole)
        diag_remark(
            module->diags, sums.whole->loc,
            "the loss is no sum over the rows of a batch because of this: it is computed for each piece of a batch "
            "apart and weighted by tokens, and depends on --shards and --accumulate");
    if (sums.refused) {
        diag_error(
            module->diags, sums.refused->loc,
            "`%s` is updated once a step, from the whole batch, but a batch is computed in pieces: train with "
            "--shards 1 and --accumulate 1, in one process",
            op_string(sums.refused->args[0]->op, ATTR_name));
        diag_note(module->diags, sums.refused_for->loc, "here rows of the batch meet");
    }
    return !sums.refused;
}

/* A function of that name that assigns the model's states, from totals. */
static Function *begin_states(Module *module, const char *name)
{
    Function *function = derive_named(module, name, true, KEEP_LOSS);
    BatchSums sums = find_batch_sums(function);
    read_totals(&sums, true);
    drop_effects(function, is_loss);
    return function;
}

Function *derive_states(Module *module)
{
    Function *function = begin_states(module, "states");
    if (!function_has(function, OP_assign)) {
        module->functions.count--;
        return NULL;
    }
    Builder b = builder_at_end(function);
    Value *norm = build_input(&b, "gradient_norm", type_scalar(DT_F32));
    hold_states(function, norm);
    return function;
}

Function *derive_accumulate(Module *module)
{
    Function *function;
    Trained t = begin_accumulate(module, &function);
    for (int i = 0; i < t.n; i++)
        accumulate(function, t.params[i], t.gradients[i],
                   gradient_name(module->arena, op_string(t.params[i]->op, ATTR_name)));
    remove_dead(function);
    return function;
}

Function *derive_accumulate_rows(Module *module)
{
    Function *function;
    Trained t = begin_accumulate(module, &function);
    SideTable sparse = find_sparse(function);
    for (int i = 0; i < t.n; i++) {
        const char *param = op_string(t.params[i]->op, ATTR_name);
        GradientTerms terms = split_terms(function, &sparse, t.gradients[i]);
        Value *whole = terms.dense ? terms.dense : terms.sparse;
        accumulate(function, t.params[i], whole, gradient_name(module->arena, param));
        if (terms.dense && terms.sparse)
            accumulate(function, t.params[i], terms.sparse,
                       gradient_rows_name(module->arena, param));
    }
    remove_dead(function);
    return function;
}

bool accumulates_rows(const Function *accumulate, const char *gradient)
{
    SideTable sparse = find_sparse(accumulate);
    FOR_OPS (op, &accumulate->body)
        if (op->kind == OP_assign && !strcmp(op_string(op->args[0]->op, ATTR_name), gradient))
            return side_number(&sparse, op->args[1]->op->args[1]->op);
    return false;
}

/* Update: what is to be updated, in its function. */
typedef struct Update {
    Builder b;
    Value **params, **gradients;
    int n;
} Update;

static Update begin_update(Function *function, int n)
{
    Module *module = function->module;
    return (Update){.b = builder_at_end(function),
                    .params = ARENA_ARRAY(module->arena, Value *, n + 1),
                    .gradients = ARENA_ARRAY(module->arena, Value *, n + 1)};
}

static void add_param(Update *u, const ParamInfo *info, const Op *read)
{
    u->b.loc = read->loc;
    u->b.scope = read->scope;
    u->params[u->n] = build_param(&u->b, info);
    u->gradients[u->n++] =
        gradient_param(&u->b, gradient_name(u->b.function->module->arena, info->name), info->type);
}

/* Updates, and the gradients are 0 again. */
static Function *end_update(Update *u, const OptimizerSpec *optimizer, Value *norm)
{
    Function *function = u->b.function;
    build_optimizer(function, optimizer, u->n, u->params, u->gradients, norm);
    Builder b = builder_at_end(function);
    for (int i = 0; i < u->n; i++) {
        b.loc = u->gradients[i]->op->loc;
        b.scope = u->gradients[i]->op->scope;
        build_assign(&b, u->gradients[i], build_const_of(&b, u->gradients[i]->type, 0));
    }
    return function;
}

Function *derive_update(Module *module, const OptimizerSpec *optimizer)
{
    Map reads = params_of_loss(module_function(module, "model"));
    const ParamInfo **params;
    int n = derive_trained(module, &params);
    Update u = begin_update(begin_states(module, function_names()[FUNCTION_UPDATE]), n);
    for (int i = 0; i < n; i++)
        add_param(&u, params[i], ((const Value *)map_get(&reads, params[i]->name))->op);
    return end_update(&u, optimizer, NULL);
}

Function *derive_update_part(const Module *whole, const OptimizerSpec *optimizer,
                             const int64_t *counts)
{
    Map reads = params_of_loss(module_function(whole, "model"));
    const ParamInfo **params;
    int n = derive_trained(whole, &params);
    Module *module = module_new(whole->arena, whole->diags, whole->name);
    Update u = begin_update(module_add_function(module, function_names()[FUNCTION_UPDATE]), n);
    for (int i = 0; i < n; i++) {
        ParamInfo info = *params[i];
        if (!counts[i])
            continue;
        info.type.rank = 1;
        info.type.dims[0] = dim_const(counts[i]);
        add_param(&u, module_add_param(module, info),
                  ((const Value *)map_get(&reads, info.name))->op);
    }
    Value *norm = build_input(&u.b, "gradient_norm", type_scalar(DT_F32));
    return end_update(&u, optimizer, build_cast(&u.b, norm, DT_F64));
}
