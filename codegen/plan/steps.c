/* Kernel, copy and zero steps. */
#include "codegen/plan/plan.h"

#include "base/text.h"
#include "codegen/tiles.h"

#include <assert.h>

/* "encoder.layer.0 row(mul reduce_sum …)": what traces and messages show. */
static const char *step_name(Plan *plan, const Op *op)
{
    Text text = {0};
    if (op->scope && *op->scope)
        text_add(&text, "%s ", op->scope);
    text_add(&text, "%s", op_info[op->kind].name);
    int n = 0;
    if (op->body) {
        FOR_OPS (inner, op->body)
            if (op_family(inner) != FAMILY_leaf && inner->kind != OP_yield && n++ < 6)
                text_add(&text, "%s%s", n == 1 ? "(" : " ", op_info[inner->kind].name);
        text_add(&text, n > 6 ? " …)" : n ? ")" : "");
    }
    return text_keep(plan->arena, &text);
}

void name_steps(Plan *plan, const Op *op) { plan->name = step_name(plan, op); }

static int kernel_index(Plan *plan, int kernel)
{
    for (size_t i = 0; i < plan->kernels.count; i++)
        if (plan->kernels.data[i] == kernel)
            return (int)i;
    vec_push(plan->arena, plan->kernels, kernel);
    return (int)plan->kernels.count - 1;
}

static TfcSize stored_dim(const Plan *plan, const Type *type, int dim)
{
    if (dim_is_const(type->dims[dim]))
        return size_const(type->dims[dim].size);
    return size_dim(plan->program_dim[type->dims[dim].symbol], TFC_EXTENT);
}

/* Scores of a unit, each as much work as its products make it. */
static TfcSize tile_work(const Plan *plan, const Op *op)
{
    Tiles tiles = tiles_of(op);
    int64_t each = 1;
    TfcSize work = size_const(1);
    for (int i = 0; i < tiles.n; i++)
        each += tiles.products[i].depth / 32;
    for (int i = 0; i < tiles.scores.rank; i++)
        if (!tiles.unit[i])
            work = size_product(work, stored_dim(plan, &tiles.scores, i));
    return size_scaled(work, each);
}

/* Elements of the iteration space that one unit of the kernel touches. A size by
 * which tasks are cut, not a bound. */
static TfcSize unit_work(const Plan *plan, const Op *op, const Signature *s)
{
    if (op->kind == OP_ctc || op->kind == OP_ctc_grad) /* a unit is a whole sentence */
        return type_size(plan, &op->args[0]->type);
    if (op->kind == OP_scatter_add) /* goes through all indices */
        return size_scaled(type_size(plan, &op->args[1]->type), COLUMN_CHUNK);
    if (op->kind == OP_top_k) /* goes through a row k times */
        return size_product(stored_dim(plan, &op->args[0]->type, s->space.rank - 1),
                            stored_dim(plan, &op->results[0].type, s->space.rank - 1));
    Layout layout = layout_of(plan->module, &s->space);
    if (s->range == RANGE_ELEMENTS || layout.n == 0)
        return size_const(1);
    if (s->range == RANGE_ROWS)
        return axis_size(plan, &layout.axes[layout.n - 1]);
    if (s->range == RANGE_TILES)
        return tile_work(plan, op);
    TfcSize work = size_const(COLUMN_CHUNK);
    for (int i = 0; i < layout.n; i++) { /* the axes that are summed away */
        int dim = layout.axes[i].dim, batch = layout.axes[i].batch_dim;
        bool summed = !dim_equal(s->space.dims[dim], s->output.dims[dim]);
        if (batch >= 0 && summed && dim_equal(s->space.dims[batch], s->output.dims[batch]))
            work = size_product(work, stored_dim(plan, &s->space, dim)); /* one sentence's */
        else if (summed)
            work = size_product(work, axis_size(plan, &layout.axes[i]));
    }
    return work;
}

/* From kernel-local dimensions to the program's. */
static TfcSize units_of(const Plan *plan, const Signature *s)
{
    TfcSize local = signature_units(plan->module, s), units = size_const(local.coefficient);
    for (int i = 0; i < local.n_factors; i++)
        units = size_product(units, size_dim(plan->program_dim[s->dims[local.factors[i].dim]],
                                             (TfcQuantity)local.factors[i].quantity));
    return units;
}

static TfcView view_record(Plan *plan, const View *view)
{
    TfcView record = {.buffer = view->buffer, .n_axes = view->n_axes, .offset = view->offset};
    for (int i = 0; i < view->n_axes; i++)
        record.strides[i] = size_ref(plan, view->strides[i]);
    return record;
}

bool add_kernel(Plan *plan, const Op *op, const View *views)
{
    int n = op->n_args + op->n_results;
    BufferForm *forms = ARENA_ARRAY(plan->arena, BufferForm, n);
    for (int i = 0; i < n; i++)
        forms[i] =
            view_form(plan, i < op->n_args ? &op->args[i]->type : &op->results[i - op->n_args].type,
                      &views[i]);
    Signature s = signature_of(plan->set->arena, plan->module, op, forms);
    int kernel = kernels_add(plan->set, plan->module, op, &s);
    TfcView *records = ARENA_ARRAY(plan->arena, TfcView, n);
    for (int i = 0; i < n; i++)
        records[i] = view_record(plan, &views[i]);
    int32_t *dims = ARENA_ARRAY(plan->arena, int32_t, s.n_dims);
    for (int i = 0; i < s.n_dims; i++)
        dims[i] = plan->program_dim[s.dims[i]];
    TfcStep step = {.kind = TFC_STEP_KERNEL, .name = plan->name};
    step.kernel = (TfcKernelStep){
        .kernel = kernel_index(plan, kernel),
        .n_views = n,
        .n_results = op->n_results,
        .n_dims = s.n_dims,
        .n_ints = s.n_sites,
        .views = records,
        .dims = dims,
        .ints = arena_copy(plan->arena, s.sites, sizeof *s.sites * (size_t)s.n_sites),
        .range = size_ref(plan, units_of(plan, &s)),
        .work = size_ref(plan, unit_work(plan, op, &s)),
    };
    loop_kernel(plan, op, &s, &step);
    vec_push(plan->arena, plan->steps, step);
    return true;
}

