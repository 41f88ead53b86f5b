/* OpenBLAS's products, as program.h declares them: the only file that includes
 * cblas.h. A program without them is linked without this file. */
#include "runtime/exec/program.h"

#include <assert.h>
#include <cblas.h>
#include <limits.h>
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

static Lie lie_of(int64_t row_stride, int64_t column_stride, int64_t rows, int64_t columns)
{
    if (column_stride == 1 && (rows <= 1 || row_stride >= columns))
        return (Lie){true, leading_of(rows <= 1 ? columns : row_stride, columns)};
    if (row_stride == 1 || rows <= 1)
        return (Lie){false, leading_of(columns <= 1 ? rows : column_stride, rows)};
    assert(columns <= 1); /* else neither side is contiguous: a mistake of the plan */
    return (Lie){true, leading_of(row_stride, columns)};
}

/* Whether nothing is left to multiply; k = 0 gives zeros. */
static bool is_empty(int64_t m, int64_t n, int64_t k, void *c, int64_t c_row, bool accumulate, size_t bytes)
{
    if (m > 0 && n > 0 && k <= 0 && !accumulate)
        for (int64_t i = 0; i < m; i++)
            memset((char *)c + (size_t)(i * c_row) * bytes, 0, (size_t)n * bytes);
    return m <= 0 || n <= 0 || k <= 0;
}

static void finish(const TfcEpilogue *epilogue, int64_t m, int64_t n)
{
    epilogue->args->column_begin = epilogue->column;
    epilogue->args->column_end = epilogue->column + n;
    epilogue->call(epilogue->args, epilogue->row, epilogue->row + m);
}

/* The workspace is OpenBLAS's own. */
#define DEFINE_PRODUCT(name, type, multiply)                                                          \
    void name(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row, int64_t a_column,        \
              const void *b, int64_t b_row, int64_t b_column, void *c, int64_t c_row,                 \
              int64_t accumulate, const TfcEpilogue *epilogue, void *workspace)                       \
    {                                                                                                 \
        Lie la = lie_of(a_row, a_column, m, k), lb = lie_of(b_row, b_column, k, n);                   \
        if (!is_empty(m, n, k, c, c_row, accumulate, sizeof(type)))                                   \
            multiply(CblasRowMajor, la.row_major ? CblasNoTrans : CblasTrans,                         \
                     lb.row_major ? CblasNoTrans : CblasTrans, (blasint)m, (blasint)n, (blasint)k, 1, \
                     a, la.leading, b, lb.leading, accumulate ? 1 : 0, c,                             \
                     leading_of(m <= 1 ? n : c_row, n));                                              \
        if (epilogue && m > 0 && n > 0)                                                               \
            finish(epilogue, m, n);                                                                   \
    }

DEFINE_PRODUCT(tfc_blas_f32, float, cblas_sgemm)
DEFINE_PRODUCT(tfc_blas_f64, double, cblas_dgemm)
