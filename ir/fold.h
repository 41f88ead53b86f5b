/* Results of elementwise ops on known numbers: constants of a graph and of the language. The
 * oracle has rules of its own, which share nothing with these. */
#ifndef IR_FOLD_H
#define IR_FOLD_H

#include "ir/graph.h"

/* Computes the value in f64; the caller rounds it to the result's type `dtype`. relu, max and min
 * of NaN are NaN. False: the op is not elementwise, the result does not follow from the operands
 * alone (dropout), or f64 differs from integer arithmetic (division, powers, casts). */
bool fold_value(OpKind kind, DType dtype, const double *operands, double *value);

#endif
