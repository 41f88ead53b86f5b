/* The plan as text (dump --stage plan). */
#include "codegen/codegen.h"

static const char *const buffer_kinds[] = {"slab", "param", "input", "output", "kept"};

static void print_size(const TfcProgram *program, TfcSizeRef ref, Text *out)
{
    const TfcSize *size = &program->sizes[ref];
    if (size->coefficient != 1 || size->n_factors == 0)
        text_add(out, "%lld", (long long)size->coefficient);
    for (int i = 0; i < size->n_factors; i++) {
        const TfcProgramDim *dim = &program->dims[size->factors[i].dim];
        bool total = size->factors[i].quantity == TFC_TOTAL;
        text_add(out, "%s%s%s%s", i || size->coefficient != 1 ? "·" : "", total ? "Σ" : "",
                 dim->name, dim->batch >= 0 && !total ? "max" : "");
    }
}

static void print_view(const TfcProgram *program, const TfcView *view, Text *out)
{
    text_add(out, "#%d", view->buffer);
    if (view->offset)
        text_add(out, "+%lld", (long long)view->offset);
    text_add(out, "[");
    for (int i = 0; i < view->n_axes; i++) {
        text_add(out, i ? " " : "");
        print_size(program, view->strides[i], out);
    }
    text_add(out, "]");
}

static void print_kernel(const TfcProgram *program, const TfcKernelStep *step, Text *out)
{
    int inputs = step->n_views - step->n_results;
    text_add(out, step->epilogue ? "  each part: " : "");
    for (int i = inputs; i < step->n_views; i++) {
        text_add(out, i > inputs ? ", " : "");
        print_view(program, &step->views[i], out);
    }
    text_add(out, " = %s(", program->kernel_names[step->kernel]);
    for (int i = 0; i < inputs; i++) {
        text_add(out, i ? ", " : "");
        print_view(program, &step->views[i], out);
    }
    text_add(out, ") × ");
    print_size(program, step->range, out);
}

static void print_matrix(const TfcProgram *program, const TfcGemmStep *gemm,
                         const TfcMatrix *matrix, Text *out)
{
    text_add(out, "#%d", matrix->buffer);
    if (matrix->offset)
        text_add(out, "+%lld", (long long)matrix->offset);
    text_add(out, "[");
    print_size(program, matrix->row_stride, out);
    text_add(out, ", ");
    print_size(program, matrix->column_stride, out);
    for (int l = 0; l < gemm->n_loops; l++) {
        text_add(out, l ? ", " : "; ");
        if (l == gemm->batch_loop && matrix->ragged_dim >= 0) {
            text_add(out, "offset(%s)·", program->dims[matrix->ragged_dim].name);
            print_size(program, matrix->ragged_stride, out);
        } else
            print_size(program, matrix->loop_strides[l], out);
    }
    text_add(out, "]");
}

static void print_extent(const TfcProgram *program, const TfcExtent *extent, Text *out)
{
    const TfcSize *times = &program->sizes[extent->size];
    const bool length = extent->kind == TFC_EXTENT_LENGTH;
    if (length)
        text_add(out, "length(%s)", program->dims[extent->dim].name);
    if (length && times->n_factors == 0 && times->coefficient == 1)
        return;
    text_add(out, length ? "·" : "");
    print_size(program, extent->size, out);
}

