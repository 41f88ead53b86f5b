/* Body: what a kernel computes: a list of ops between input and output buffers. It is a region's
 * body; a bare op counts as a region with that op alone.
 *
 * A value is `aligned` if something reads it at the coordinates of the iteration space,
 * right-aligned as numpy broadcasts. Shape ops other than broadcast, gather, lookup and products
 * read their operands elsewhere, except that products read scores that the body computed
 * aligned. */
#ifndef CODEGEN_BODY_H
#define CODEGEN_BODY_H

#include "ir/graph.h"

typedef struct BodyOp {
    const Op *op;
    bool aligned;
    int random; /* number among the body's random and dropout ops, or -1 */
} BodyOp;

typedef struct Body {
    int n_inputs, n_ops, n_results;
    Value *const *inputs; /* buffer i */
    BodyOp *ops;          /* in order, without the yield; dead ones are left out */
    Value *const *yields; /* buffer n_inputs + i */
    const bool *input_aligned;
} Body;

/* Whether the op has a kernel of its own, and is never part of a region: scatter_add,
 * lookup_add, top_k, ctc, ctc_grad, append, concat. */
bool op_is_own_kernel(const Op *op);
Body body_of(Arena *arena, const Op *op);
/* The number of a value: inputs from 0 on, then the results of ops. -1: not in the body. */
int body_number(const Body *body, const Value *value);

#endif
