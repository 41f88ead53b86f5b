/* What derive.c and derive_pieces.c share. */
#ifndef PASSES_DERIVE_H
#define PASSES_DERIVE_H

#include "passes/pass.h"

typedef enum Keep { KEEP_OUTPUTS, KEEP_LOSS, KEEP_BOTH } Keep;

/* A copy of the model for training or not, with the outputs that `keep` names. With `training` it
 * assigns states. */
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
/* Differentiates the loss, times `scale`, by every trained param the function uses. */
Trained differentiate(Function *function, Value *scale);
Value *unit_scale(Function *function); /* a scalar 1 of the loss's type */
/* The params of the model that its loss depends on: name → Value*. */
Map params_of_loss(const Function *model);

#endif
