/* From a loss back to the params of the last layer, and from tokens to their tables. */
#include "driver/ports/columns.h"

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

RowParams ports_label_params(const Module *module, const Op *input)
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
    RowParams params = {.rows = n};
    for (size_t i = 0; i < walk.params.count; i++)
        if (!any || has_axis(walk.params.data[i], n))
            vec_push(module->arena, params.names, walk.params.data[i]->name);
    return params;
}

/* Adds the tables in which the input's numbers are looked up; sets *rows to theirs. */
static void walk_tables(LayerWalk *walk, const Function *model, const Op *input, int64_t *rows)
{
    const IdUses uses = id_uses(model, input);
    for (size_t i = 0; i < uses.count; i++)
        if (uses.data[i].kind == ID_ROW) {
            walk_layer(walk, uses.data[i].op->args[0]);
            *rows = uses.data[i].n ? uses.data[i].n : *rows;
        }
}

static void walk_logits(LayerWalk *walk, const Function *model, const char *logits)
{
    FOR_OPS (op, &model->body)
        if (logits && op->kind == OP_output && !strcmp(op_string(op, ATTR_name), logits))
            walk_layer(walk, op->args[0]);
}

RowParams ports_token_params(const Module *module, const ModelPorts *ports,
                             const DataColumns *columns, unsigned sides)
{
    const Function *model = module_function(module, "model");
    LayerWalk walk = {module, side_new(module->arena), {0}};
    RowParams params = {.rows = sides & HAS_TARGET ? ports->vocab : 0};
    int64_t rows = 0;
    const char *inputs[] = {sides & HAS_SOURCE ? ports->source : NULL,
                            sides & HAS_TARGET ? ports->target : NULL};
    for (int i = 0; i < 2; i++)
        if (inputs[i])
            walk_tables(&walk, model, ports_input(module, inputs[i]), &rows);
    for (int c = 0; c < columns->n; c++)
        if (column_is_shared_text(columns, c) &&
            sides & (columns->specs[c].is_source ? HAS_SOURCE : HAS_TARGET))
            walk_tables(&walk, model, ports->columns[c], &rows);
    params.rows = rows ? rows : params.rows;
    params.n_tables = walk.params.count;
    if (sides & HAS_TARGET)
        walk_logits(&walk, model, ports->logits);
    for (size_t i = 0; i < walk.params.count; i++)
        if (i < params.n_tables || has_axis(walk.params.data[i], params.rows))
            vec_push(module->arena, params.names, walk.params.data[i]->name);
    return params;
}
