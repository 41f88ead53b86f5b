/* OpenBLAS's products, as product.h declares them: the only file that includes
 * cblas.h. A program without them is linked without this file. */
#include "runtime/exec/per_thread.h"
#include "runtime/exec/program.h"

#include <assert.h>
#include <cblas.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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
static bool is_empty(const TfcProduct *p, size_t bytes)
{
    if (p->m > 0 && p->n > 0 && p->k <= 0 && p->store == TFC_STORE_OVERWRITE)
        for (int64_t i = 0; i < p->m; i++)
            memset((char *)p->c + (size_t)(i * p->c_row) * bytes, 0, (size_t)p->n * bytes);
    return p->m <= 0 || p->n <= 0 || p->k <= 0;
}

static void finish(const TfcProduct *p)
{
    const TfcEpilogue *e = p->epilogue;
    if (e && p->m > 0 && p->n > 0)
        e->call(e->of, (TfcPart){0, p->m, 0, p->n});
}

/* A task's product stays on the task's thread. The number of threads is the calling thread's
 * where OpenBLAS was built with OpenMP, and the process's where it was not; setting it is not safe
 * beside another who does. */
static void *set_one_thread(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    openblas_set_num_threads(1);
    pthread_mutex_unlock(&mutex);
    return malloc(1); /* a thread with memory of this kind has done so */
}

static void multiply_on_one_thread(void)
{
    static PerThread settled = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    per_thread(&settled, set_one_thread); /* without memory it is set again next time */
}

#define DEFINE_PRODUCT(name, type, multiply)                                                \
    void name(const TfcProduct *p)                                                          \
    {                                                                                       \
        Lie a = lie_of(p->a_row, p->a_column, p->m, p->k);                                  \
        Lie b = lie_of(p->b_row, p->b_column, p->k, p->n);                                  \
        multiply_on_one_thread();                                                           \
        if (!is_empty(p, sizeof(type)))                                                     \
            multiply(CblasRowMajor, a.row_major ? CblasNoTrans : CblasTrans,                \
                     b.row_major ? CblasNoTrans : CblasTrans, (blasint)p->m, (blasint)p->n, \
                     (blasint)p->k, 1, p->a, a.leading, p->b, b.leading,                    \
                     p->store == TFC_STORE_ADD ? 1 : 0, p->c,                               \
                     leading_of(p->m <= 1 ? p->n : p->c_row, p->n));                        \
        finish(p);                                                                          \
    }

DEFINE_PRODUCT(tfc_blas_f32, float, cblas_sgemm)
DEFINE_PRODUCT(tfc_blas_f64, double, cblas_dgemm)

void tfc_blas_name(char *name, size_t size)
{
    char version[32] = "";
    sscanf(openblas_get_config(), "OpenBLAS %31s", version);
    snprintf(name, size, "%s %s", *version ? version : "?", openblas_get_corename());
}
