/* Packing of operands with a form's functions: of a whole b beforehand, and within a product
 * (product.c). */
#ifndef RUNTIME_PRODUCT_PRODUCT_PACK_H
#define RUNTIME_PRODUCT_PRODUCT_PACK_H

#include "runtime/product/form.h"

/* Packs columns [begin, end) of b[k, n] into panels; `begin` is a multiple of TFC_PANEL_COLUMNS.
 * `b` and `panels` point to the whole matrix and to the room for all of it: n rounded up to a
 * multiple of TFC_PANEL_COLUMNS columns, each of k elements of b's type, for bf16 rounded up to
 * TFC_PAIRS_K; for integers as panels_bytes (runtime/exec/panels.h) says. Strides are in
 * elements. */
void product_pack(const TfcForm *form, int64_t k, int64_t begin, int64_t end, const void *b,
                  int64_t b_row, int64_t b_column, void *panels);

/* Terms that are packed in one go, so that their cache misses overlap; a multiple of every form's
 * `whole` but those of integers. */
enum { PACK_K = 32 };

/* What a tile counts along k terms: elements; of integers integers_turns. Bytes of a packed row of
 * a; of a column of panels; of one of panels that product_pack makes. */
int64_t pack_elements(const TfcFormSizes *f, int64_t k);
int64_t pack_row_bytes(const TfcFormSizes *f, int64_t k);
int64_t pack_column_bytes(const TfcFormSizes *f, int64_t k);
int64_t pack_kept_bytes(const TfcFormSizes *f, int64_t k);

/* Where terms are: term l of those that are packed is `stride` times its listed row, in elements,
 * from the first of the memory. */
typedef struct PackTerms {
    int64_t stride;
    TfcRowList rows;
} PackTerms;

/* Packs columns of b[k, columns] into panels, `pitch` bytes from column to column. Strides are in
 * elements; x points to the first term, or to the first row of a list's memory. */
void pack_columns(const TfcForm *form, int64_t k, const void *x, PackTerms terms, int64_t x_column,
                  int64_t columns, void *panels, int64_t pitch);

/* Panels that pack_columns would make of bf16, widened, made of `kept` ones that product_pack made
 * of pairs: of k terms, in panels that are `kept_pitch` bytes from column to column. */
void widen_panels(const TfcForm *form, int64_t k, const void *kept, int64_t columns,
                  int64_t kept_pitch, void *panels, int64_t pitch);

/* Packs rows of a that are contiguous along k as rows `pitch` bytes apart. */
void pack_rows_along(const TfcForm *form, int64_t k, const void *x, int64_t x_row, int64_t rows,
                     void *out, int64_t pitch);
/* Packs terms [begin, end) of adjacent rows of a as rows, or as panels, with `pitch` bytes for each
 * row. `out` is the place of term 0; x points to term 0, or to the first row of a list's memory. */
void pack_rows_beside(const TfcForm *form, int64_t begin, int64_t end, const void *x,
                      PackTerms terms, int64_t rows, void *out, int64_t pitch);

/* Adds n numbers of x to those of `sum`. */
void add_floats(int64_t n, const float *restrict x, float *restrict sum);
void add_doubles(int64_t n, const double *restrict x, double *restrict sum);

#endif
