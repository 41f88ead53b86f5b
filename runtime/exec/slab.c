/* Which buffers of a program are planned, and where they are; see slab.h. */
#include "runtime/exec/slab.h"

#include "runtime/exec/size.h"

#include <stdlib.h>

/* Whether the product reads the panels of b in place of b. */
static bool reads_panels(const TfcProgram *program, const TfcGemmStep *gemm)
{
    const bool blas = (int)gemm->product < TFC_BLAS_TYPES &&
                      program->products.blas[gemm->product] && !gemm->grouping;
    return gemm->panels && program->products.native[gemm->product] && !blas;
}

int32_t slab_buffer_of(const TfcProgram *program, const TfcStep *step, int32_t i)
{
    const bool passes_b =
        i >= STEP_USE_B && step->kind == TFC_STEP_GEMM && reads_panels(program, &step->gemm);
    return step_use(program->groupings, step, i + passes_b).buffer;
}

bool slab_uses(const TfcProgram *program, const TfcStep *step, int32_t buffer)
{
    for (int32_t i = 0, b; (b = slab_buffer_of(program, step, i)) >= 0; i++)
        if (b == buffer)
            return true;
    return false;
}

void slab_mark_read(const TfcProgram *program, bool *read)
{
    for (int32_t s = program->n_prepared; s < program->n_steps; s++)
        for (int32_t i = 0, b; (b = slab_buffer_of(program, &program->steps[s], i)) >= 0; i++)
            read[b] = true;
}

/* Of each buffer: the last step that prepares something of it, or the first that has it. NULL:
 * memory ran out. */
static int32_t *find_last_preparing(const TfcProgram *program)
{
    int32_t *last = malloc(sizeof *last * ((size_t)program->n_buffers + 1));
    for (int32_t b = 0; last && b < program->n_buffers; b++)
        last[b] = program->buffers[b].first;
    for (int32_t s = 0; last && s < program->n_prepared; s++)
        for (int32_t i = 0, b; (b = slab_buffer_of(program, &program->steps[s], i)) >= 0; i++)
            last[b] = s;
    return last;
}

bool slab_stays(const TfcProgram *program, const bool *read, int32_t b)
{
    const TfcBuffer *buffer = &program->buffers[b];
    return buffer_is_kept(program, buffer) &&
           (!read || read[b] || buffer->kind == TFC_BUFFER_OUTPUT);
}

bool slab_place(const TfcProgram *program, const int64_t *bytes, const bool *read, int64_t *offsets,
                SlabBlocks *blocks)
{
    SlabItem *items = malloc(sizeof *items * ((size_t)program->n_buffers + 1));
    int32_t *last_preparing = items ? find_last_preparing(program) : NULL;
    int32_t n = 0;
    if (!last_preparing) {
        free(items);
        return false;
    }
    blocks->kept = 0;
    for (int32_t b = 0; b < program->n_buffers; b++) {
        const TfcBuffer *buffer = &program->buffers[b];
        if (!buffer_is_planned(buffer) || slab_stays(program, read, b))
            continue;
        int32_t last = buffer->kind == TFC_BUFFER_OUTPUT ? program->n_steps
                       : buffer->kind == TFC_BUFFER_KEPT ? last_preparing[b]
                                                         : buffer->last;
        items[n++] = (SlabItem){bytes[b], buffer->first, last, 0};
    }
    blocks->slab = slab_plan(items, n);
    for (int32_t b = 0, i = 0; b < program->n_buffers; b++) {
        if (slab_stays(program, read, b)) {
            offsets[b] = blocks->kept;
            blocks->kept += slab_aligned(bytes[b]);
        } else if (buffer_is_planned(&program->buffers[b]))
            offsets[b] = items[i++].offset;
    }
    free(last_preparing);
    free(items);
    return blocks->slab >= 0;
}
