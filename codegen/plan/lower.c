/* The walk over the function: each op as views or steps. */
#include "codegen/plan/plan.h"

#include <assert.h>

static TfcShape shape_of(const Plan *plan, const Type *type)
{
    TfcShape shape = {.rank = type->rank};
    for (int i = 0; i < type->rank; i++) {
        shape.dims[i].size = type->dims[i].size;
        shape.dims[i].dim =
            dim_is_const(type->dims[i]) ? -1 : plan->program_dim[type->dims[i].symbol];
    }
    return shape;
}

static TfcPort port_of(Plan *plan, const Op *op, const Type *type, int32_t buffer)
{
    return (TfcPort){arena_strdup(plan->arena, op_string(op, ATTR_name)), (TfcType)type->dtype,
                     shape_of(plan, type), buffer};
}

static void lower_input(Plan *plan, Op *op)
{
    const Type *type = &op->results[0].type;
    int32_t buffer = add_buffer(plan, TFC_BUFFER_INPUT, type, (int32_t)plan->inputs.count);
    vec_push(plan->arena, plan->inputs, port_of(plan, op, type, buffer));
    View view = view_contiguous(plan, type, buffer);
    place_at(plan, op_result(op), &view);
}

static const char *copy_text(Plan *plan, const char *text)
{
    return text ? arena_strdup(plan->arena, text) : NULL;
}

static void lower_param(Plan *plan, Op *op)
{
    const Type *type = &op->results[0].type;
    const char *name = op_string(op, ATTR_name);
    const ParamInfo *info = module_param(plan->module, name);
    int32_t buffer = add_buffer(plan, TFC_BUFFER_TENSOR, type, (int32_t)plan->tensors.count);
    TfcTensor tensor = {.name = copy_text(plan, name),
                        .type = (TfcType)type->dtype,
                        .shape = shape_of(plan, type),
                        .buffer = buffer};
    if (info) {
        tensor.role = (TfcRole)info->role;
        tensor.init = (TfcInit)info->init;
        tensor.a = info->a;
        tensor.b = info->b;
        tensor.file = copy_text(plan, info->file);
        tensor.tensor = copy_text(plan, info->tensor);
    }
    vec_push(plan->arena, plan->tensors, tensor);
    View view = view_contiguous(plan, type, buffer);
    place_at(plan, op_result(op), &view);
}

static bool lower_shape(Plan *plan, Op *op)
{
    const View *from = view_of_value(plan, op->args[0]);
    View view;
    if (!from)
        return false;
    if (!view_of_op(plan, op, from, &view)) {
        /* Another order of packed tokens, or strides that are no product: a kernel,
         * but for a reshape, which is a view of contiguous memory. */
        if (op->kind != OP_reshape)
            return add_op_kernel(plan, op);
        View source;
        if (!contiguous_view(plan, op->args[0], &source))
            return false;
        if (!view_of_op(plan, op, &source, &view))
            return add_op_kernel(plan, op);
    }
    place_at(plan, op_result(op), &view);
    return true;
}

static bool same_view(const View *a, const View *b)
{
    bool same = a->buffer == b->buffer && a->offset == b->offset && a->n_axes == b->n_axes;
    for (int i = 0; same && i < a->n_axes; i++)
        same = size_equal(&a->strides[i], &b->strides[i]);
    return same;
}

/* Copies the parts that were not written in place. */
static bool lower_concat(Plan *plan, Op *op)
{
    Value *whole = op_result(op);
    const int axis = (int)op_int(op, ATTR_axis);
    View part;
    if (!placement(plan, whole)->placed)
        place_results(plan, op);
    name_steps(plan, op);
    const View target = placement(plan, whole)->view;
    if (op->n_args > 1 &&
        !view_part(plan, &whole->type, &target, axis, 1, &part)) /* no constant stride */
        return add_op_kernel(plan, op);
    int64_t start = 0;
    for (int i = 0; i < op->n_args; i++) {
        const View *from = view_of_value(plan, op->args[i]);
        if (!from)
            return false;
        view_part(plan, &whole->type, &target, axis, start, &part);
        if (!same_view(from, &part) && !add_copy(plan, &op->args[i]->type, from, &part))
            return false;
        start += op->args[i]->type.dims[axis].size;
    }
    return true;
}