static void print_gemm(const TfcProgram *program, const TfcGemmStep *gemm, Text *out)
{
    print_matrix(program, gemm, &gemm->c, out);
    text_add(out, gemm->accumulate ? " += " : " = ");
    print_matrix(program, gemm, &gemm->a, out);
    text_add(out, " @ ");
    print_matrix(program, gemm, &gemm->b, out);
    text_add(out, ", m ");
    print_extent(program, &gemm->m, out);
    text_add(out, " n ");
    print_extent(program, &gemm->n, out);
    text_add(out, " k ");
    print_extent(program, &gemm->k, out);
    if (product_quant(gemm->product))
        text_add(out, ", %s", quant_info(product_quant(gemm->product))->word);
    if (gemm->panels)
        text_add(out, ", panels #%d", gemm->panels - 1);
    const TfcGrouping *grouping = gemm_grouping(program, gemm);
    if (grouping)
        text_add(out, ", %s in %d groups by #%d",
                 grouping->kind == TFC_GROUPS_ROWS ? "rows" : "terms", grouping->n_groups,
                 grouping->index);
    if (grouping && (grouping->sorted_a || grouping->sorted_b || grouping->sorted_c))
        text_add(out, ", sorted%s%s%s", grouping->sorted_a ? " a" : "",
                 grouping->sorted_b ? " b" : "", grouping->sorted_c ? " c" : "");
    for (int l = 0; l < gemm->n_loops; l++) {
        text_add(out, l ? " × " : ", for ");
        print_size(program, gemm->loops[l], out);
    }
}

/* Before the first step of a loop; its steps are indented. */
static void print_loop(const TfcProgram *program, int32_t s, Text *out)
{
    for (int32_t l = 0; l < program->n_loops; l++) {
        const TfcLoop *loop = &program->loops[l];
        if (loop->first == s)
            text_add(out, "  for each %lld of %s%s\n", (long long)loop->chunk,
                     loop->quantity == TFC_TOTAL ? "Σ" : "", program->dims[loop->dim].name);
    }
}

static void print_step(const TfcProgram *program, int32_t s, Text *out)
{
    const TfcStep *step = &program->steps[s];
    print_loop(program, s, out);
    text_add(out, step->rows ? "    %d: " : "  %d: ", s);
    switch (step->kind) {
    case TFC_STEP_KERNEL: print_kernel(program, &step->kernel, out); break;
    case TFC_STEP_GEMM: print_gemm(program, &step->gemm, out); break;
    case TFC_STEP_PACK:
        text_add(out, "#%d = panels of ", step->gemm.panels - 1);
        print_matrix(program, &step->gemm, &step->gemm.b, out);
        break;
    case TFC_STEP_COPY: text_add(out, "#%d = copy #%d", step->copy.to, step->copy.from); break;
    case TFC_STEP_ZERO: text_add(out, "#%d = zeros", step->copy.to); break;
    }
    text_add(out, "  ; %s\n", step->name ? step->name : "");
}

static const char *buffer_name(const TfcProgram *program, const TfcBuffer *buffer)
{
    switch (buffer->kind) {
    case TFC_BUFFER_TENSOR: return program->tensors[buffer->index].name;
    case TFC_BUFFER_INPUT: return program->inputs[buffer->index].name;
    case TFC_BUFFER_OUTPUT: return program->outputs[buffer->index].name;
    case TFC_BUFFER_SLAB:
    case TFC_BUFFER_KEPT: break;
    }
    return "";
}

void plan_print(const TfcProgram *program, Text *out)
{
    text_add(out, "program %s\n\nbuffers\n", program->name);
    for (int32_t b = 0; b < program->n_buffers; b++) {
        const TfcBuffer *buffer = &program->buffers[b];
        text_add(out, "  #%d %s %s × ", b, buffer_kinds[buffer->kind],
                 element_info(buffer->type)->name);
        print_size(program, buffer->size, out);
        if (buffer->kind == TFC_BUFFER_SLAB && buffer->first >= 0)
            text_add(out, ", steps %d to %d", buffer->first, buffer->last);
        else if (buffer->kind == TFC_BUFFER_SLAB)
            text_add(out, ", unused");
        text_add(out, buffer->loop ? ", a chunk of it" : "");
        text_add(out, "%s%s\n", *buffer_name(program, buffer) ? " " : "",
                 buffer_name(program, buffer));
    }
    text_add(out, program->n_prepared ? "\nsteps, once for the same params\n" : "\nsteps\n");
    for (int32_t s = 0; s < program->n_steps; s++) {
        if (s && s == program->n_prepared)
            text_add(out, "\nsteps\n");
        print_step(program, s, out);
    }
}
