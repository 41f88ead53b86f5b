/* Matrix products, by OpenBLAS or the program's kernels, cut into tasks that depend
 * on the shape alone and each run on one thread, so that results do not depend on
 * their number. */
#ifndef RUNTIME_EXEC_GEMM_H
#define RUNTIME_EXEC_GEMM_H

#include "base/team.h"
#include "runtime/exec/gemm_tasks.h"
#include "runtime/exec/kernel.h"

/* Takes the step's sizes from the program's, as evaluated, and cuts tasks; false if memory cannot
 * be had. `bound` is zeroed before the first call and may be bound again. */
bool gemm_bind(BoundGemm *bound, const TfcGemmStep *step, const int64_t *sizes, const TfcDim *dims,
               const TfcProducts *products, const TfcChoice *choice);
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
