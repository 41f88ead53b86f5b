/* Which memory a value is written to. */
#include "codegen/plan/plan.h"

#include "ir/infer.h"

#include <assert.h>

TfcSizeRef size_ref(Plan *plan, TfcSize size)
{
    for (size_t i = 0; i < plan->sizes.count; i++)
        if (size_equal(&plan->sizes.data[i], &size))
            return (TfcSizeRef)i;
    vec_push(plan->arena, plan->sizes, size);
    return (TfcSizeRef)(plan->sizes.count - 1);
}

int32_t add_buffer(Plan *plan, TfcBufferKind kind, const Type *type, int32_t index)
{
    TfcBuffer buffer = {.kind = kind,
                        .type = (TfcType)type->dtype,
                        .size = size_ref(plan, type_size(plan, type)),
                        .index = index};
    vec_push(plan->arena, plan->buffers, buffer);
    vec_push(plan->arena, plan->needed, -1);
    return (int32_t)plan->buffers.count - 1;
}

void place_at(Plan *plan, Value *value, const View *view)
{
    Placement *p = placement(plan, value);
    p->placed = true;
    p->view = *view;
    if (p->last_use > plan->needed.data[view->buffer])
        plan->needed.data[view->buffer] = p->last_use;
}

bool view_is_whole(const Plan *plan, const Type *type, const View *view)
{
    TfcSize size = type_size(plan, type);
    return view->offset == 0 && view_is_contiguous(plan, type, view) &&
           size_equal(&size, &plan->sizes.data[plan->buffers.data[view->buffer].size]);
}

/* Whether every element of the op's space is an element of this type. */
static bool is_space(const Op *op, const Type *type)
{
    Type both;
    for (int i = 0; i < op->n_args; i++)
        if (!shape_broadcast(&op->args[i]->type, type, &both) || !type_same_shape(&both, type))
            return false;
    for (const Op *inner = op->body ? op->body->first : NULL; inner; inner = inner->next)
        for (int r = 0; r < inner->n_results; r++)
            if (!shape_broadcast(&inner->results[r].type, type, &both) ||
                !type_same_shape(&both, type))
                return false;
    return true;
}

/* Whether the op may write the result over this buffer: it reads the buffer not at
 * all, or each element before it writes that one. A kernel stores its results in
 * order and loads an operand when it first needs it; so this result must need it. */
static bool may_overwrite(Plan *plan, const Op *op, const Value *result, int32_t buffer)
{
    for (int i = 0; i < op->n_args; i++) {
        const Placement *p = placement(plan, op->args[i]);
        if (!p->placed || p->view.buffer != buffer)
            continue;
        if (!op_is_one_sweep(op) || !type_equal(&op->args[i]->type, &result->type) ||
            !is_space(op, &result->type) || !view_is_whole(plan, &result->type, &p->view) ||
            !op_result_reads(plan, op, result->index, op->args[i]))
            return false;
    }
    return true;
}

/* Straight into what it is assigned to or kept as, if nobody needs the old value after. */
static bool place_in_param(Plan *plan, Op *op, Value *value)
{
    const Op *assign = placement(plan, value)->assign;
    if (!assign)
        return false;
    Value *param = assign->args[0];
    const Placement *p = placement(plan, param);
    if (!p->placed || !type_equal(&param->type, &value->type) ||
        plan->buffers.data[p->view.buffer].kind == TFC_BUFFER_SLAB ||
        plan->needed.data[p->view.buffer] > plan->position ||
        !may_overwrite(plan, op, value, p->view.buffer))
        return false;
    place_at(plan, value, &p->view);
    placement(plan, value)->in_param = true;
    return true;
}

static int64_t part_start(const Op *concat, const Value *part, int axis)
{
    int64_t start = 0;
    for (int i = 0; concat->args[i] != part; i++)
        start += concat->args[i]->type.dims[axis].size;
    return start;
}

/* Where the value must lie to be its part of the concat that it ends in, perhaps
 * reshaped or transposed on the way. */
static bool concat_view(Plan *plan, Value *value, View *view)
{
    Op *home = placement(plan, value)->home;
    if (!home)
        return false;
    if (home->kind == OP_concat) {
        Value *whole = op_result(home);
        int axis = (int)op_int(home, ATTR_axis);
        if (!placement(plan, whole)->placed)
            place_results(plan, home);
        return view_part(plan, &whole->type, &placement(plan, whole)->view, axis,
                         part_start(home, value, axis), view);
    }
    View result;
    return concat_view(plan, op_result(home), &result) &&
           view_back_through(plan, home, &result, view);
}

static bool place_in_concat(Plan *plan, Value *value)
{
    View view;
    if (!concat_view(plan, value, &view))
        return false;
    place_at(plan, value, &view);
    return true;
}

/* Over an operand that ends here. */
static bool place_over_operand(Plan *plan, Op *op, Value *value)
{
    for (int i = 0; i < op->n_args; i++) {
        const Placement *p = placement(plan, op->args[i]);
        if (!p->placed || !type_equal(&op->args[i]->type, &value->type) ||
            !view_is_whole(plan, &value->type, &p->view))
            continue;
        int32_t buffer = p->view.buffer;
        if (plan->buffers.data[buffer].kind != TFC_BUFFER_SLAB ||
            plan->needed.data[buffer] > plan->position || !may_overwrite(plan, op, value, buffer))
            continue;
        View view = p->view;
        place_at(plan, value, &view);
        plan->needed.data[buffer] = placement(plan, value)->last_use > plan->position
                                        ? placement(plan, value)->last_use
                                        : AT_END; /* not for a second result */
        return true;
    }
    return false;
}

void place_results(Plan *plan, Op *op)
{
    for (int r = 0; r < op->n_results; r++) {
        Value *value = &op->results[r];
        bool whole = op->kind != OP_concat; /* a concat's parts are written one by one, over time */
        if (placement(plan, value)->placed || (whole && place_in_param(plan, op, value)) ||
            place_in_concat(plan, value) || (whole && place_over_operand(plan, op, value)))
            continue;
        View view =
            view_contiguous(plan, &value->type, add_buffer(plan, TFC_BUFFER_SLAB, &value->type, 0));
        place_at(plan, value, &view);
    }
    for (int r = 0; r < op->n_results; r++)
        if (placement(plan, &op->results[r])->kept)
            plan->buffers.data[placement(plan, &op->results[r])->view.buffer].kind =
                TFC_BUFFER_KEPT;
}
