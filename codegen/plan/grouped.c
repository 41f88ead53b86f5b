/* grouped_dot and grouped_outer as gemm steps whose rows, or terms, an index groups (TfcGroups). */
#include "codegen/plan/plan.h"

int64_t repeats_of(const Type *x, const Type *index)
{
    int64_t n = 1;
    for (int i = index->rank - 1; i >= 0 && dim_is_one(x->dims[i]); i--)
        n *= index->dims[i].size;
    return n;
}

static TfcExtent extent_of_size(Plan *plan, TfcSize size)
{
    return (TfcExtent){.kind = TFC_EXTENT_SIZE, .size = size_ref(plan, size), .dim = -1};
}

/* A matrix in contiguous memory. */
static TfcMatrix matrix_at(Plan *plan, const View *view, int64_t row_stride, int64_t column_stride)
{
    return (TfcMatrix){.buffer = view->buffer,
                       .offset = view->offset,
                       .ragged_dim = -1,
                       .row_stride = size_ref(plan, size_const(row_stride)),
                       .column_stride = size_ref(plan, size_const(column_stride))};
}

static int64_t last_dim(const Value *x) { return x->type.dims[x->type.rank - 1].size; }

/* `views`: of the operands, then of the result. */
static TfcGemmStep grouped_step(Plan *plan, const Op *op, const View views[4])
{
    const Value *a = op->args[0], *b = op->args[1], *index = op->args[2], *c = &op->results[0];
    const bool rows = op->kind == OP_grouped_dot;
    const int64_t m = last_dim(a), n = last_dim(c);
    const TfcSize size = type_size(plan, &index->type);
    const TfcGrouping grouping = {.kind = rows ? TFC_GROUPS_ROWS : TFC_GROUPS_SUMS,
                                  .index = views[2].buffer,
                                  .index_at = views[2].offset,
                                  .n_groups = (int32_t)(rows ? b : c)->type.dims[0].size,
                                  .repeats_a = (int32_t)repeats_of(&a->type, &index->type),
                                  .repeats_b =
                                      rows ? 1 : (int32_t)repeats_of(&b->type, &index->type),
                                  .sorted_a = rows_are_sorted(plan, a),
                                  .sorted_b = rows_are_sorted(plan, b),
                                  .sorted_c = rows_are_sorted(plan, c)};
    vec_push(plan->arena, plan->groupings, grouping);
    TfcGemmStep step = {.type = (TfcType)a->type.dtype,
                        .product = product_of(op),
                        .result = (TfcType)c->type.dtype,
                        .n = extent_of_size(plan, size_const(n)),
                        .grouping = (int32_t)plan->groupings.count,
                        .batch_loop = -1};
    step.c = matrix_at(plan, &views[3], n, 1);
    if (rows) {
        const bool across = op_int(op, ATTR_axis) == 2; /* columns of b are contiguous */
        step.m = extent_of_size(plan, size);
        step.k = extent_of_size(plan, size_const(m));
        step.a = matrix_at(plan, &views[0], m, 1);
        step.b = matrix_at(plan, &views[1], across ? 1 : n, across ? m : 1);
    } else {
        step.m = extent_of_size(plan, size_const(m));
        step.k = extent_of_size(plan, size);
        step.a = matrix_at(plan, &views[0], 1, m);
        step.b = matrix_at(plan, &views[1], n, 1);
    }
    return step;
}

bool lower_grouped(Plan *plan, Op *op)
{
    View views[4];
    const Type *type = &op->results[0].type;
    bool is_empty = false;
    for (int i = 0; i < op->n_args; i++) {
        if (!contiguous_view(plan, op->args[i], &views[i]))
            return false;
        is_empty |= type_size(plan, &op->args[i]->type).coefficient == 0;
    }
    place_results(plan, op);
    name_steps(plan, op);
    const View *placed = &placement(plan, &op->results[0])->view;
    const bool whole = view_is_whole(plan, type, placed);
    views[3] =
        whole ? *placed : view_contiguous(plan, type, add_buffer(plan, TFC_BUFFER_SLAB, type, 0));
    if (is_empty) {
        add_zero(plan, views[3].buffer);
    } else if (type_size(plan, type).coefficient != 0) {
        TfcStep step = {.kind = TFC_STEP_GEMM, .name = plan->name};
        step.gemm = grouped_step(plan, op, views);
        vec_push(plan->arena, plan->steps, step);
    }
    return whole || add_copy(plan, type, &views[3], placed);
}
