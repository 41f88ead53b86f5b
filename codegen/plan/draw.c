/* The plan for Graphviz's dot: steps in order as nodes, an edge to each that reads a
 * buffer from those that wrote it (several, where each writes a part). */
#include "codegen/codegen.h"

static bool is_written(const TfcStep *step, int32_t buffer)
{
    if (step->kind == TFC_STEP_GEMM)
        return step->gemm.c.buffer == buffer;
    if (step->kind == TFC_STEP_PACK)
        return step->gemm.panels - 1 == buffer;
    if (step->kind != TFC_STEP_KERNEL)
        return step->copy.to == buffer;
    const TfcKernelStep *kernel = &step->kernel;
    for (int32_t i = kernel->n_views - kernel->n_results; i < kernel->n_views; i++)
        if (kernel->views[i].buffer == buffer)
            return true;
    return false;
}

/* The buffers that the step reads; some may come twice. Returns how many. */
static int32_t list_reads(const TfcProgram *program, const TfcStep *step, int32_t *buffers)
{
    int32_t n = 0;
    switch (step->kind) {
    case TFC_STEP_KERNEL:
        for (; n < step->kernel.n_views - step->kernel.n_results; n++)
            buffers[n] = step->kernel.views[n].buffer;
        break;
    case TFC_STEP_GEMM:
        buffers[n++] = step->gemm.a.buffer;
        buffers[n++] = step->gemm.b.buffer;
        if (step->gemm.grouping)
            buffers[n++] = gemm_grouping(program, &step->gemm)->index;
        if (step->gemm.accumulate)
            buffers[n++] = step->gemm.c.buffer;
        if (step->gemm.panels)
            buffers[n++] = step->gemm.panels - 1;
        break;
    case TFC_STEP_PACK: buffers[n++] = step->gemm.b.buffer; break;
    case TFC_STEP_COPY: buffers[n++] = step->copy.from; break;
    case TFC_STEP_ZERO: break;
    }
    return n;
}

/* From the steps that wrote the buffer; what a step adds to, others wrote before it. */
static void draw_read(const TfcProgram *program, int32_t s, int32_t buffer, Text *out)
{
    for (int32_t from = s - 1; from >= 0; from--) {
        const TfcStep *step = &program->steps[from];
        if (!is_written(step, buffer))
            continue;
        text_add(out, "  step%d -> step%d [label=\"#%d\"];\n", from, s, buffer);
        if (step->kind == TFC_STEP_GEMM && step->gemm.accumulate)
            return;
    }
}

static void draw_edges(const TfcProgram *program, int32_t s, int32_t *buffers, Text *out)
{
    int32_t n = list_reads(program, &program->steps[s], buffers);
    for (int32_t i = 0; i < n; i++) {
        bool again = false;
        for (int32_t k = 0; k < i; k++)
            again |= buffers[k] == buffers[i];
        if (!again)
            draw_read(program, s, buffers[i], out);
    }
}

static int32_t most_views(const TfcProgram *program)
{
    int32_t most = 3;
    for (int32_t s = 0; s < program->n_steps; s++)
        if (program->steps[s].kind == TFC_STEP_KERNEL && program->steps[s].kernel.n_views > most)
            most = program->steps[s].kernel.n_views;
    return most;
}

void plan_print_dot(const TfcProgram *program, Text *out)
{
    static const char *const colours[] = {
        [TFC_STEP_KERNEL] = "#d6e9f8", [TFC_STEP_GEMM] = "#f6d0d0"};
    Arena *arena = arena_new();
    int32_t *buffers = ARENA_ARRAY(arena, int32_t, most_views(program));
    text_add(out, "digraph ");
    text_quote(out, program->name);
    text_add(out, " {\n  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];\n"
                  "  edge [fontname=\"sans-serif\", fontsize=9];\n");
    for (int32_t s = 0; s < program->n_steps; s++) {
        const TfcStep *step = &program->steps[s];
        Text label = {0};
        text_add(&label, "%d: %s", s, step->name ? step->name : "");
        if (step->kind == TFC_STEP_KERNEL)
            text_add(&label, "\n%s", program->kernel_names[step->kernel.kernel]);
        text_add(out, "  step%d [label=", s);
        text_quote(out, label.data);
        text_add(out, ", fillcolor=\"%s\"];\n",
                 step->kind < sizeof colours / sizeof *colours ? colours[step->kind] : "#f5f5f5");
        text_free(&label);
    }
    for (int32_t s = 0; s < program->n_steps; s++)
        draw_edges(program, s, buffers, out);
    text_add(out, "}\n");
    arena_free(arena);
}