static bool lower_output(Plan *plan, Op *op)
{
    Value *value = op->args[0];
    const View *from = view_of_value(plan, value);
    if (!from)
        return false;
    int32_t buffer = from->buffer, index = (int32_t)plan->outputs.count;
    name_steps(plan, op);
    if (plan->buffers.data[buffer].kind == TFC_BUFFER_SLAB &&
        view_is_whole(plan, &value->type, from)) {
        plan->buffers.data[buffer].kind = TFC_BUFFER_OUTPUT;
        plan->buffers.data[buffer].index = index;
    } else {
        buffer = add_buffer(plan, TFC_BUFFER_OUTPUT, &value->type, index);
        View to = view_contiguous(plan, &value->type, buffer);
        if (!add_copy(plan, &value->type, from, &to))
            return false;
    }
    vec_push(plan->arena, plan->outputs, port_of(plan, op, &value->type, buffer));
    return true;
}

/* Indices and the rows that they are of share no ragged dimension: its rows would be as long as
 * each index says. */
static bool lower_scatter(Plan *plan, Op *op)
{
    const Type *x = &op->args[0]->type;
    int n = op->args[1]->type.rank;
    for (int i = 0; i < x->rank; i++)
        for (int j = 0; j < x->rank; j++) {
            int ragged = x->dims[i].symbol, batch = x->dims[j].symbol;
            if ((i < n) == (j < n) || !symbol_is_ragged_over(plan->module, ragged, batch))
                continue;
            diag_error(plan->diags, op->loc,
                       "this scatter_add cannot be compiled: its rows and its indices share %s~",
                       plan->module->symbols.data[ragged].name);
            return false;
        }
    return add_op_kernel(plan, op);
}

static bool lower_op(Plan *plan, Op *op)
{
    switch (op->kind) {
    case OP_input: lower_input(plan, op); return true;
    case OP_param: lower_param(plan, op); return true;
    case OP_const:
    case OP_iota:
    case OP_size:
    case OP_lengths:
    case OP_random: return true; /* computed when first needed */
    case OP_concat: return lower_concat(plan, op);
    case OP_dot: return lower_dot(plan, op);
    case OP_grouped_dot:
    case OP_grouped_outer: return lower_grouped(plan, op);
    case OP_scatter_add: return lower_scatter(plan, op);
    case OP_output: return lower_output(plan, op);
    case OP_assign:
    case OP_keep: {
        const View *view = view_of_value(plan, op->args[1]);
        if (!view)
            return false;
        name_steps(plan, op);
        Assign assign = {op->args[0], op->args[1], *view, plan->name};
        vec_push(plan->arena, plan->assigns, assign);
        return true;
    }
    default: return op_is_view(op) ? lower_shape(plan, op) : add_op_kernel(plan, op);
    }
}

/* Whether the param holds the value already. */
static bool is_written(const Plan *plan, const Assign *assign)
{
    const Placement *p = placement(plan, assign->value);
    bool appended = assign->value->op->kind == OP_append &&
                    p->view.buffer == placement(plan, assign->param)->view.buffer;
    return assign->value == assign->param || appended ||
           (p->in_param && p->assign->args[0] == assign->param);
}

/* The assigns that nothing wrote in place, after all reads: first what still lies
 * in params is saved, then every param is written. */
static bool finish_assigns(Plan *plan)
{
    for (size_t i = 0; i < plan->assigns.count; i++) {
        Assign *assign = &plan->assigns.data[i];
        const Type *type = &assign->value->type;
        plan->name = assign->name;
        if (is_written(plan, assign) ||
            plan->buffers.data[assign->view.buffer].kind != TFC_BUFFER_TENSOR)
            continue;
        View saved = view_contiguous(plan, type, add_buffer(plan, TFC_BUFFER_SLAB, type, 0));
        if (!add_copy(plan, type, &assign->view, &saved))
            return false;
        assign->view = saved;
    }
    for (size_t i = 0; i < plan->assigns.count; i++) {
        const Assign *assign = &plan->assigns.data[i];
        plan->name = assign->name;
        if (!is_written(plan, assign) && !add_copy(plan, &assign->value->type, &assign->view,
                                                   &placement(plan, assign->param)->view))
            return false;
    }
    return true;
}

static void note_origin(Plan *plan, const Op *op)
{
    while (plan->origins.count < plan->steps.count)
        vec_push(plan->arena, plan->origins, op);
}

bool lower_function(Plan *plan)
{
    FOR_OPS (op, &plan->function->body) {
        plan->position++;
        if (!loop_enter(plan, op) || !lower_op(plan, op))
            return false;
        note_origin(plan, op);
    }
    bool done = loop_enter(plan, NULL) && finish_assigns(plan);
    note_origin(plan, plan->function->body.last);
    return done;
}
