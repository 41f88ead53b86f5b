/* The products of a step, one an iteration of its loops, and how they are cut into tasks. */
#ifndef RUNTIME_EXEC_GEMM_TASKS_H
#define RUNTIME_EXEC_GEMM_TASKS_H

#include "runtime/exec/program.h"

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
    const TfcGrouping *grouping; /* NULL: none */
    const TfcDim *dims;
    const TfcProducts *products;
    const TfcChoice *choice; /* of OpenBLAS or the form */
    GemmMatrix a, b, c;
    TfcRows rows; /* in a loop over rows: which side the rows are */
    bool accumulate;
    int64_t m, n, k; /* the extents; of a length what it is multiplied by */
    int64_t loops[TFC_MAX_LOOPS];
    int32_t n_free, free[TFC_MAX_LOOPS]; /* loops whose iterations are independent */
    int32_t n_sums, sums[TFC_MAX_LOOPS]; /* loops that add up into the same c */
    int64_t iterations, sum_iterations;
    int32_t n_tasks, capacity;
    GemmTask *tasks; /* malloc'd, grows only; with groups n_tasks is the most that there can be */
    int32_t *sorted; /* with groups: room for their rows (grouped.c), malloc'd, grows only */
    int64_t room;    /* of it, in elements */
} BoundGemm;

/* c[m, n] = Σ_k a[m, k] b[k, n] */
typedef struct GemmShape {
    int64_t m, n, k;
} GemmShape;

/* Writes the indices of n of the loops at an iteration over these; the last loop varies fastest. */
static inline void gemm_indices(const BoundGemm *bound, const int32_t *loops, int32_t n,
                                int64_t iteration, int64_t index[TFC_MAX_LOOPS])
{
    for (int32_t i = n - 1; i >= 0; i--) {
        int64_t extent = bound->loops[loops[i]];
        index[loops[i]] = iteration % extent;
        iteration /= extent;
    }
}

/* A side of a product: a size, or so many times the sentence's length. */
static inline int64_t gemm_extent(const TfcExtent *extent, int64_t size, const TfcDim *dims,
                                  int64_t sentence)
{
    return extent->kind == TFC_EXTENT_LENGTH ? size * dims[extent->dim].length[sentence] : size;
}

/* The product at these indices; an empty one (m = 0) past the end of the sentence. */
static inline GemmShape gemm_shape_at(const BoundGemm *bound, const int64_t index[TFC_MAX_LOOPS])
{
    const TfcGemmStep *step = bound->step;
    int64_t sentence = step->batch_loop >= 0 ? index[step->batch_loop] : 0;
    for (int32_t l = 0; l < step->n_loops; l++)
        if (step->loop_lengths[l] >= 0 &&
            index[l] >= bound->dims[step->loop_lengths[l]].length[sentence])
            return (GemmShape){0, 0, 0};
    return (GemmShape){gemm_extent(&step->m, bound->m, bound->dims, sentence),
                       gemm_extent(&step->n, bound->n, bound->dims, sentence),
                       gemm_extent(&step->k, bound->k, bound->dims, sentence)};
}

/* Where element (0, 0) of the matrix is in its buffer at these loop indices, in elements. */
static inline int64_t gemm_origin(const BoundGemm *bound, const GemmMatrix *matrix,
                                  const int64_t index[TFC_MAX_LOOPS])
{
    int64_t at = matrix->offset;
    for (int32_t l = 0; l < bound->step->n_loops; l++)
        at += index[l] * matrix->loop_strides[l];
    if (matrix->ragged_dim >= 0)
        at += bound->dims[matrix->ragged_dim].offset[index[bound->step->batch_loop]] *
              matrix->ragged_stride;
    return at;
}

/* The sides of the blocks that a product of this shape is cut into. */
GemmShape gemm_block(GemmShape p);
/* Room for n tasks; false: memory ran out. */
bool gemm_room(BoundGemm *bound, int64_t n);

/* Fills `tasks` of a product whose loops and sides are bound; false: memory ran out. */
bool gemm_cut(BoundGemm *bound);

#endif
