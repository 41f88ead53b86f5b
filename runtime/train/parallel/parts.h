/* Parts: the elements of all trained params, cut into parts of about the same size, one for each
 * rank. Each rank sums the gradients of its part, updates it, and keeps the optimizer's slots of it
 * (ZeRO, stage 1: Rajbhandari et al. 2020).
 *
 * Each tensor is cut by itself, so that all ranks send and receive a share of each. It is cut only
 * between blocks of PART_BLOCK elements (the last may have fewer), so that sums over blocks do not
 * depend on the number of parts. */
#ifndef RUNTIME_TRAIN_PARALLEL_PARTS_H
#define RUNTIME_TRAIN_PARALLEL_PARTS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { PART_BLOCK = 1 << 14 };

/* PartTensor: a param and its gradient, by their names.
 *   count   elements
 *   rows    a second tensor of the same size, for the sparse terms of the gradient, such as rows of
 *           an embedding; it is added to the gradient in the end. NULL: there is none
 *   sparse  all terms are sparse, and there is no second tensor
 *   rounded the param is f32, there are several ranks, and they compute gradients only from its
 *           value rounded to bf16 */
typedef struct PartTensor {
    const char *param, *gradient;
    int64_t count;
    const char *rows;
    bool sparse, rounded;
} PartTensor;

/* Slice: elements from … from + count - 1 of a tensor. `tensor` is its number. */
typedef struct Slice {
    int32_t tensor;
    int64_t from, count;
} Slice;

typedef struct Parts {
    int32_t n_tensors, n;
    const PartTensor *tensors;
    /* n + 1 for each tensor: its part p has the elements bounds[p] … bounds[p + 1] - 1 */
    int64_t *bounds;
} Parts;

/* Makes n parts in the arena; `tensors` must outlive them. NULL: out of memory. */
const Parts *parts_new(Arena *arena, const PartTensor *tensors, int32_t n_tensors, int32_t n);
/* The elements of a tensor in parts first … last; there may be none. */
Slice parts_slice(const Parts *parts, int32_t tensor, int32_t first, int32_t last);
/* Piece `index` of a part's slice, which is cut between blocks into `of` pieces of about the same
 * size. */
Slice parts_piece(const Parts *parts, int32_t tensor, int32_t part, int32_t index, int32_t of);
/* Elements of a part, of all tensors. */
int64_t parts_elements(const Parts *parts, int32_t part);
int64_t parts_blocks(int64_t count); /* of a tensor of `count` elements */

#endif
