/* The slab planner: places buffers with known lifetimes into one block of memory
 * so that no two that live at the same time overlap. Buffers that are kept from run to run have a
 * second block, in which they stay in place until more buffers are kept. */
#ifndef RUNTIME_EXEC_SLAB_H
#define RUNTIME_EXEC_SLAB_H

#include "runtime/exec/program.h"

enum { SLAB_ALIGN = 64 };
static inline int64_t slab_aligned(int64_t bytes)
{
    return bytes < 1 ? SLAB_ALIGN : (bytes + SLAB_ALIGN - 1) / SLAB_ALIGN * SLAB_ALIGN;
}

typedef struct SlabItem {
    int64_t bytes;
    int32_t first, last; /* steps, both included */
    int64_t offset;      /* result, a multiple of SLAB_ALIGN */
} SlabItem;

/* Fills the offsets and returns the size of the slab. Greedy by size: largest
 * first, each at the lowest place free during its whole life (Pisarchyk & Lee,
 * "Efficient Memory Management for Deep Neural Net Inference", 2020). Returns -1
 * if memory for the planning itself ran out. (slab_plan.c) */
int64_t slab_plan(SlabItem *items, int32_t n);

/* The i-th buffer that a step reads or writes; -1: it has fewer. Of a product that reads b's panels
 * in place of b, b is none. */
int32_t slab_buffer_of(const TfcProgram *program, const TfcStep *step, int32_t i);
/* Whether the buffer is one of these. */
bool slab_uses(const TfcProgram *program, const TfcStep *step, int32_t buffer);
/* Marks the buffers that the steps after the prepared ones use. Kept buffers without a mark need
 * memory only while others are made of them, as panels are (TfcGemmStep.panels). */
void slab_mark_read(const TfcProgram *program, bool *read);
/* Whether a buffer has a place in the block of what is kept. `read`: slab_mark_read's, or NULL for
 * all. */
bool slab_stays(const TfcProgram *program, const bool *read, int32_t buffer);

/* Bytes of the two blocks of a program. */
typedef struct SlabBlocks {
    int64_t slab, kept;
} SlabBlocks;
/* Fills the offsets of the program's planned buffers. `bytes`: the size of each. Buffers for which
 * slab_stays are placed in the block of what is kept, all others in the slab. False: memory for the
 * planning ran out. */
bool slab_place(const TfcProgram *program, const int64_t *bytes, const bool *read, int64_t *offsets,
                SlabBlocks *blocks);

#endif
