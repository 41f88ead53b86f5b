/* The optimizer as ops: it goes through fusion like everything else. */
#ifndef PASSES_OPTIMIZER_H
#define PASSES_OPTIMIZER_H

#include "ir/builder.h"
#include "passes/pass.h"

/* Appends clipping by global norm and the update of n params from their
 * gradients. Adds inputs "rate" and "step" and output "gradient_norm"; slots
 * become params "optimizer.m.NAME", "optimizer.v.NAME". */
void build_optimizer(Function *function, const OptimizerSpec *spec, int n, Value *const *params,
                     Value *const *gradients);

#endif
