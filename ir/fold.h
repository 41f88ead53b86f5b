/* What elementwise ops give of known numbers: for constants of a graph and of the
 * language alike. The oracle has rules of its own, which share nothing with these. */
#ifndef IR_FOLD_H
#define IR_FOLD_H

#include "ir/graph.h"

/* The value in f64, which the caller rounds to the result's type `dtype`. NaN goes
 * through, also through relu, max and min. false: it is not a matter of operands alone
 * (dropout), or one of integers that f64 does not tell (division, powers, casts). */
bool fold_value(OpKind kind, DType dtype, const double *operands, double *value);

#endif
