/* What a kernel computes, whatever the op: a list of ops between buffers.
 *
 * A region's body is seen as it is; a bare op counts as a region around itself.
 * A value is `aligned` if it is read at the coordinates of the iteration space,
 * right-aligned as numpy broadcasts; operands of shape ops and tables of gather
 * are read elsewhere. So are those of products, but for scores that the body computed. */
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
    Value *const *inputs;  /* buffer i */
    BodyOp *ops;           /* in order, without the yield; dead ones are left out */
    Value *const *yields;  /* buffer n_inputs + i */
    const bool *input_aligned;
} Body;

/* Ops that are their own kernels, not bodies. */
bool op_is_own_kernel(const Op *op);
Body body_of(Arena *arena, const Op *op);
/* The number of a value: inputs 0 …, then the results of ops. -1: not in the body. */
int body_number(const Body *body, const Value *value);

#endif
