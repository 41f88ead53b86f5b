/* What derive.c, derive_pieces.c and batch_sums.c share. */
#ifndef PASSES_DERIVE_H
#define PASSES_DERIVE_H

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

#endif
