/* From a loss back to the params of the last layer. */
#include "driver/ports/ports.h"

#include "ir/id_uses.h"

/* LayerWalk: back from logits.
 *   seen     the ops that it came to
 *   params   the params that it found, once each */
typedef struct LayerWalk {
    const Module *module;
    SideTable seen;
    VEC(const ParamInfo *) params;
} LayerWalk;

static void add_layer_param(LayerWalk *walk, const Op *op)
{
    const ParamInfo *info = module_param(walk->module, op_string(op, ATTR_name));
    for (size_t i = 0; info && i < walk->params.count; i++)
        if (walk->params.data[i] == info)
            return;
    if (info)
        vec_push(walk->module->arena, walk->params, info);
}

static void walk_layer(LayerWalk *walk, const Value *value)
{
    const Op *op = value->op;
    if (side_number(&walk->seen, op))
        return;
    side_set_number(&walk->seen, op, 1);
    const bool is_layer = op->kind == OP_dot || op->kind == OP_grouped_dot || op->kind == OP_gather;
    bool ends = false;
    for (int i = 0; is_layer && i < op->n_args; i++) {
        const Op *shown = op_shown(op->args[i]);
        if (shown->kind == OP_param)
            add_layer_param(walk, shown);
        ends = ends || shown->kind == OP_param;
    }
    if (op->kind == OP_param)
        add_layer_param(walk, op);
    for (int i = 0; !ends && i < op->n_args; i++)
        walk_layer(walk, op->args[i]);
}

static bool has_axis(const ParamInfo *param, int64_t n)
{
    for (int d = 0; d < param->type.rank; d++)
        if (param->type.dims[d].size == n)
            return true;
    return false;
}

/* Of an input of sets of labels, from what predicts sets of as many; returns how many. */
static int64_t walk_sets(LayerWalk *walk, const Function *function, const Op *input)
{
    const Type *type = &input->results[0].type;
    const int64_t n = type->dims[type->rank - 1].size;
    FOR_OPS (op, &function->body) {
        const Attr *predict = op->kind == OP_output ? op_attr(op, ATTR_predict) : NULL;
        const Type *set = predict ? &op->args[0]->type : NULL;
        if (predict && !strcmp(op_string(op, ATTR_predict), "many") &&
            set->dims[set->rank - 1].size == n)
            walk_layer(walk, op->args[0]);
    }
    return n;
}

TextList ports_label_params(const Module *module, const Op *input)
{
    const Function *function = module_function(module, "model");
    const IdUses uses = id_uses(function, input);
    LayerWalk walk = {module, side_new(module->arena), {0}};
    int64_t n = op_attr(input, ATTR_many) ? walk_sets(&walk, function, input) : 0;
    for (size_t i = 0; i < uses.count; i++) {
        const IdUse *use = &uses.data[i];
        if (use->kind == ID_CTC_LABEL)
            walk_layer(&walk, use->op->args[0]);
        if (use->kind == ID_LABEL)
            FOR_USES (choice, &use->op->results[0])
                if (choice->user->kind == OP_select)
                    walk_layer(&walk, choice->user->args[1]);
        if (use->kind == ID_LABEL || use->kind == ID_CTC_LABEL)
            n = use->n;
    }
    bool any = false;
    for (size_t i = 0; i < walk.params.count; i++)
        any = any || has_axis(walk.params.data[i], n);
    TextList names = {0};
    for (size_t i = 0; i < walk.params.count; i++)
        if (!any || has_axis(walk.params.data[i], n))
            vec_push(module->arena, names, walk.params.data[i]->name);
    return names;
}
