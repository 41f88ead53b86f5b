/* The functions made from what the frontend gives ("model"): each is a copy with
 * what it is for decided (dropout on or off), and what nobody asks for removed. */
#include "passes/clone.h"
#include "passes/derive.h"
#include "passes/optimizer.h"
#include "passes/pass.h"

#include <assert.h>
#include <string.h>

/* `training` becomes a constant, dropout off disappears, random numbers only stay
 * where a loss is computed. */
static void settle_mode(Function *function, bool training, bool random)
{
    FOR_OPS (op, &function->body) {
        Builder b = builder_before(function, &function->body, op);
        if (op->kind == OP_training)
            value_replace(op_result(op), build_const(&b, DT_BOOL, training));
        else if (op->kind == OP_dropout && !training)
            value_replace(op_result(op), op->args[0]);
        else if (op->kind == OP_random && !random)
            value_replace(op_result(op), build_const_of(&b, op_result(op)->type, 1));
    }
}

bool is_loss(const Op *op)
{
    return op->kind == OP_output && !strcmp(op_string(op, ATTR_name), "loss");
}

Function *derive_named(Module *module, const char *name, bool training, Keep keep)
{
    Function *model = module_function(module, "model");
    assert(model);
    Function *function = clone_function(model, name);
    settle_mode(function, training, keep == KEEP_LOSS);
    FOR_OPS (op, &function->body)
        if ((op->kind == OP_output && keep != KEEP_BOTH && is_loss(op) != (keep == KEEP_LOSS)) ||
            (op->kind == OP_assign && !training))
            block_remove(&function->body, op);
    remove_dead(function);
    return function;
}

Function *derive(Module *module, ModelFunction which, bool training, Keep keep)
{
    return derive_named(module, function_names()[which], training, keep);
}

void drop_effects(Function *function, bool (*is_dropped)(const Op *op))
{
    FOR_OPS (op, &function->body)
        if (is_dropped(op))
            block_remove(&function->body, op);
    remove_dead(function);
}

Function *derive_forward(Module *module)
{
    return derive(module, FUNCTION_FORWARD, false, KEEP_OUTPUTS);
}

static bool is_no_prediction(const Op *op)
{
    return op->kind == OP_output && !op_attr(op, ATTR_predict);
}

Function *derive_predict(Module *module)
{
    Function *function = derive(module, FUNCTION_PREDICT, false, KEEP_OUTPUTS);
    drop_effects(function, is_no_prediction);
    return function;
}

Function *derive_loss(Module *module) { return derive(module, FUNCTION_LOSS, false, KEEP_LOSS); }

/* The params that the function reads: name → Value*. */
static Map params_read(const Function *function)
{
    Map reads;
    map_init(&reads, function->module->arena);
    FOR_OPS (op, &function->body)
        if (op->kind == OP_param)
            map_set(&reads, op_string(op, ATTR_name), op_result(op));
    return reads;
}

Map params_of_loss(const Function *model)
{
    Arena *arena = model->module->arena;
    SideTable needed = side_new(arena);
    Map reads;
    map_init(&reads, arena);
    side_set_number(&needed, find_output(model, "loss"), 1);
    for (Op *op = model->body.last; op; op = op->previous) {
        if (!side_number(&needed, op))
            continue;
        if (op->kind == OP_param)
            map_set(&reads, op_string(op, ATTR_name), op_result(op));
        for (int a = 0; a < op->n_args; a++)
            side_set_number(&needed, op->args[a]->op, 1);
    }
    return reads;
}

Trained differentiate(Function *function, Value *scale)
{
    Module *module = function->module;
    Trained t = {0};
    t.params = ARENA_ARRAY(module->arena, Value *, module->params.count + 1);
    t.gradients = ARENA_ARRAY(module->arena, Value *, module->params.count + 1);
    Map reads = params_read(function);
    for (size_t i = 0; i < module->params.count; i++) {
        const ParamInfo *info = module->params.data[i];
        if (info->role == PARAM_TRAINED && map_has(&reads, info->name))
            t.params[t.n++] = map_get(&reads, info->name);
    }
    Op *loss = find_output(function, "loss");
    assert(loss);
    autodiff(function, loss->args[0], scale, t.n, t.params, t.gradients);
    return t;
}

