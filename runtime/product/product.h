/* Products of two matrices on one thread, after Goto & van de Geijn (2008) and BLIS (Van Zee &
 * van de Geijn 2015): the loops around tiles are plain C (product.c). The tiles and the functions
 * that pack operands for them are generated for the processor (codegen/emit/gemm/gemm.h); together
 * they are a form.
 *
 * Every tile sums over k in the same order, so how rows and columns are cut changes no bit. */
#ifndef RUNTIME_PRODUCT_PRODUCT_H
#define RUNTIME_PRODUCT_PRODUCT_H

#include "runtime/product/form.h"

#include <stddef.h>

/* TfcPart: rows [row, row_end) and columns [column, column_end) of c. */
typedef struct TfcPart {
    int64_t row, row_end, column, column_end;
} TfcPart;

/* TfcEpilogue: what a product calls on each part of c once the part is complete and still in the
 * processor's cache. `of`: the caller's. */
typedef struct TfcEpilogue {
    void (*call)(void *of, TfcPart part);
    void *of;
} TfcEpilogue;

/* c[m, n] = Σ_k a[m, k] b[k, n], stored as `store` says; for k = 0 the sum is zero. Strides are in
 * elements: element (i, j) of a is at i × a_row + j × a_column, of b alike, of c at i × c_row + j.
 * One of the two strides of a is 1, unless that side has at most one element; likewise of b.
 *   panels    b as product_pack packed it, in place of b, which is not read; NULL: b is read
 *   column    the first column of the panels to be multiplied, a multiple of TFC_PANEL_COLUMNS
 *   epilogue  called on each part of c once the part is complete, or NULL
 *   a_rows, c_rows    where the rows of a and of c are; then a_column is 1, and no epilogue given
 *   a_terms, b_terms  where the terms k of a and of b are: rows of their memory; a_row and b_column
 *                     are 1 then. Products of integers have no such lists */
typedef struct TfcProduct {
    int64_t m, n, k;
    const void *a;
    int64_t a_row, a_column;
    const void *b;
    int64_t b_row, b_column;
    void *c;
    int64_t c_row;
    TfcStore store;
    const void *panels;
    int64_t column;
    const TfcEpilogue *epilogue;
    TfcRowList a_rows, c_rows, a_terms, b_terms;
} TfcProduct;

/* A product that a library computes. */
typedef void TfcGemm(const TfcProduct *p);

/* OpenBLAS's products: a program that names them needs the library. (runtime/exec/blas.c, as
 * tfc_blas_name) */
TfcGemm tfc_blas_f32, tfc_blas_f64;
/* The library's version and the processor that its kernels are for: "0.3.21 SkylakeX". */
void tfc_blas_name(char *name, size_t size);

/* TfcProducts: what multiplies, by TfcProductType (OpenBLAS has the first two): OpenBLAS, the
 * program's own form, or, where both are given, one of them for each shape, as TfcChoice says.
 * NULL: not given. */
enum { TFC_BLAS_TYPES = 2 };
typedef struct TfcProducts {
    TfcGemm *blas[TFC_BLAS_TYPES];
    const TfcForm *native[TFC_PRODUCT_TYPES];
} TfcProducts;

/* Bytes of a thread's workspace, in which operands are packed. */
enum { TFC_GEMM_WORKSPACE = 1 << 20 };

/* Computes the product on the calling thread. `workspace`: TFC_GEMM_WORKSPACE bytes, 64-byte
 * aligned, which no other thread uses meanwhile. (product.c) */
void product_run(const TfcForm *form, const TfcProduct *p, void *workspace);

#endif
