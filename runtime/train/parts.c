/* Cutting elements into parts. */
#include "runtime/train/parts.h"

#include <stdbool.h>

int64_t parts_blocks(int64_t count) { return (count + PART_BLOCK - 1) / PART_BLOCK; }

/* The part that the middle of a block lies in. */
static int32_t part_of(int64_t before, int64_t block, int64_t total, int32_t n)
{
    return (int32_t)(((double)before + 0.5 * (double)block) / (double)total * (double)n);
}

const Parts *parts_new(Arena *arena, const PartTensor *tensors, int32_t n_tensors, int32_t n)
{
    Parts *parts = ARENA_NEW(arena, Parts);
    int64_t total = 0, before = 0;
    for (int32_t t = 0; t < n_tensors; t++)
        total += tensors[t].count;
    if (parts)
        *parts = (Parts){.n_tensors = n_tensors,
                         .n = n,
                         .tensors = tensors,
                         .slices = ARENA_ARRAY(arena, Slice, (int64_t)n_tensors + n),
                         .first = ARENA_ARRAY(arena, int32_t, (int64_t)n + 1)};
    if (!parts || !parts->slices || !parts->first)
        return NULL;
    int32_t part = 0, n_slices = 0;
    for (int32_t t = 0; t < n_tensors; t++) {
        bool goes_on = false; /* the slice of this tensor */
        for (int64_t from = 0; from < tensors[t].count; from += PART_BLOCK) {
            int64_t left = tensors[t].count - from, block = left < PART_BLOCK ? left : PART_BLOCK;
            for (int32_t next = part_of(before, block, total, n); part < next; goes_on = false)
                parts->first[++part] = n_slices;
            if (!goes_on)
                parts->slices[n_slices++] = (Slice){t, from, 0};
            parts->slices[n_slices - 1].count += block;
            goes_on = true;
            before += block;
        }
    }
    while (part < n)
        parts->first[++part] = n_slices;
    return parts;
}

const Slice *parts_find(const Parts *parts, int32_t part, int32_t tensor)
{
    for (int32_t i = parts->first[part]; i < parts->first[part + 1]; i++)
        if (parts->slices[i].tensor == tensor)
            return &parts->slices[i];
    return NULL;
}
