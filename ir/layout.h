/* Layout: where the elements of a tensor are in memory. One rule for every tensor:
 *
 *   If a type has a ragged dimension S~ and the dimension B it is ragged over,
 *   the first such pair becomes one leading axis of packed tokens (all positions
 *   of sentence 0, then of sentence 1, …) and positions past a sentence's length
 *   are not stored. All other dimensions follow in their logical order, row-major;
 *   further ragged ones are as long as the longest sentence. Dimension B is no
 *   axis of its own then.
 *
 *   f32[B, S~, 512]     axes: tokens(S), 512
 *   f32[B, H, S~, 64]   axes: tokens(S), H, 64       (splitting heads moves nothing)
 *   f32[B, H, S~, T~]   axes: tokens(S), H, longest T
 *   f32[B, H, 64, T~]   axes: tokens(T), H, 64       (nor does transposing keys)
 *   f32[S~, 512]        axes: longest S, 512         (no batch: nothing to pack)
 *   f32[B, 10, 512]     axes: B, 10, 512
 *
 * A reshape moves no element: symbols stay in their order, and only constants between two of them
 * are split or joined (infer_reshape), so the storage axes are the same but for that. */
#ifndef IR_LAYOUT_H
#define IR_LAYOUT_H

#include "ir/graph.h"

typedef struct Axis {
    int dim;       /* the logical dimension; for tokens, the ragged one */
    int batch_dim; /* tokens only: the logical dimension of the batch; else -1 */
    Dim extent;    /* constant; uniform symbol; ragged symbol: longest, or for tokens the total */
} Axis;

typedef struct Layout {
    int n;
    Axis axes[MAX_RANK];
} Layout;

Layout layout_of(const Module *module, const Type *type);
static inline bool layout_is_packed(const Layout *layout)
{
    return layout->n > 0 && layout->axes[0].batch_dim >= 0;
}

/* Lead: whether given rows are the leading storage axis of a tensor, and which logical dimensions
 * they are.
 *   dim     the rows' dimension, counted from 1 at the right; 0: they are not the leading axis
 *   batch   the dimension over which the rows are ragged, counted in the same way; 0: the rows are
 *           not packed tokens */
typedef struct Lead {
    int dim, batch;
} Lead;

/* The lead of the rows of dimension `symbol`, which are packed over the dimension `batch`; batch
 * NO_SYMBOL: the rows are not packed. */
Lead layout_lead(const Module *module, const Type *type, int symbol, int batch);
static inline bool same_lead(Lead a, Lead b)
{
    return a.dim && a.dim == b.dim && a.batch == b.batch;
}

#endif
