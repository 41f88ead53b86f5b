/* What derive.c, derive_pieces.c and batch_sums.c share. */
#ifndef PASSES_DERIVE_H
#define PASSES_DERIVE_H

#include "ir/builder.h"
#include "ir/side.h"
#include "passes/pass.h"

typedef enum Keep { KEEP_OUTPUTS, KEEP_LOSS, KEEP_BOTH } Keep;

/* A copy of the model with the outputs that `keep` names. With `training` it has dropout and
 * assigns states; without, neither. Random numbers are 1 unless `keep` is KEEP_LOSS. */
Function *derive(Module *module, ModelFunction which, bool training, Keep keep);
Function *derive_named(Module *module, const char *name, bool training, Keep keep);
bool is_loss(const Op *op); /* whether it is the output "loss" */
/* Removes the effects for which is_dropped holds, and the ops that only they needed. */
void drop_effects(Function *function, bool (*is_dropped)(const Op *op));

/* Trained: params of a function and the gradients of its loss. */
typedef struct Trained {
    int n;
    Value **params, **gradients;
} Trained;
/* Differentiates `scale` × loss by every trained param that the function reads. */
Trained differentiate(Function *function, Value *scale);
Value *unit_scale(Function *function); /* a scalar 1 of the loss's type */
/* The params of the model that its loss depends on: name → Value*. */
Map params_of_loss(const Function *model);

/* ---- gradient_terms.c ---- */

/* GradientTerms: splits a gradient into its sparse terms, such as those from gathers, and its other
 * terms. */

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

/* ---- autodiff.c ---- */

/* Reverse-mode differentiation of the graph. */

/* Appends to the function the gradient of `scale` × loss with respect to each of the n values; loss
 * and scale are scalars of one type. out[i] has the type of wrt[i]; it is zeros if no gradient
 * reaches that value. No gradient flows through an op whose result is not a float, or whose rule
 * in ir/ops.def is `zero` (such as floor and stop_gradient). */
void autodiff(Function *function, Value *loss, Value *scale, int n, Value *const *wrt, Value **out);

#endif
