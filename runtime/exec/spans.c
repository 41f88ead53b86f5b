/* What steps are for: which of a program's use a tensor of the store, and which only its outputs
 * need. */
#include "runtime/exec/state.h"

#include <stdlib.h>
#include <string.h>

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
                if (slab_uses(program, &program->steps[s], program->tensors[t].buffer))
                    add_step(program, &span, s);
    return span;
}

void exec_set_hook(Exec *exec, const ExecHook *hook) { exec->hook = hook; }

/* ---- steps for outputs ---- */

/* Whether what the step writes outlives the run, or a later step reads it. */
static bool is_needed(const TfcProgram *program, const TfcStep *step, const bool *read)
{
    StepUse use;
    for (int32_t i = 0; (use = step_use(program->groupings, step, i)).buffer >= 0; i++) {
        const TfcBufferKind kind = program->buffers[use.buffer].kind;
        if (use.writes &&
            (read[use.buffer] || kind == TFC_BUFFER_TENSOR || kind == TFC_BUFFER_KEPT))
            return true;
    }
    return false;
}

/* From the last step back; a product and its epilogue run together. */
bool exec_find_outputs(Exec *exec)
{
    const TfcProgram *program = exec->program;
    arena_recover(exec->arena); /* an earlier call may have failed */
    /* by a later step that is needed */
    bool *read = calloc((size_t)program->n_buffers + 1, sizeof *read);
    bool *for_outputs = read ? ARENA_ARRAY(exec->arena, bool, program->n_steps) : NULL;
    for (int32_t s = program->n_steps - 1, first; for_outputs && s >= 0; s = first - 1) {
        first = step_is_epilogue(&program->steps[s]) ? s - 1 : s;
        bool needed = s < program->n_prepared; /* for the next run, too */
        for (int32_t k = first; k <= s; k++)
            needed = needed || is_needed(program, &program->steps[k], read);
        for (int32_t k = first; k <= s; k++) {
            for_outputs[k] = !needed;
            for (int32_t i = 0, b;
                 needed && (b = slab_buffer_of(program, &program->steps[k], i)) >= 0; i++)
                read[b] = true;
        }
    }
    free(read);
    exec->for_outputs = for_outputs;
    return for_outputs != NULL;
}
