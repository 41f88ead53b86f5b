/* Shape ops as views: other strides, another offset, the same memory. */
#include "codegen/plan/plan.h"

TfcSize axis_size(const Plan *plan, const Axis *axis)
{
    if (dim_is_const(axis->extent))
        return size_const(axis->extent.size);
    return size_dim(plan->program_dim[axis->extent.symbol],
                    axis->batch_dim >= 0 ? TFC_TOTAL : TFC_EXTENT);
}

TfcSize type_size(const Plan *plan, const Type *type)
{
    Layout layout = layout_of(plan->module, type);
    TfcSize size = size_const(1);
    for (int i = 0; i < layout.n; i++)
        size = size_product(size, axis_size(plan, &layout.axes[i]));
    return size;
}

View view_contiguous(const Plan *plan, const Type *type, int32_t buffer)
{
    Layout layout = layout_of(plan->module, type);
    View view = {.buffer = buffer, .n_axes = layout.n};
    TfcSize stride = size_const(1);
    for (int i = layout.n - 1; i >= 0; i--) {
        view.strides[i] = stride;
        stride = size_product(stride, axis_size(plan, &layout.axes[i]));
    }
    return view;
}

bool view_is_contiguous(const Plan *plan, const Type *type, const View *view)
{
    Layout layout = layout_of(plan->module, type);
    View contiguous = view_contiguous(plan, type, view->buffer);
    for (int i = 0; i < layout.n; i++)
        if (!dim_is_one(layout.axes[i].extent) &&
            !size_equal(&contiguous.strides[i], &view->strides[i]))
            return false;
    return true;
}

BufferForm view_form(const Plan *plan, const Type *type, const View *view)
{
    if (view_is_contiguous(plan, type, view))
        return FORM_CONTIGUOUS;
    Layout layout = layout_of(plan->module, type);
    int last = layout.n - 1;
    return size_is(&view->strides[last], 1) || dim_is_one(layout.axes[last].extent) ? FORM_ROWS
                                                                                    : FORM_STRIDED;
}

static int axis_of_dim(const Layout *layout, int dim)
{
    for (int i = 0; i < layout->n; i++)
        if (layout->axes[i].dim == dim)
            return i;
    return -1;
}

static bool move_offset(View *view, int64_t elements, TfcSize stride)
{
    if (elements == 0)
        return true;
    if (!size_is_const(&stride))
        return false;
    view->offset += elements * stride.coefficient;
    return true;
}

bool view_part(const Plan *plan, const Type *type, const View *whole, int axis, int64_t start,
               View *part)
{
    Layout layout = layout_of(plan->module, type);
    *part = *whole;
    return move_offset(part, start, whole->strides[axis_of_dim(&layout, axis)]);
}

/* ---- reshape ---- */

typedef struct Strided {
    TfcSize extent, stride;
} Strided;

static int list_axes(const Plan *plan, const Type *type, const View *view, Strided *out, int *axis)
{
    Layout layout = layout_of(plan->module, type);
    int n = 0;
    for (int i = 0; i < layout.n; i++)
        if (!dim_is_one(layout.axes[i].extent)) {
            axis[n] = i;
            out[n++] = (Strided){axis_size(plan, &layout.axes[i]),
                                 view ? view->strides[i] : size_const(0)};
        }
    return n;
}

/* Neighbouring axes of the operand taken together as one, if they lie that way. */
static bool merge_next(Strided *group, const Strided *next)
{
    TfcSize step = size_product(next->stride, next->extent);
    if (!size_equal(&group->stride, &step))
        return false;
    *group = (Strided){size_product(group->extent, next->extent), next->stride};
    return true;
}

static bool reshape_strides(const Plan *plan, const Type *from_type, const View *from,
                            const Type *to_type, View *to)
{
    Strided a[MAX_RANK], b[MAX_RANK];
    int axis_a[MAX_RANK], axis_b[MAX_RANK];
    int n = list_axes(plan, from_type, from, a, axis_a);
    int m = list_axes(plan, to_type, NULL, b, axis_b);
    Layout layout = layout_of(plan->module, to_type);
    *to = (View){.buffer = from->buffer, .n_axes = layout.n, .offset = from->offset};
    for (int i = 0; i < layout.n; i++)
        to->strides[i] = size_const(1);
    int i = 0, j = 0;
    while (i < n && j < m) {
        Strided group = a[i++];
        int first = j;
        TfcSize extent = b[j++].extent;
        while (!size_equal(&group.extent, &extent)) {
            if (!size_is_const(&group.extent) || !size_is_const(&extent))
                return false;
            if (group.extent.coefficient < extent.coefficient) {
                if (i == n || !merge_next(&group, &a[i++]))
                    return false;
            } else {
                if (j == m)
                    return false;
                extent = size_product(extent, b[j++].extent);
            }
        }
        TfcSize stride = group.stride;
        for (int k = j - 1; k >= first; k--) {
            to->strides[axis_b[k]] = stride;
            stride = size_product(stride, b[k].extent);
        }
    }
    return i == n && j == m;
}

