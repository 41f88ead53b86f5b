/* Joining a product and the kernel of its epilogue (pass fuse_products):
 *
 *   3: #7[2048, 1] = #5 @ #0, m ΣS …          3: #7[2048, 1] = #5 @ #0, m ΣS …
 *   4: #7[2048 1] = row(#7, #1) × ΣS     ⇒    4:   each part: #7[2048 1] = row(#7, #1) × ΣS
 *
 * The steps stay two, but the product calls the kernel, for the rows and columns of each
 * part of its result once that is whole (TfcEpilogue): native products for a few rows of
 * a block of columns, OpenBLAS for a task's block. What cannot be joined is a step like
 * any other. */
#include "codegen/plan/plan.h"

/* Whether each matrix c is formed in one go and its rows are whole storage rows of the
 * contiguous tensor, one after another. */
static bool has_whole_rows(const Plan *plan, const TfcGemmStep *gemm, const Type *type)
{
    Layout layout = layout_of(plan->module, type);
    TfcSize columns = axis_size(plan, &layout.axes[layout.n - 1]);
    return !gemm->accumulate && gemm->n.kind == TFC_EXTENT_SIZE &&
           size_equal(&plan->sizes.data[gemm->n.size], &columns) &&
           size_equal(&plan->sizes.data[gemm->c.row_stride], &columns) &&
           size_is(&plan->sizes.data[gemm->c.column_stride], 1);
}

/* Other parts of the product still read what the epilogue of one would write. */
static bool writes_operand(const TfcKernelStep *kernel, const TfcGemmStep *gemm)
{
    for (int32_t v = kernel->n_views - kernel->n_results; v < kernel->n_views; v++)
        if (kernel->views[v].buffer == gemm->a.buffer || kernel->views[v].buffer == gemm->b.buffer)
            return true;
    return false;
}

void join_epilogue(Plan *plan, const Op *op)
{
    const Value *product = op->args[op_int(op, ATTR_epilogue)];
    const Placement *placed = placement(plan, product);
    if (plan->steps.count < 2)
        return;
    TfcStep *row = &vec_last(plan->steps), *dot = row - 1;
    if (dot->kind != TFC_STEP_GEMM || dot->gemm.c.buffer != placed->view.buffer ||
        !view_is_whole(plan, &product->type, &placed->view) || dot->rows != TFC_ROWS_NONE ||
        row->rows != TFC_ROWS_NONE || !has_whole_rows(plan, &dot->gemm, &product->type) ||
        writes_operand(&row->kernel, &dot->gemm))
        return;
    row->kernel.epilogue = true;
    dot->name =
        arena_printf(plan->arena, "%s, %s", dot->name,
                     op->scope && *op->scope ? row->name + strlen(op->scope) + 1 : row->name);
    row->name = arena_printf(plan->arena, "%s of each part", row->name);
}
