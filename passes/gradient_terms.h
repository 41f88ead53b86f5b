/* GradientTerms: splits a gradient into its sparse terms, such as those from gathers, and its other
 * terms. */
#ifndef PASSES_GRADIENT_TERMS_H
#define PASSES_GRADIENT_TERMS_H

#include "ir/side.h"

/* A number for each op of the body: 1 if its result is sparse: a scatter_add, an add of two sparse
 * values, or a mul with a sparse operand; else 0. In the module's arena. */
SideTable find_sparse(const Function *function);

/* GradientTerms: the sum of the terms of each kind; NULL: there are no terms of that kind. */
typedef struct GradientTerms {
    Value *dense, *sparse;
} GradientTerms;

/* Splits a sum ((a + b) + c) + … by its terms; a right operand is one term, even if it is a sum.
 * Each new add stands right behind the old add of the same term, so that the sums are computed as
 * early as possible. The old adds stay. A sum whose terms are all of one kind is returned as it
 * is. */
GradientTerms split_terms(Function *function, const SideTable *sparse, Value *sum);

#endif
