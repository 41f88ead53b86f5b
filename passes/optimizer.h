/* The optimizer as ops: it goes through fusion like everything else. */
#ifndef PASSES_OPTIMIZER_H
#define PASSES_OPTIMIZER_H

#include "ir/builder.h"
#include "passes/pass.h"

/* Appends clipping by global norm and the update of n params from their
 * gradients. Adds inputs "rate" and "step" and output "gradient_norm"; slots
 * become params "optimizer.m.NAME", "optimizer.v.NAME". `norm`: a scalar f64, where it is known;
 * NULL: it is computed. */
void build_optimizer(Function *function, const OptimizerSpec *spec, int n, Value *const *params,
                     Value *const *gradients, Value *norm);

/* The function's assigns leave all as it was where the norm of the gradient, a scalar, is not finite. */
void hold_states(Function *function, Value *norm);

/* The kinds of slots that a param has, "m" and "v"; ends with NULL. */
const char *const *optimizer_slots(const OptimizerSpec *spec);
/* A slot's name, in the arena. */
const char *optimizer_slot_name(Arena *arena, const char *kind, const char *param);
/* Whether a tensor of a checkpoint is a slot, by its name. */
bool optimizer_is_slot(const char *name);

#endif
