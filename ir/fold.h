/* Results of elementwise ops on known numbers: constants of a graph and of the language. The
 * oracle has rules of its own, which share nothing with these. */
#ifndef IR_FOLD_H
#define IR_FOLD_H

#include "ir/graph.h"

/* The value in f64, which the caller rounds to the result's type `dtype`. NaN goes
 * through, also through relu, max and min. False: the result does not follow from the
 * operands alone (dropout), or f64 does not give what integers would (division, powers, casts). */
bool fold_value(OpKind kind, DType dtype, const double *operands, double *value);

#endif
