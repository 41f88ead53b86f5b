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

TextList ports_label_params(const Module *module, const Op *input)
{
    const IdUses uses = id_uses(module_function(module, "model"), input);
    LayerWalk walk = {module, side_new(module->arena), {0}};
    int64_t n = 0;
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
