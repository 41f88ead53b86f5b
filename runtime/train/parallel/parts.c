/* Cutting tensors into parts. */
#include "runtime/train/parallel/parts.h"

#include <stdlib.h>

int64_t parts_blocks(int64_t count) { return (count + PART_BLOCK - 1) / PART_BLOCK; }

/* Load: how many elements a part has so far. */
typedef struct Load {
    int64_t elements;
    int32_t part;
} Load;

static int compare_loads(const void *a, const void *b)
{
    const Load *x = a, *y = b;
    if (x->elements != y->elements)
        return x->elements < y->elements ? -1 : 1;
    return x->part - y->part;
}

/* Every part gets as many whole blocks; those with the least have one more, where blocks are
 * left. */
static void cut_parts(int64_t *bounds, int64_t count, Load *loads, int32_t n)
{
    int64_t blocks = parts_blocks(count), each = blocks / n, more = blocks % n;
    qsort(loads, (size_t)n, sizeof *loads, compare_loads);
    for (int32_t i = 0; i < n; i++)
        bounds[loads[i].part + 1] = each + (i < more);
    for (int32_t p = 0; p < n; p++) {
        int64_t end = bounds[p] + bounds[p + 1] * PART_BLOCK;
        bounds[p + 1] = end < count ? end : count;
    }
    for (int32_t i = 0; i < n; i++)
        loads[i].elements += bounds[loads[i].part + 1] - bounds[loads[i].part];
}

const Parts *parts_new(Arena *arena, const PartTensor *tensors, int32_t n_tensors, int32_t n)
{
    Parts *parts = ARENA_NEW(arena, Parts);
    Load *loads = ARENA_ARRAY(arena, Load, n);
    int64_t *bounds = ARENA_ARRAY(arena, int64_t, (int64_t)n_tensors *(n + 1) + 1);
    if (!parts || !loads || !bounds)
        return NULL;
    for (int32_t p = 0; p < n; p++)
        loads[p].part = p;
    for (int32_t t = 0; t < n_tensors; t++)
        cut_parts(bounds + (int64_t)t * (n + 1), tensors[t].count, loads, n);
    *parts = (Parts){n_tensors, n, tensors, bounds};
    return parts;
}

Slice parts_slice(const Parts *parts, int32_t tensor, int32_t first, int32_t last)
{
    const int64_t *bounds = parts->bounds + (int64_t)tensor * (parts->n + 1);
    return (Slice){tensor, bounds[first], bounds[last + 1] - bounds[first]};
}

Slice parts_piece(const Parts *parts, int32_t tensor, int32_t part, int32_t index, int32_t of)
{
    Slice slice = parts_slice(parts, tensor, part, part);
    int64_t blocks = parts_blocks(slice.count);
    int64_t from = blocks * index / of * PART_BLOCK, to = blocks * (index + 1) / of * PART_BLOCK;
    if (to > slice.count)
        to = slice.count;
    return (Slice){tensor, slice.from + from, to - from};
}

int64_t parts_elements(const Parts *parts, int32_t part)
{
    int64_t elements = 0;
    for (int32_t t = 0; t < parts->n_tensors; t++)
        elements += parts_slice(parts, t, part, part).count;
    return elements;
}
