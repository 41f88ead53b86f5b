/* Integers in groups: how products with a `quant` that has them (base/quants.def) round their
 * operands, and where panels have them. Terms are in groups of 32, the last perhaps fewer. A group
 * of a row of a is a scale, f32, times integers from -127 to 127. A group of a column of b is,
 * with scales and minima of f16,
 *
 *   8 bits              a scale times integers from -127 to 127
 *   4 bits              a scale times integers from -8 to 7
 *   4 bits, a minimum   the minimum plus a scale times integers from 0 to 15
 *
 * which groups_rule.h chooses.
 *
 * Two groups are a turn of a tile; missing groups and terms of a row are zero. A turn of a panel of
 * b has rows of elements, of 4 bytes for each column: rows of terms, 4 or 8 to an element, then one
 * of both scales, the first in the lower half, and perhaps one of both minima. A term has no sign:
 * it is the integer plus 128, or plus 8, or as it is with a minimum. Which bits of an element it
 * has depends on what is multiplied (group_shift):
 *
 *   joined = 4   bytes: term i of an element is byte i % 4, its lower half if of 4 bits i is below
 *                4. Those of 8 bits have their sign, and nothing is added
 *   joined = 2   words: term i has the bits from `bits` · (i / 2) on of the word i % 2
 *
 * so that a mask, after a shift, leaves what meets one element of a. A turn of a row of a has the
 * terms of both groups, as i8 or i16, and then for each group the scale, f32, and the sum of its
 * integers, i32, times minus what is added to those of b, where the group's sum of products begins;
 * with a minimum the sum as it is. */
#ifndef RUNTIME_PRODUCT_GROUPS_H
#define RUNTIME_PRODUCT_GROUPS_H

#include "runtime/product/groups_rule.h"

/* Rounds a group of n terms of x, `step` apart, to integers in the same places of out. */
GroupScale groups_round(Quant quant, int64_t n, const float *x, int64_t step, int8_t *out);
/* A group of magnitudes below this has a finite scale, and a finite minimum. */
float groups_limit(Quant quant);
/* As integers_pack_columns and integers_unpack_columns (integers.h). */
void groups_pack_columns(const TfcFormSizes *f, int64_t k, const float *x, int64_t x_k,
                         int64_t x_column, int64_t columns, void *panels, int64_t pitch);
void groups_unpack_columns(const TfcFormSizes *f, int64_t k, const void *panels, int64_t pitch,
                           float *x, int64_t x_k, int64_t x_column, int64_t columns);

#endif
