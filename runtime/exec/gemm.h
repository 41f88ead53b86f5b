/* Matrix products, by OpenBLAS or the program's kernels, cut into tasks that depend
 * on the shape alone and each run on one thread, so that results do not depend on
 * their number. */
#ifndef RUNTIME_EXEC_GEMM_H
#define RUNTIME_EXEC_GEMM_H

#include "runtime/exec/kernel.h"
#include "runtime/exec/program.h"

#include "base/team.h"

/* A matrix operand with its strides evaluated. */
typedef struct GemmMatrix {
    int32_t buffer, ragged_dim;
    int64_t offset, loop_strides[TFC_MAX_LOOPS], ragged_stride, row_stride, column_stride;
} GemmMatrix;

/* Iterations [first, first + count) of the parallel loops; of each the rows
 * [m_begin, m_end) and columns [n_begin, n_end), cut to the iteration's extents. */
typedef struct GemmTask {
    int64_t first, count;
    int64_t m_begin, m_end, n_begin, n_end;
} GemmTask;

/* A product for one shape. */
typedef struct BoundGemm {
    const TfcGemmStep *step;
    const TfcDim *dims;
    const TfcProducts *products;
    const TfcChoice *choice; /* between them */
    GemmMatrix a, b, c;
    TfcRows rows;                     /* in a loop: which side they are */
    bool accumulate;
    int64_t m, n, k;                  /* where the extents are sizes */
    int64_t loops[TFC_MAX_LOOPS];
    int32_t n_free, free[TFC_MAX_LOOPS]; /* loops whose iterations are independent */
    int32_t n_sums, sums[TFC_MAX_LOOPS]; /* loops that add up into the same c */
    int64_t iterations, sum_iterations;
    int32_t n_tasks, capacity;
    GemmTask *tasks; /* malloc'd, grows only */
} BoundGemm;

/* Takes the step's sizes from the program's, as evaluated, and cuts tasks; false if memory cannot be
 * had. `bound` is zeroed before the first call and may be bound again. */
bool gemm_bind(BoundGemm *bound, const TfcGemmStep *step, const int64_t *sizes,
               const TfcDim *dims, const TfcProducts *products, const TfcChoice *choice);
/* The same for a product in a loop over rows, of so many rows at most. */
bool gemm_bind_rows(BoundGemm *bound, const TfcGemmStep *step, TfcRows are, int64_t rows,
                    const int64_t *sizes, const TfcDim *dims, const TfcProducts *products,
                    const TfcChoice *choice);
/* To the rows [begin, begin + rows), no more than it was bound for. */
void gemm_move(BoundGemm *bound, int64_t begin, int64_t rows);
/* `epilogue`: the kernel of the product's TfcEpilogue, or NULL. */
void gemm_run(const BoundGemm *bound, const BoundKernel *epilogue, void *const *buffers,
              Team *team);
/* Packs b of a product whose sides n and k are sizes, unless it has no native kernel. */
int64_t gemm_pack_tasks(const BoundGemm *bound);
void gemm_pack_run(const BoundGemm *bound, void *const *buffers, Team *team);
/* What one run of it computes, the way it was bound: the largest sides, how many
 * products, operations (a multiplication and an addition each), elements of operands
 * and results. */
typedef struct GemmCost {
    int64_t m, n, k, products;
    double flops, elements[3]; /* of a, b, c; an element counts for each product it is in */
} GemmCost;
GemmCost gemm_cost(const BoundGemm *bound);
void gemm_release(BoundGemm *bound);

#endif
