/* How many elements tensors have and how many operations ops take, once sizes of
 * dimensions are known. */
#ifndef IR_WORK_H
#define IR_WORK_H

#include "ir/layout.h"

/* Sizes: the size of each symbol of the module. */
typedef struct Sizes {
    const Module *module;
    double *extents; /* the size; of a ragged symbol the longest or the mean length of a row */
    double *totals;  /* of a ragged symbol the sum of the rows' lengths; else the extent */
} Sizes;

/* Makes sizes in the arena, each 1, for the caller to set. */
Sizes sizes_new(Arena *arena, const Module *module);
/* Sets the symbols that are made of others from those, which are set. */
void sizes_make(Sizes *sizes);

/* The size of a constant, the extent of a symbol. */
double sizes_extent(const Sizes *sizes, Dim dim);
/* The length of an axis of storage; of packed tokens the total of the rows' lengths. */
double sizes_axis(const Sizes *sizes, const Axis *axis);
/* How many elements a tensor has in memory (ir/layout.h). */
double sizes_elements(const Sizes *sizes, const Type *type);
double sizes_bytes(const Sizes *sizes, const Type *type);

/* Floating-point operations of the products in an op or in its body; a multiply-add counts as
 * two. */
double product_flops(const Sizes *sizes, const Op *op);
/* product_flops, plus one for each element that an elementwise op computes or a reduction reads.
 * Moving elements counts as nothing. */
double op_flops(const Sizes *sizes, const Op *op);

#endif
