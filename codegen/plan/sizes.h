/* Sizes that are known only at run time, as products (TfcSize) in a normal form:
 * factors sorted, none if the coefficient is 0, so that equal products compare
 * equal. */
#ifndef CODEGEN_PLAN_SIZES_H
#define CODEGEN_PLAN_SIZES_H

#include "runtime/exec/program.h"

TfcSize size_const(int64_t value);
TfcSize size_dim(int dim, TfcQuantity quantity);
TfcSize size_product(TfcSize a, TfcSize b); /* asserts that the factors have room */
TfcSize size_scaled(TfcSize a, int64_t by);
bool size_equal(const TfcSize *a, const TfcSize *b);
static inline bool size_is_const(const TfcSize *size) { return size->n_factors == 0; }
static inline bool size_is(const TfcSize *size, int64_t value)
{
    return size->n_factors == 0 && size->coefficient == value;
}
/* *out = a / b, if the factors and the coefficient of b divide those of a; else false, and *out is
 * undefined. */
bool size_divide(TfcSize a, TfcSize b, TfcSize *out);

#endif