static bool view_reshape(const Plan *plan, const Op *op, const View *from, View *to)
{
    const Type *a = &op->args[0]->type, *b = &op->results[0].type;
    if (!view_is_contiguous(plan, a, from))
        return reshape_strides(plan, a, from, b, to);
    *to = view_contiguous(plan, b, from->buffer);
    to->offset = from->offset;
    return true;
}

/* ---- transpose, broadcast ---- */

static bool same_tokens(const Layout *a, const Layout *b, int dim_in_a, int batch_in_a)
{
    return layout_is_packed(a) == layout_is_packed(b) &&
           (!layout_is_packed(a) ||
            (a->axes[0].dim == dim_in_a && a->axes[0].batch_dim == batch_in_a));
}

static bool view_transpose(const Plan *plan, const Op *op, const View *from, View *to)
{
    Layout a = layout_of(plan->module, &op->args[0]->type),
           b = layout_of(plan->module, &op->results[0].type);
    const int *perm = op_attr(op, ATTR_perm)->ints;
    bool packed = layout_is_packed(&b);
    if (!same_tokens(&a, &b, packed ? perm[b.axes[0].dim] : -1,
                     packed ? perm[b.axes[0].batch_dim] : -1))
        return false;
    *to = (View){.buffer = from->buffer, .n_axes = b.n, .offset = from->offset};
    for (int i = 0; i < b.n; i++)
        to->strides[i] = from->strides[axis_of_dim(&a, perm[b.axes[i].dim])];
    return true;
}

static bool transpose_back(const Plan *plan, const Op *op, const View *to, View *from)
{
    Layout a = layout_of(plan->module, &op->args[0]->type),
           b = layout_of(plan->module, &op->results[0].type);
    const int *perm = op_attr(op, ATTR_perm)->ints;
    View ignored;
    if (!view_transpose(plan, op, to, &ignored))
        return false;
    *from = (View){.buffer = to->buffer, .n_axes = a.n, .offset = to->offset};
    for (int i = 0; i < b.n; i++)
        from->strides[axis_of_dim(&a, perm[b.axes[i].dim])] = to->strides[i];
    return true;
}

bool view_back_through(const Plan *plan, const Op *op, const View *to, View *from)
{
    const Type *a = &op->args[0]->type, *b = &op->results[0].type;
    switch (op->kind) {
    case OP_transpose: return transpose_back(plan, op, to, from);
    case OP_reshape: return reshape_strides(plan, b, to, a, from);
    default: return false;
    }
}

/* The operand's stride along one axis of a broadcast's result; false if no stride leads from
 * element to element. Dimensions are aligned at the last one: the result has `shift` more before
 * the first. */
static bool broadcast_stride(const Type *a_type, const Layout *a, const View *from, int shift,
                             const Axis *axis, TfcSize *stride)
{
    int dim = axis->dim - shift;
    bool stretched = dim < 0 || (dim_is_one(a_type->dims[dim]) && !dim_is_one(axis->extent));
    if (axis->batch_dim >= 0) {
        int batch = axis->batch_dim - shift;
        bool no_batch = batch < 0 || dim_is_one(a_type->dims[batch]);
        if (stretched != no_batch)
            return false;
        if (!stretched && !layout_is_packed(a))
            return false;
    } else if (!stretched && layout_is_packed(a) &&
               (a->axes[0].dim == dim || a->axes[0].batch_dim == dim))
        return false;
    *stride = stretched ? size_const(0) : from->strides[axis_of_dim(a, dim)];
    return true;
}

static bool view_broadcast(const Plan *plan, const Op *op, const View *from, View *to)
{
    const Type *a_type = &op->args[0]->type;
    Layout a = layout_of(plan->module, a_type), b = layout_of(plan->module, &op->results[0].type);
    *to = (View){.buffer = from->buffer, .n_axes = b.n, .offset = from->offset};
    for (int i = 0; i < b.n; i++)
        if (!broadcast_stride(a_type, &a, from, op->results[0].type.rank - a_type->rank, &b.axes[i],
                              &to->strides[i]))
            return false;
    return true;
}

static bool view_flip(const Plan *plan, const Op *op, const View *from, View *to)
{
    Layout layout = layout_of(plan->module, &op->args[0]->type);
    int dim = (int)op_int(op, ATTR_axis), axis = axis_of_dim(&layout, dim);
    int64_t n = op->args[0]->type.dims[dim].size;
    *to = *from;
    to->strides[axis] = size_scaled(from->strides[axis], -1);
    return n > 0 && move_offset(to, n - 1, from->strides[axis]);
}

bool view_of_op(const Plan *plan, const Op *op, const View *from, View *to)
{
    switch (op->kind) {
    case OP_reshape: return view_reshape(plan, op, from, to);
    case OP_transpose: return view_transpose(plan, op, from, to);
    case OP_broadcast: return view_broadcast(plan, op, from, to);
    case OP_flip: return view_flip(plan, op, from, to);
    case OP_slice:
        return view_part(plan, &op->args[0]->type, from, (int)op_int(op, ATTR_axis),
                         op_int(op, ATTR_start), to);
    default: return false;
    }
}
