/* Reverse-mode differentiation of the graph. */
#ifndef PASSES_AUTODIFF_H
#define PASSES_AUTODIFF_H

#include "ir/builder.h"

/* Appends to the function the gradient of `scale` × loss with respect to each of
 * the n values; loss and scale are scalars. out[i] is of the type of wrt[i]: a
 * value the loss does not depend on gets zeros. Ops behind an integer, a
 * comparison or `stop_gradient` receive nothing. */
void autodiff(Function *function, Value *loss, Value *scale, int n, Value *const *wrt, Value **out);

#endif
