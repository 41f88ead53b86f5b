/* Products as gemm steps: loops around one matrix product. */
#include "codegen/plan/labels.h"

#include <assert.h>

static_assert((int)MAX_QUANT_TERMS == (int)TFC_INT8_K, "one limit, in the graph and at run time");

/* ---- tables ---- */

static TfcExtent extent_of(Plan *plan, const DotForm *form, int label)
{
    if (label == NO_LABEL)
        return (TfcExtent){
            .kind = TFC_EXTENT_SIZE, .size = size_ref(plan, size_const(1)), .dim = -1};
    const Label *l = &form->labels[label];
    if (l->length_dim >= 0)
        return (TfcExtent){
            .kind = TFC_EXTENT_LENGTH, .size = size_ref(plan, l->times), .dim = l->length_dim};
    return (TfcExtent){.kind = TFC_EXTENT_SIZE, .size = size_ref(plan, l->extent), .dim = -1};
}

static TfcSizeRef stride_of(Plan *plan, const DotForm *form, int tensor, int label)
{
    return size_ref(plan, label == NO_LABEL ? size_const(1) : form->labels[label].strides[tensor]);
}

static TfcMatrix matrix_of(Plan *plan, const DotForm *form, int tensor, int row, int column)
{
    return (TfcMatrix){
        .buffer = form->views[tensor].buffer,
        .offset = form->views[tensor].offset,
        .ragged_dim = form->ragged_dim[tensor],
        .ragged_stride = size_ref(plan, form->ragged_stride[tensor]),
        .row_stride = stride_of(plan, form, tensor, row),
        .column_stride = stride_of(plan, form, tensor, column),
    };
}

static bool is_loop(const DotForm *form, int label)
{
    return label != form->m && label != form->n_side && label != form->k;
}

static bool add_loops(Plan *plan, const DotForm *form, TfcGemmStep *gemm)
{
    gemm->batch_loop = -1;
    for (int pass = 0; pass < 2; pass++) /* sentences outermost */
        for (int i = 0; i < form->n; i++) {
            const Label *label = &form->labels[i];
            if (!is_loop(form, i) || label->sentences != (pass == 0))
                continue;
            if (gemm->n_loops == TFC_MAX_LOOPS)
                return false;
            const int8_t l = gemm->n_loops++;
            if (label->sentences)
                gemm->batch_loop = l;
            gemm->loops[l] = size_ref(plan, label->extent);
            gemm->loop_lengths[l] = (int16_t)label->length_dim;
            gemm->a.loop_strides[l] = stride_of(plan, form, DOT_A, i);
            gemm->b.loop_strides[l] = stride_of(plan, form, DOT_B, i);
            gemm->c.loop_strides[l] = stride_of(plan, form, DOT_C, i);
            gemm->accumulate |= label->role == ROLE_CONTRACT;
        }
    return true;
}

TfcProductType product_of(const Op *op)
{
    return product_of_quant(op_quant(op), (TfcProductType)op->args[0]->type.dtype);
}

static bool gemm_of(Plan *plan, const Op *op, const DotForm *form, TfcGemmStep *gemm)
{
    *gemm = (TfcGemmStep){
        .type = (TfcType)op->args[0]->type.dtype,
        .product = product_of(op),
        .result = (TfcType)op->results[0].type.dtype,
        .a = matrix_of(plan, form, DOT_A, form->m, form->k),
        .b = matrix_of(plan, form, DOT_B, form->k, form->n_side),
        .c = matrix_of(plan, form, DOT_C, form->m, form->n_side),
        .m = extent_of(plan, form, form->m),
        .n = extent_of(plan, form, form->n_side),
        .k = extent_of(plan, form, form->k),
    };
    return add_loops(plan, form, gemm);
}

/* ---- lowering ---- */

/* A form in which each matrix has a contiguous side, with as few operands copied as
 * will do: bit 0 of *copies: a, bit 1: b. NULL, or why there is none. */
static const char *find_form(Plan *plan, const Op *op, const View views[DOT_TENSORS], DotForm *form,
                             int *copies)
{
    for (*copies = 0; *copies < 4; (*copies)++) {
        View used[DOT_TENSORS];
        for (int t = 0; t < DOT_TENSORS; t++)
            used[t] =
                *copies >> t & 1 ? view_contiguous(plan, &op->args[t]->type, NO_BUFFER) : views[t];
        const char *problem = label_dot(plan, op, used, form);
        if (problem)
            return problem;
        if (choose_sides(form))
            return NULL;
    }
    return "no side of a matrix is contiguous";
}

static bool fail(Plan *plan, const Op *op, const char *problem)
{
    diag_error(plan->diags, op->loc, "this product cannot be compiled: %s", problem);
    return false;
}

/* Loops go through the rows of one batch, that of the tokens in front. A sum over another one, or
 * over what is ragged in it, would count each row as long as the longest. */
