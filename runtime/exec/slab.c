/* Greedy-by-size placement; see slab.h. */
#include "runtime/exec/slab.h"

#include "runtime/exec/size.h"

#include <stdlib.h>

static int larger_first(const void *a, const void *b)
{
    const SlabItem *x = *(SlabItem *const *)a, *y = *(SlabItem *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x < y ? -1 : x > y; /* the items' own order: plans are reproducible */
}

static bool live_together(const SlabItem *a, const SlabItem *b)
{
    return a->first <= b->last && b->first <= a->last;
}

static int64_t aligned(int64_t bytes)
{
    return bytes < 1 ? SLAB_ALIGN : (bytes + SLAB_ALIGN - 1) / SLAB_ALIGN * SLAB_ALIGN;
}

/* The lowest gap among the placed items (sorted by offset) that live with `item`. */
static int64_t lowest_offset(const SlabItem *item, SlabItem *const *placed, int32_t n)
{
    int64_t offset = 0, need = aligned(item->bytes);
    for (int32_t i = 0; i < n; i++) {
        const SlabItem *other = placed[i];
        if (!live_together(item, other))
            continue;
        if (other->offset >= offset + need)
            break;
        int64_t end = other->offset + aligned(other->bytes);
        if (end > offset)
            offset = end;
    }
    return offset;
}

int64_t slab_plan(SlabItem *items, int32_t n)
{
    if (n == 0)
        return 0;
    SlabItem **order = malloc(sizeof *order * (size_t)n),
             **placed = malloc(sizeof *placed * (size_t)n);
    int64_t total = -1;
    if (order && placed) {
        for (int32_t i = 0; i < n; i++)
            order[i] = &items[i];
        qsort(order, (size_t)n, sizeof *order, larger_first);
        total = 0;
        for (int32_t i = 0; i < n; i++) {
            SlabItem *item = order[i];
            item->offset = lowest_offset(item, placed, i);
            int32_t at = i;
            for (; at > 0 && placed[at - 1]->offset > item->offset; at--)
                placed[at] = placed[at - 1];
            placed[at] = item;
            if (item->offset + aligned(item->bytes) > total)
                total = item->offset + aligned(item->bytes);
        }
    }
    free(order);
    free(placed);
    return total;
}

/* Whether the product reads the panels of b in place of b. */
static bool reads_panels(const TfcProgram *program, const TfcGemmStep *gemm)
{
    const bool blas = (int)gemm->product < TFC_BLAS_TYPES &&
                      program->products.blas[gemm->product] && !gemm->grouping;
    return gemm->panels && program->products.native[gemm->product] && !blas;
}

int32_t slab_buffer_of(const TfcProgram *program, const TfcStep *step, int32_t i)
{
    int32_t buffers[5], n = 0;
    switch (step->kind) {
    case TFC_STEP_KERNEL: return i < step->kernel.n_views ? step->kernel.views[i].buffer : -1;
    case TFC_STEP_COPY: buffers[n++] = step->copy.from; /* fall through */
    case TFC_STEP_ZERO: buffers[n++] = step->copy.to; break;
    case TFC_STEP_GEMM:
        buffers[n++] = step->gemm.a.buffer;
        buffers[n++] = step->gemm.c.buffer;
        if (step->gemm.grouping)
            buffers[n++] = gemm_grouping(program, &step->gemm)->index; /* fall through */
    case TFC_STEP_PACK:
        if (step->gemm.panels)
            buffers[n++] = step->gemm.panels - 1;
        if (step->kind == TFC_STEP_PACK || !reads_panels(program, &step->gemm))
            buffers[n++] = step->gemm.b.buffer;
    }
    return i < n ? buffers[i] : -1;
}

void slab_mark_read(const TfcProgram *program, bool *read)
{
    for (int32_t s = program->n_prepared; s < program->n_steps; s++)
        for (int32_t i = 0, b; (b = slab_buffer_of(program, &program->steps[s], i)) >= 0; i++)
            read[b] = true;
}

/* The last step that prepares something of the buffer. */
static int32_t last_preparing(const TfcProgram *program, int32_t buffer)
{
    int32_t last = program->buffers[buffer].first;
    for (int32_t s = 0; s < program->n_prepared; s++)
        for (int32_t i = 0, b; (b = slab_buffer_of(program, &program->steps[s], i)) >= 0; i++)
            if (b == buffer)
                last = s;
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
    if (!items)
        return false;
    int32_t n = 0;
    blocks->kept = 0;
    for (int32_t b = 0; b < program->n_buffers; b++) {
        const TfcBuffer *buffer = &program->buffers[b];
        if (!buffer_is_planned(buffer) || slab_stays(program, read, b))
            continue;
        int32_t last = buffer->kind == TFC_BUFFER_OUTPUT ? program->n_steps
                       : buffer->kind == TFC_BUFFER_KEPT ? last_preparing(program, b)
                                                         : buffer->last;
        items[n++] = (SlabItem){bytes[b], buffer->first, last, 0};
    }
    blocks->slab = slab_plan(items, n);
    for (int32_t b = 0, i = 0; b < program->n_buffers; b++) {
        if (slab_stays(program, read, b)) {
            offsets[b] = blocks->kept;
            blocks->kept += aligned(bytes[b]);
        } else if (buffer_is_planned(&program->buffers[b]))
            offsets[b] = items[i++].offset;
    }
    free(items);
    return blocks->slab >= 0;
}
