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
    SlabItem **order = malloc(sizeof *order * (size_t)n), **placed = malloc(sizeof *placed * (size_t)n);
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

bool slab_place(const TfcProgram *program, const int64_t *bytes, int64_t *offsets, SlabBlocks *blocks)
{
    SlabItem *items = malloc(sizeof *items * ((size_t)program->n_buffers + 1));
    if (!items)
        return false;
    int32_t n = 0;
    blocks->kept = 0;
    for (int32_t b = 0; b < program->n_buffers; b++) {
        const TfcBuffer *buffer = &program->buffers[b];
        if (buffer_is_planned(buffer) && !buffer_is_kept(program, buffer))
            items[n++] = (SlabItem){bytes[b], buffer->first,
                                    buffer->kind == TFC_BUFFER_OUTPUT ? program->n_steps : buffer->last, 0};
    }
    blocks->slab = slab_plan(items, n);
    for (int32_t b = 0, i = 0; b < program->n_buffers; b++) {
        if (buffer_is_kept(program, &program->buffers[b])) {
            offsets[b] = blocks->kept;
            blocks->kept += aligned(bytes[b]);
        } else if (buffer_is_planned(&program->buffers[b]))
            offsets[b] = items[i++].offset;
    }
    free(items);
    return blocks->slab >= 0;
}