static const char *past_ends(const Plan *plan, const Type *x, const Attr *contracted)
{
    Layout layout = layout_of(plan->module, x);
    int front = layout_is_packed(&layout) ? x->dims[layout.axes[0].batch_dim].symbol : NO_SYMBOL;
    for (int i = 0; i < contracted->n; i++) {
        int summed = x->dims[contracted->ints[i]].symbol;
        for (int k = 0; summed != NO_SYMBOL && k < x->rank; k++) {
            int other = x->dims[k].symbol,
                ragged = symbol_is_ragged_over(plan->module, other, summed) ? other : summed;
            int batch = ragged == other ? summed : other;
            if (batch != front && symbol_is_ragged_over(plan->module, ragged, batch))
                return arena_printf(
                    plan->arena,
                    "it sums over %s, in which %s~ has a length of its own each time; "
                    "sum a product of elements instead",
                    plan->module->symbols.data[batch].name,
                    plan->module->symbols.data[ragged].name);
        }
    }
    return NULL;
}

/* A product is summed in f32 and rounded at the end: the executor does so for sums
 * that it forms in one go. */
static bool is_rounded_apart(const Plan *plan, const TfcGemmStep *gemm)
{
    const TfcSize *terms = &plan->sizes.data[gemm->k.size];
    return gemm->result == TFC_BF16 &&
           (gemm->accumulate || gemm->k.kind != TFC_EXTENT_SIZE || !size_is_const(terms) ||
            terms->coefficient > TFC_ROUNDED_K);
}

/* Where the product goes; apart if it is summed up in a part of another buffer. */
static View result_view(Plan *plan, const Op *op, const Type *type, bool sums)
{
    View view = placement(plan, &op->results[0])->view;
    if (type->dtype != op->results[0].type.dtype || (sums && !view_is_whole(plan, type, &view)))
        view = view_contiguous(plan, type, add_buffer(plan, TFC_BUFFER_SLAB, type, 0));
    return view;
}

static bool has_elements(const Plan *plan, const Type *type)
{
    return type_size(plan, type).coefficient != 0;
}

/* NULL of a side that is as long as a sentence, or not there. */
static const TfcSize *side_extent(const DotForm *form, int label)
{
    return label == NO_LABEL || form->labels[label].length_dim >= 0 ? NULL
                                                                    : &form->labels[label].extent;
}

static bool add_gemm(Plan *plan, Op *op, DotForm *form, int copies)
{
    TfcGemmStep gemm;
    for (int t = 0; t < 2; t++)
        if (copies >> t & 1) {
            if (!contiguous_view(plan, op->args[t], &form->views[t]))
                return false;
        }
    if (!gemm_of(plan, op, form, &gemm))
        return fail(plan, op, "it would need too many loops");
    assert(!product_quant(gemm.product) || !gemm.accumulate);
    View placed = placement(plan, &op->results[0])->view;
    Type type = op->results[0].type;
    if (is_rounded_apart(plan, &gemm))
        type.dtype = DT_F32;
    View result = result_view(plan, op, &type, gemm.accumulate);
    if (result.buffer != placed.buffer) { /* the sum is made apart: its strides are its own */
        View views[DOT_TENSORS] = {form->views[DOT_A], form->views[DOT_B], result};
        if (label_dot(plan, op, views, form) || !choose_sides(form) ||
            !gemm_of(plan, op, form, &gemm))
            return fail(plan, op, "no side of a matrix is contiguous");
        gemm.result = (TfcType)type.dtype;
    }
    name_steps(plan, op);
    if (gemm.accumulate)
        add_zero(plan, result.buffer);
    TfcStep step = {.kind = TFC_STEP_GEMM, .name = plan->name};
    step.gemm = gemm;
    loop_gemm(plan, side_extent(form, form->m), side_extent(form, form->n_side),
              side_extent(form, form->k), &step);
    vec_push(plan->arena, plan->steps, step);
    if (result.buffer == placed.buffer)
        return true;
    return type.dtype == op->results[0].type.dtype
               ? add_copy(plan, &type, &result, &placed)
               : add_cast(plan, &type, &result, DT_BF16, &placed);
}

bool lower_dot(Plan *plan, Op *op)
{
    const Type *type = &op->results[0].type;
    const View *a = view_of_value(plan, op->args[0]),
               *b = a ? view_of_value(plan, op->args[1]) : NULL;
    if (!b)
        return false;
    place_results(plan, op);
    name_steps(plan, op);
    const View *c = &placement(plan, &op->results[0])->view;
    if (!has_elements(plan, type))
        return true;
    if (!has_elements(plan, &op->args[0]->type) || !has_elements(plan, &op->args[1]->type)) {
        View zeros = result_view(plan, op, type, true);
        add_zero(plan, zeros.buffer);
        return zeros.buffer == c->buffer || add_copy(plan, type, &zeros, c);
    }
    DotForm form;
    int copies;
    const char *problem = past_ends(plan, &op->args[0]->type, op_attr(op, ATTR_contract_a));
    if (!problem)
        problem = past_ends(plan, &op->args[1]->type, op_attr(op, ATTR_contract_b));
    if (!problem)
        problem = find_form(plan, op, (View[]){*a, *b, *c}, &form, &copies);
    return problem ? fail(plan, op, problem) : add_gemm(plan, op, &form, copies);
}
