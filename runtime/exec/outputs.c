/* Which steps of a program are for its outputs alone. */
#include "runtime/exec/state.h"

#include <stdlib.h>

/* The buffers that a step reads and writes. What it writes may be read, too: sums are added to. */
typedef void BufferWork(void *context, int32_t buffer);

static void each_read(const TfcStep *step, BufferWork *work, void *context)
{
    switch (step->kind) {
    case TFC_STEP_KERNEL:
        for (int32_t v = 0; v < step->kernel.n_views; v++)
            work(context, step->kernel.views[v].buffer);
        break;
    case TFC_STEP_GEMM:
    case TFC_STEP_PACK:
        work(context, step->gemm.a.buffer);
        work(context, step->gemm.b.buffer);
        work(context, step->gemm.c.buffer);
        if (step->gemm.panels)
            work(context, step->gemm.panels - 1);
        break;
    case TFC_STEP_COPY: work(context, step->copy.from); break;
    case TFC_STEP_ZERO: break;
    }
}

static void each_written(const TfcStep *step, BufferWork *work, void *context)
{
    switch (step->kind) {
    case TFC_STEP_KERNEL:
        for (int32_t v = step->kernel.n_views - step->kernel.n_results; v < step->kernel.n_views; v++)
            work(context, step->kernel.views[v].buffer);
        break;
    case TFC_STEP_GEMM: work(context, step->gemm.c.buffer); break;
    case TFC_STEP_PACK: work(context, step->gemm.panels - 1); break;
    case TFC_STEP_COPY:
    case TFC_STEP_ZERO: work(context, step->copy.to); break;
    }
}

typedef struct Needs {
    const TfcProgram *program;
    bool *buffers; /* that a later step reads */
    bool is_needed;
} Needs;

static void note_read(void *context, int32_t buffer) { ((Needs *)context)->buffers[buffer] = true; }

static void note_written(void *context, int32_t buffer)
{
    Needs *needs = context;
    const TfcBufferKind kind = needs->program->buffers[buffer].kind;
    needs->is_needed |= needs->buffers[buffer] || kind == TFC_BUFFER_TENSOR || kind == TFC_BUFFER_KEPT;
}

/* A product and its epilogue are run together. */
bool exec_find_outputs(Exec *exec)
{
    const TfcProgram *program = exec->program;
    Needs needs = {program, calloc((size_t)program->n_buffers + 1, sizeof(bool)), false};
    bool *for_outputs = needs.buffers ? ARENA_ARRAY(exec->arena, bool, program->n_steps) : NULL;
    for (int32_t s = program->n_steps - 1, first; for_outputs && s >= 0; s = first - 1) {
        first = step_is_epilogue(&program->steps[s]) ? s - 1 : s;
        needs.is_needed = s < program->n_prepared; /* for the next run, too */
        for (int32_t k = first; k <= s; k++)
            each_written(&program->steps[k], note_written, &needs);
        for (int32_t k = first; k <= s; k++) {
            for_outputs[k] = !needs.is_needed;
            if (needs.is_needed)
                each_read(&program->steps[k], note_read, &needs);
        }
    }
    free(needs.buffers);
    exec->for_outputs = for_outputs;
    return for_outputs != NULL;
}
