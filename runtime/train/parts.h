/* Parts: the elements of all trained params, one tensor after another, cut for ranks into as many
 * parts of about the same size. Each rank sums the gradients of its part, updates it, and keeps the
 * optimizer's slots of it (ZeRO, stage 1: Rajbhandari et al. 2020).
 *
 * Parts end where blocks do. A block has at most PART_BLOCK elements, all of one tensor, and begins at
 * a multiple of it: so sums over blocks do not depend on how many parts there are. */
#ifndef RUNTIME_TRAIN_PARTS_H
#define RUNTIME_TRAIN_PARTS_H

#include "base/arena.h"

#include <stdint.h>

enum { PART_BLOCK = 1 << 14 };

typedef struct PartTensor {
    const char *param, *gradient; /* names */
    int64_t count;                /* elements */
} PartTensor;

/* Slice: elements from … from + count - 1 of a tensor; a part has at most one of each. */
typedef struct Slice {
    int32_t tensor;
    int64_t from, count;
} Slice;

typedef struct Parts {
    int32_t n_tensors, n;
    const PartTensor *tensors;
    Slice *slices;  /* of all parts, in order */
    int32_t *first; /* of part p: slices first[p] … first[p + 1] - 1; perhaps none */
} Parts;

/* In the arena, where `tensors` stay the caller's; NULL: out of memory. */
const Parts *parts_new(Arena *arena, const PartTensor *tensors, int32_t n_tensors, int32_t n);
/* The part's slice of a tensor; NULL: it has none. */
const Slice *parts_find(const Parts *parts, int32_t part, int32_t tensor);
int64_t parts_blocks(int64_t count); /* of a tensor of so many elements */

#endif
