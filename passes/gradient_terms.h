/* GradientTerms: splits a gradient into its sparse terms, such as the rows that gathers read, and
 * its other terms. */
#ifndef PASSES_GRADIENT_TERMS_H
#define PASSES_GRADIENT_TERMS_H

#include "ir/side.h"

/* A number for each op of the body: 1 if its result is sparse: a scatter_add, a sum of sparse
 * values, or a sparse value times another; else 0. In the module's arena. */
SideTable find_sparse(const Function *function);

/* GradientTerms: the sums of both kinds, NULL where there are none. */
typedef struct GradientTerms {
    Value *dense, *sparse;
} GradientTerms;

/* Splits a sum of terms ((a + b) + c) + …. The new sums take the old sum's place in the body, so
 * that each is computed as early as possible. */
GradientTerms split_terms(Function *function, const SideTable *sparse, Value *sum);

#endif
