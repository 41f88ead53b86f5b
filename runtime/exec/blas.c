/* OpenBLAS behind blas.h: the only file that includes cblas.h. */
#include "runtime/exec/blas.h"

#include "runtime/exec/size.h"

#include <assert.h>
#include <cblas.h>
#include <limits.h>
#include <omp.h>
#include <string.h>

/* How a matrix lies: its rows contiguous (row-major) or its columns, and the step
 * from one to the next. A side of length 1 fits either way. */
typedef struct Lie {
    bool row_major;
    blasint leading;
} Lie;

static blasint leading_of(int64_t stride, int64_t least)
{
    int64_t leading = stride > least ? stride : least;
    assert(leading <= INT_MAX);
    return (blasint)(leading < 1 ? 1 : leading);
}

static Lie lie_of(BlasMatrix matrix, int64_t rows, int64_t columns)
{
    if (matrix.column_stride == 1 && (rows <= 1 || matrix.row_stride >= columns))
        return (Lie){true, leading_of(rows <= 1 ? columns : matrix.row_stride, columns)};
    if (matrix.row_stride == 1 || rows <= 1)
        return (Lie){false, leading_of(columns <= 1 ? rows : matrix.column_stride, rows)};
    assert(columns <= 1); /* else neither side is contiguous: a mistake of the plan */
    return (Lie){true, leading_of(matrix.row_stride, columns)};
}

static void zero(TfcType type, int64_t m, int64_t n, BlasMatrix c)
{
    int64_t bytes = type_bytes(type);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            memset((char *)c.data + (i * c.row_stride + j * c.column_stride) * bytes, 0, (size_t)bytes);
}

void blas_gemm(TfcType type, int64_t m, int64_t n, int64_t k, BlasMatrix a, BlasMatrix b, BlasMatrix c,
               bool accumulate)
{
    if (m <= 0 || n <= 0)
        return;
    if (k <= 0) {
        if (!accumulate)
            zero(type, m, n, c);
        return;
    }
    Lie la = lie_of(a, m, k), lb = lie_of(b, k, n), lc = lie_of(c, m, n);
    enum CBLAS_ORDER order = lc.row_major ? CblasRowMajor : CblasColMajor;
    enum CBLAS_TRANSPOSE ta = la.row_major == lc.row_major ? CblasNoTrans : CblasTrans;
    enum CBLAS_TRANSPOSE tb = lb.row_major == lc.row_major ? CblasNoTrans : CblasTrans;
    if (type == TFC_F32)
        cblas_sgemm(order, ta, tb, (blasint)m, (blasint)n, (blasint)k, 1, a.data, la.leading, b.data,
                    lb.leading, accumulate ? 1 : 0, c.data, lc.leading);
    else {
        assert(type == TFC_F64);
        cblas_dgemm(order, ta, tb, (blasint)m, (blasint)n, (blasint)k, 1, a.data, la.leading, b.data,
                    lb.leading, accumulate ? 1 : 0, c.data, lc.leading);
    }
}

/* OpenBLAS built for OpenMP asks OpenMP how many threads the caller would get. */
void blas_single_thread(void)
{
    if (omp_get_max_threads() == 1)
        return;
    openblas_set_num_threads(1);
    omp_set_num_threads(1);
}
