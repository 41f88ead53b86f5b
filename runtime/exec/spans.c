/* Which steps of a program use a tensor of the store. */
#include "runtime/exec/state.h"

#include <string.h>

static bool uses(const TfcStep *step, int32_t buffer)
{
    switch (step->kind) {
    case TFC_STEP_KERNEL:
        for (int32_t v = 0; v < step->kernel.n_views; v++)
            if (step->kernel.views[v].buffer == buffer)
                return true;
        return false;
    case TFC_STEP_GEMM:
    case TFC_STEP_PACK:
        return step->gemm.a.buffer == buffer || step->gemm.b.buffer == buffer ||
               step->gemm.c.buffer == buffer;
    case TFC_STEP_COPY: return step->copy.to == buffer || step->copy.from == buffer;
    case TFC_STEP_ZERO: return step->copy.to == buffer;
    }
    return false;
}

static const TfcLoop *loop_around(const TfcProgram *program, int32_t step)
{
    for (int32_t l = 0; l < program->n_loops; l++)
        if (program->loops[l].first <= step && step < program->loops[l].end)
            return &program->loops[l];
    return NULL;
}

static void add_step(const TfcProgram *program, ExecSpan *span, int32_t step)
{
    const TfcLoop *loop = loop_around(program, step);
    int32_t first = loop ? loop->first : step, last = loop ? loop->end - 1 : step;
    while (step_is_epilogue(&program->steps[first])) /* done with its product */
        first--;
    span->first = first < span->first ? first : span->first;
    span->last = last > span->last ? last : span->last;
}

ExecSpan exec_tensor_span(const Exec *exec, const char *name)
{
    const TfcProgram *program = exec->program;
    ExecSpan span = {program->n_steps, -1};
    for (int32_t t = 0; t < program->n_tensors; t++)
        if (!strcmp(program->tensors[t].name, name))
            for (int32_t s = 0; s < program->n_steps; s++)
                if (uses(&program->steps[s], program->tensors[t].buffer))
                    add_step(program, &span, s);
    return span;
}

void exec_set_hook(Exec *exec, const ExecHook *hook) { exec->hook = hook; }
