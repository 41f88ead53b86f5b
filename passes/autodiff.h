/* Reverse-mode differentiation of the graph. */
#ifndef PASSES_AUTODIFF_H
#define PASSES_AUTODIFF_H

#include "ir/builder.h"

/* Appends to the function the gradient of `scale` × loss with respect to each of the n values; loss
 * and scale are scalars of one type. out[i] has the type of wrt[i]; it is zeros if no gradient
 * reaches that value. No gradient flows through an op whose result is not a float, or whose rule
 * in ir/ops.def is `zero` (such as floor and stop_gradient). */
void autodiff(Function *function, Value *loss, Value *scale, int n, Value *const *wrt, Value **out);

#endif