Value *unit_scale(Function *function)
{
    Builder b = builder_at_end(function);
    return build_const(&b, find_output(function, "loss")->args[0]->type.dtype, 1);
}

const char *gradient_name(Arena *arena, const char *param)
{
    return arena_printf(arena, "grad.%s", param);
}

const char *gradient_rows_name(Arena *arena, const char *param)
{
    return arena_printf(arena, "grad.%s:rows", param);
}

/* An output "grad.NAME" for each gradient. */
static void output_gradients(Function *function, const Trained *t)
{
    Builder b = builder_at_end(function);
    for (int i = 0; i < t->n; i++)
        build_output(&b,
                     gradient_name(function->module->arena, op_string(t->params[i]->op, ATTR_name)),
                     t->gradients[i]);
}

Function *derive_gradient(Module *module, bool training)
{
    Function *function = derive(module, FUNCTION_GRADIENT, training, KEEP_LOSS);
    Trained t = differentiate(function, unit_scale(function));
    output_gradients(function, &t);
    remove_dead(function);
    return function;
}

static Function *make_train_step(Module *module, const OptimizerSpec *optimizer, bool outputs)
{
    Function *function = derive(module, FUNCTION_TRAIN_STEP, true, KEEP_LOSS);
    Trained t = differentiate(function, unit_scale(function));
    if (outputs)
        output_gradients(function, &t);
    build_optimizer(function, optimizer, t.n, t.params, t.gradients, NULL);
    remove_dead(function);
    return function;
}

Function *derive_train_step(Module *module, const OptimizerSpec *optimizer)
{
    return make_train_step(module, optimizer, false);
}

Function *derive_train_step_gradients(Module *module, const OptimizerSpec *optimizer)
{
    return make_train_step(module, optimizer, true);
}

static bool rounds(const Op *op)
{
    return op->kind == OP_cast && op_result((Op *)op)->type.dtype == DT_BF16;
}

bool reads_as_bf16(const Function *function, const char *param)
{
    bool rounded = false;
    FOR_OPS (op, &function->body) {
        if (op->kind != OP_param || strcmp(op_string(op, ATTR_name), param))
            continue;
        if (op_result(op)->type.dtype != DT_F32)
            return false;
        FOR_USES (use, op_result(op)) {
            if (!rounds(use->user))
                return false;
            rounded = true;
        }
    }
    return rounded;
}

int derive_trained(const Module *module, const ParamInfo ***params)
{
    Map reads = params_of_loss(module_function(module, "model"));
    int n = 0;
    *params = ARENA_ARRAY(module->arena, const ParamInfo *, module->params.count + 1);
    for (size_t i = 0; i < module->params.count; i++) {
        const ParamInfo *info = module->params.data[i];
        if (info->role == PARAM_TRAINED && map_has(&reads, info->name))
            (*params)[n++] = info;
    }
    return n;
}

Function *derive_function(Module *module, ModelFunction which, const OptimizerSpec *optimizer)
{
    switch (which) {
    case FUNCTION_FORWARD: return derive_forward(module);
    case FUNCTION_LOSS: return derive_loss(module);
    case FUNCTION_PREDICT: return derive_predict(module);
    case FUNCTION_GRADIENT: return derive_gradient(module, false);
    case FUNCTION_TRAIN_STEP: return derive_train_step(module, optimizer);
    case FUNCTION_ACCUMULATE: return derive_accumulate(module);
    case FUNCTION_UPDATE: return derive_update(module, optimizer);
    case FUNCTION_LOSS_SHARE: return derive_loss_share(module, false);
    default: return NULL;
    }
}
