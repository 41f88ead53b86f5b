/* The one face of the BLAS library. */
#ifndef RUNTIME_EXEC_BLAS_H
#define RUNTIME_EXEC_BLAS_H

#include "runtime/exec/program.h"

/* Element (i, j) at data + i × row_stride + j × column_stride elements; one of the
 * strides is 1 (or its side no longer than 1). */
typedef struct BlasMatrix {
    void *data;
    int64_t row_stride, column_stride;
} BlasMatrix;

/* c[m, n] = a[m, k] b[k, n] (+ c). f32 or f64. k = 0 gives zeros. */
void blas_gemm(TfcType type, int64_t m, int64_t n, int64_t k, BlasMatrix a, BlasMatrix b, BlasMatrix c,
               bool accumulate);

/* One thread inside each call that this thread makes from now on. Sets OpenMP's
 * default for it to 1: parallel loops name their number (exec_threads). */
void blas_single_thread(void);

#endif
