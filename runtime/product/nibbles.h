/* Integers of 4 bits: how products with `bits` = 4 (docs/ir.md) round their operands and where
 * panels have them. Terms are in groups of 32, the last perhaps fewer. A group of a column of b is
 * a scale, rounded to f16, times integers from -8 to 7, a group of a row of a one of f32 times
 * integers from -127 to 127.
 *
 * Two groups are a turn of a tile; missing groups and terms of a row are zero. A turn of a panel of
 * b has 9 rows of elements, of 4 bytes for each column: 4 rows for each group, whose elements have
 * 8 terms, and one of both scales, the first in the lower half. A term is 4 bits without sign, the
 * integer plus 8. Which bits depends on what is multiplied:
 *
 *   joined = 4   bytes: term i of an element is byte i % 4, its lower half if i is below 4
 *   joined = 2   words: term i has the bits from 4 · (i / 2) on of the word i % 2
 *
 * so that a mask, after a shift, leaves what meets one element of a. A turn of a row of a has the
 * terms of both groups, as i8 or i16, and then for each group the scale, f32, and minus 8 times the
 * sum of its integers, i32, where the group's sum of products begins. */
#ifndef RUNTIME_PRODUCT_NIBBLES_H
#define RUNTIME_PRODUCT_NIBBLES_H

#include "runtime/product/form.h"

/* Rounds a group of n terms of x, `step` apart, to integers in the same places of out; returns
 * their scale as f16, which is not finite if a term is not, or is too large. */
uint16_t nibbles_round(int64_t n, const float *x, int64_t step, int8_t *out);
/* As integers_pack_columns and integers_unpack_columns (integers.h). */
void nibbles_pack_columns(const TfcFormSizes *f, int64_t k, const float *x, int64_t x_k,
                          int64_t x_column, int64_t columns, void *panels, int64_t pitch);
void nibbles_unpack_columns(const TfcFormSizes *f, int64_t k, const void *panels, int64_t pitch,
                            float *x, int64_t x_k, int64_t x_column, int64_t columns);

#endif