/* Buffers past the 63rd of a kernel must not be strided, nor what products read. */
enum { MAX_STRIDED = 64 };

static bool in_product(const Op *op, const Value *value)
{
    if (op->kind == OP_attention)
        FOR_OPS (inner, op->body)
            if (inner->kind == OP_dot && (inner->args[0] == value || inner->args[1] == value))
                return true;
    return false;
}

static bool operand_view(Plan *plan, const Op *op, int index, View *view)
{
    Value *value = op->args[index];
    const View *placed = view_of_value(plan, value);
    if (!placed)
        return false;
    *view = *placed;
    if ((index < MAX_STRIDED && !in_product(op, value)) ||
        view_form(plan, &value->type, view) != FORM_STRIDED)
        return true;
    return contiguous_view(plan, value, view);
}

/* Where the kernel puts a result: apart, if products cannot write to its place. */
static View written_view(Plan *plan, const Op *op, const Value *result)
{
    View view = placement(plan, result)->view;
    if (op->kind != OP_attention || view_form(plan, &result->type, &view) != FORM_STRIDED)
        return view;
    return view_contiguous(plan, &result->type,
                           add_buffer(plan, TFC_BUFFER_SLAB, &result->type, 0));
}

bool add_op_kernel(Plan *plan, Op *op)
{
    View *views = ARENA_ARRAY(plan->arena, View, op->n_args + op->n_results);
    for (int i = 0; i < op->n_args; i++)
        if (!operand_view(plan, op, i, &views[i]))
            return false;
    if (op->kind == OP_append) /* in place */
        place_at(plan, op_result(op), &views[0]);
    place_results(plan, op);
    name_steps(plan, op);
    for (int r = 0; r < op->n_results; r++)
        views[op->n_args + r] = written_view(plan, op, &op->results[r]);
    const View *result = &views[op->n_args];
    if (op->kind == OP_const && op_float(op, ATTR_value) == 0 &&
        view_is_whole(plan, &op->results[0].type, result)) {
        add_zero(plan, result->buffer);
        return true;
    }
    if (!add_kernel(plan, op, views))
        return false;
    if (op_attr(op, ATTR_epilogue))
        join_epilogue(plan, op);
    for (int r = 0; r < op->n_results; r++) {
        const View *to = &placement(plan, &op->results[r])->view, *from = &views[op->n_args + r];
        if (from->buffer != to->buffer && !add_copy(plan, &op->results[r].type, from, to))
            return false;
    }
    return true;
}

/* A kernel of one op that the function does not have. */
static bool add_unary(Plan *plan, OpKind kind, const Type *type, const View *from, DType to_type,
                      const View *to)
{
    Value *source = ARENA_NEW(plan->arena, Value);
    source->type = *type;
    Op *op = op_new(&plan->scratch, kind, 1, &source, 1);
    op->results[0].type = *type;
    op->results[0].type.dtype = to_type;
    return add_kernel(plan, op, (View[]){*from, *to});
}

bool add_cast(Plan *plan, const Type *type, const View *from, DType to_type, const View *to)
{
    return add_unary(plan, OP_cast, type, from, to_type, to);
}

bool add_copy(Plan *plan, const Type *type, const View *from, const View *to)
{
    if (view_is_whole(plan, type, from) && view_is_whole(plan, type, to)) {
        TfcStep step = {.kind = TFC_STEP_COPY, .name = plan->name};
        step.copy.to = to->buffer;
        step.copy.from = from->buffer;
        step.copy.size = size_ref(plan, type_size(plan, type));
        vec_push(plan->arena, plan->steps, step);
        return true;
    }
    return add_unary(plan, OP_stop_gradient, type, from, type->dtype, to);
}

void add_zero(Plan *plan, int32_t buffer)
{
    TfcStep step = {.kind = TFC_STEP_ZERO, .name = plan->name};
    step.copy.to = step.copy.from = buffer;
    step.copy.size = plan->buffers.data[buffer].size;
    vec_push(plan->arena, plan->steps, step);
}

const View *view_of_value(Plan *plan, Value *value)
{
    if (!placement(plan, value)->placed && !add_op_kernel(plan, value->op))
        return NULL;
    return &placement(plan, value)->view;
}

bool contiguous_view(Plan *plan, Value *value, View *view)
{
    const View *placed = view_of_value(plan, value);
    if (!placed)
        return false;
    *view = *placed;
    if (view_is_contiguous(plan, &value->type, view))
        return true;
    Placement *p = placement(plan, value);
    bool made = p->contiguous != NO_BUFFER;
    if (!made) {
        p->contiguous = add_buffer(plan, TFC_BUFFER_SLAB, &value->type, 0);
        /* never written over; its life ends with its last step */
        plan->needed.data[p->contiguous] = AT_END;
    }
    *view = view_contiguous(plan, &value->type, p->contiguous);
    return made || add_copy(plan, &value->type, &p->view, view);
}

void step_buffers(const Plan *plan, const TfcStep *step, VisitBuffer visit, void *data)
{
    StepUse use;
    for (int32_t i = 0; (use = step_use(plan->groupings.data, step, i)).buffer >= 0; i++)
        visit(data, use.buffer, use.writes);
}
