/* Builds the optimizer as ops, which are fused like all others. */
#ifndef PASSES_OPTIMIZER_H
#define PASSES_OPTIMIZER_H

#include "ir/builder.h"
#include "passes/pass.h"

#define OPTIMIZER_SLOTS "optimizer." /* begins the name of every slot */

/* Appends clipping by global norm and the update of n params from their gradients. Adds inputs
 * "rate" and "step" and output "gradient_norm"; slots are params "optimizer.m.NAME",
 * "optimizer.v.NAME". `norm`: the norm of all gradients, a scalar f64; NULL: the function computes
 * it. If the loss, the norm or the update is not finite, the function changes no param. */
void build_optimizer(Function *function, const OptimizerSpec *spec, int n, Value *const *params,
                     Value *const *gradients, Value *norm);

/* Makes the function's assigns change nothing if the norm of the gradient, a scalar, is not
 * finite. */
void hold_states(Function *function, Value *norm);

/* The kinds of slots that the optimizer keeps for each param, of "m" and "v"; ends with NULL. */
const char *const *optimizer_slots(const OptimizerSpec *spec);
/* A slot's name, in the arena. */
const char *optimizer_slot_name(Arena *arena, const char *kind, const char *param);
/* Whether a tensor of a checkpoint is a slot, by its name. */
bool optimizer_is_slot(const char *name);

#endif
