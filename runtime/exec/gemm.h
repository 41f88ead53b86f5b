/* Matrix products, by OpenBLAS or the program's form. A product is cut into tasks by its shape
 * alone, and each task runs on one thread, so results do not depend on the number of threads. */
#ifndef RUNTIME_EXEC_GEMM_H
#define RUNTIME_EXEC_GEMM_H

#include "base/team.h"
#include "runtime/exec/gemm_tasks.h"
#include "runtime/exec/program.h"

/* A kernel for one shape: what the executor and products call. */

typedef struct BoundKernel {
    TfcKernel call;
    TfcKernelArgs args;
    int64_t begin, end, block; /* units; units a task */
} BoundKernel;

/* Binds a step to `sizes`, the values of the program's sizes, and cuts it into tasks. `bound` is
 * zeroed before the first call and may be bound again. false: memory ran out. */
bool gemm_bind(BoundGemm *bound, const TfcGemmStep *step, const int64_t *sizes, const TfcDim *dims,
               const TfcProducts *products, const TfcChoice *choice);
/* The same for a product in groups (NULL: none), or in a loop over rows. `are`: which side the rows
 * are; `rows`: the most rows of a chunk. */
bool gemm_bind_rows(BoundGemm *bound, const TfcGemmStep *step, const TfcGrouping *grouping,
                    TfcRows are, int64_t rows, const int64_t *sizes, const TfcDim *dims,
                    const TfcProducts *products, const TfcChoice *choice);
/* Moves such a product to the rows [begin, begin + rows), at most as many as it was bound for. */
void gemm_move(BoundGemm *bound, int64_t begin, int64_t rows);
/* Each thread of the team must have its workspace (workspace_ready). `epilogue`: the kernel of the
 * product's TfcEpilogue, or NULL. */
void gemm_run(const BoundGemm *bound, const BoundKernel *epilogue, void *const *buffers,
              Team *team);
/* Packing b of a product into the step's `panels`: how many tasks it takes (0: the program has no
 * form for the type, and nothing is packed), and the packing. The sides n and k are sizes. */
int64_t gemm_pack_tasks(const BoundGemm *bound);
void gemm_pack_run(const BoundGemm *bound, void *const *buffers, Team *team);
/* What one run of a bound product computes: the largest sides, how many products, operations (a
 * multiplication and an addition are two), elements of operands and results. */
typedef struct GemmCost {
    int64_t m, n, k, products;
    double flops, elements[3]; /* of a, b, c; an element counts for each product it is in */
} GemmCost;
GemmCost gemm_cost(const BoundGemm *bound);
void gemm_release(BoundGemm *bound); /* frees the tasks */

/* ---- grouped.c ---- */

/* Products whose rows, or terms, an index groups (TfcGroups): the rows of each group are found by a
 * counting sort, in ascending order, and each group is a product of its own, cut into blocks. */

/* Makes room for the groups of any index, and sets n_tasks to the most tasks there can be; false:
 * memory ran out. */
bool grouped_bind(BoundGemm *bound);
void grouped_run(const BoundGemm *bound, void *const *buffers, Team *team);

#endif
