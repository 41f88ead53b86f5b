/* The plan for Graphviz's dot: steps in order as nodes, an edge to each that reads a
 * buffer from those that wrote it (several, where each writes a part). */
#include "codegen/codegen.h"

static bool is_written(const TfcProgram *program, const TfcStep *step, int32_t buffer)
{
    StepUse use;
    for (int32_t i = 0; (use = step_use(program->groupings, step, i)).buffer >= 0; i++)
        if (use.writes && use.buffer == buffer)
            return true;
    return false;
}

/* From the steps that wrote the buffer; what a step adds to, others wrote before it. */
static void draw_read(const TfcProgram *program, int32_t s, int32_t buffer, Text *out)
{
    for (int32_t from = s - 1; from >= 0; from--) {
        const TfcStep *step = &program->steps[from];
        if (!is_written(program, step, buffer))
            continue;
        text_add(out, "  step%d -> step%d [label=\"#%d\"];\n", from, s, buffer);
        if (step->kind == TFC_STEP_GEMM && step->gemm.accumulate)
            return;
    }
}

static void draw_edges(const TfcProgram *program, int32_t s, Text *out)
{
    const TfcStep *step = &program->steps[s];
    StepUse use;
    for (int32_t i = 0; (use = step_use(program->groupings, step, i)).buffer >= 0; i++) {
        bool again = false;
        for (int32_t k = 0; k < i; k++) {
            const StepUse before = step_use(program->groupings, step, k);
            again |= before.reads && before.buffer == use.buffer;
        }
        if (use.reads && !again)
            draw_read(program, s, use.buffer, out);
    }
}

void plan_print_dot(const TfcProgram *program, Text *out)
{
    static const char *const colours[] = {
        [TFC_STEP_KERNEL] = "#d6e9f8", [TFC_STEP_GEMM] = "#f6d0d0"};
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
        draw_edges(program, s, out);
    text_add(out, "}\n");
}
