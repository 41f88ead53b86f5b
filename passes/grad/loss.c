/* Gradients of the sequence losses. */
#include "passes/grad/grad.h"

void grad_ctc(Grad *g, Op *op, Value *dy)
{
    grad_give(g, op, 0,
              build(&g->b, OP_ctc_grad, 3, (Value *[]){op->args[0], op->args[1], dy}, 0, NULL));
}
