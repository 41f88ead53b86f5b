/* The terms of a gradient: those that are mostly zeros, as the rows that gathers read have them, apart from
 * the others. */
#ifndef PASSES_GRADIENT_TERMS_H
#define PASSES_GRADIENT_TERMS_H

#include "ir/side.h"

/* Sparse: a number of each op of the body, 1 where it gives a scatter_add, a sum of such, or such a one
 * times something; 0 elsewhere. In the module's arena. */
SideTable find_sparse(const Function *function);

/* GradientTerms: the sums of both kinds, NULL where there are none. */
typedef struct GradientTerms {
    Value *dense, *sparse;
} GradientTerms;

/* Of a sum of terms ((a + b) + c) + …. Sums that are new stand where the sum of all stood, so that each is
 * known as early as may be. */
GradientTerms split_terms(Function *function, const SideTable *sparse, Value *sum);

#endif
