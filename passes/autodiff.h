/* Reverse-mode differentiation of the graph. */
#ifndef PASSES_AUTODIFF_H
#define PASSES_AUTODIFF_H

#include "ir/builder.h"

/* Appends to the function the gradient of `scale` × loss with respect to each of
 * the n values; loss and scale are scalars. out[i] has the type of wrt[i]; it is zeros
 * if the loss does not depend on that value. No gradient flows through an integer, a
 * comparison or `stop_gradient`. */
void autodiff(Function *function, Value *loss, Value *scale, int n, Value *const *wrt, Value **out);

#endif
