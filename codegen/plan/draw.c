/* The plan for Graphviz's dot: steps in order as nodes, an edge from the step that
 * last wrote a buffer to each that reads it. */
#include "codegen/codegen.h"

#include <stdlib.h>

typedef struct Drawing {
    const TfcProgram *program;
    int32_t *writer; /* of each buffer: the step that wrote it last, or -1 */
    Text *out;
} Drawing;

static void draw_read(Drawing *d, int32_t step, int32_t buffer)
{
    if (d->writer[buffer] >= 0 && d->writer[buffer] != step)
        text_add(d->out, "  step%d -> step%d [label=\"#%d\"];\n", d->writer[buffer], step, buffer);
}

static void draw_edges(Drawing *d, int32_t s)
{
    const TfcStep *step = &d->program->steps[s];
    switch (step->kind) {
    case TFC_STEP_KERNEL: {
        const TfcKernelStep *kernel = &step->kernel;
        int32_t n_inputs = kernel->n_views - kernel->n_results;
        for (int32_t i = 0; i < n_inputs; i++)
            draw_read(d, s, kernel->views[i].buffer);
        for (int32_t i = n_inputs; i < kernel->n_views; i++)
            d->writer[kernel->views[i].buffer] = s;
        break;
    }
    case TFC_STEP_GEMM:
        draw_read(d, s, step->gemm.a.buffer);
        draw_read(d, s, step->gemm.b.buffer);
        if (step->gemm.accumulate)
            draw_read(d, s, step->gemm.c.buffer);
        d->writer[step->gemm.c.buffer] = s;
        break;
    case TFC_STEP_COPY: draw_read(d, s, step->copy.from); /* fall through */
    case TFC_STEP_ZERO: d->writer[step->copy.to] = s; break;
    }
}

void plan_print_dot(const TfcProgram *program, Text *out)
{
    static const char *const colours[] = {"#d6e9f8", "#f6d0d0", "#f5f5f5", "#f5f5f5"};
    Drawing d = {program, malloc(sizeof(int32_t) * (size_t)(program->n_buffers + 1)), out};
    if (!d.writer)
        return;
    for (int32_t b = 0; b < program->n_buffers; b++)
        d.writer[b] = -1;
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
        text_add(out, ", fillcolor=\"%s\"];\n", colours[step->kind]);
        text_free(&label);
    }
    for (int32_t s = 0; s < program->n_steps; s++)
        draw_edges(&d, s);
    text_add(out, "}\n");
    free(d.writer);
}
