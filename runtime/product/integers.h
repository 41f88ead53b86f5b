/* Integers of 8 bits: how products with `quant` = "int8" (docs/ir.md) round their operands and
 * where panels have them (in groups: groups.h). A row of a, or a column of b, is a scale times
 * integers from -127 to 127. Rows of a are rounded by generated code (TfcRoundRow, written by
 * codegen/emit/gemm/integers.c), columns of b by integers_pack_columns.
 *
 * An element of a panel of b has 4 terms of a column, a byte each. One side has its integers plus
 * 128, without sign, and the other side the sum of its integers, times 128, which is subtracted
 * from the sum of products:
 *
 *   joined = 4   the processor multiplies bytes without sign by bytes with one: an element of a row
 *                of a has 4 terms plus 128; b's terms have a sign, and their sums are there. Where
 *                bytes with signs are multiplied, a has its integers, and the sums are not read
 *   joined = 2   elsewhere words with a sign are multiplied: an element of a row has 2 terms, i16,
 *                and the row's sum is there; b's terms are plus 128 and in the order 0, 2, 1, 3, so
 *                that the even bytes of an element meet a's first two, the odd ones the next two
 *
 * Missing terms of either side count as zero. Behind the terms a row of a has its scale, f32, and,
 * if joined is 2, its sum, i32; a panel of b has an element of each column that is its scale, and,
 * if joined is 4, one that is its sum. */
#ifndef RUNTIME_PRODUCT_INTEGERS_H
#define RUNTIME_PRODUCT_INTEGERS_H

#include "runtime/product/form.h"

/* Of forms with integers of any bits: what a tile counts along k; bytes of a row of a, and of a
 * column of b in panels, with all that lies behind the terms. */
int64_t integers_turns(const TfcFormSizes *f, int64_t k);
int64_t integers_row_bytes(const TfcFormSizes *f, int64_t k);
int64_t integers_column_bytes(const TfcFormSizes *f, int64_t k);

/* Rounds n terms of x, `step` elements apart, to integers of 8 bits in the same places of out;
 * returns their scale, which is not finite if a term is not. */
float integers_round(int64_t n, const float *x, int64_t step, int8_t *out);
/* Packs columns of b[k, columns] as panels, `pitch` bytes from column to column. */
void integers_pack_columns(const TfcFormSizes *f, int64_t k, const float *x, int64_t x_k,
                           int64_t x_column, int64_t columns, void *panels, int64_t pitch);
/* Writes the values that such panels have to x. */
void integers_unpack_columns(const TfcFormSizes *f, int64_t k, const void *panels, int64_t pitch,
                             float *x, int64_t x_k, int64_t x_column, int64_t columns);

#endif
