/* Builds the optimizer as ops, which are fused like any others. */
#ifndef PASSES_OPTIMIZER_H
#define PASSES_OPTIMIZER_H

#include "ir/builder.h"
#include "passes/pass.h"

#define OPTIMIZER_SLOTS "optimizer." /* begins the name of every slot */

/* Appends clipping by global norm, if spec asks for it, and the update of n params from their
 * gradients. Adds inputs "rate" and "step", and output "gradient_norm". Slots are params
 * "optimizer.m.NAME" and "optimizer.v.NAME" (optimizer_slots). `norm`: the norm of all gradients, a
 * scalar f64; NULL: the function computes it. If the output "loss" or the norm is not finite, or
 * the update may leave the range of f32, params, slots and the states that the function assigns
 * stay as they are. With n = 0 and no norm there is no such check, and no output. */
void build_optimizer(Function *function, const OptimizerSpec *spec, int n, Value *const *params,
                     Value *const *gradients, Value *norm);

/* Makes the function's assigns change nothing if `norm`, the gradient's norm, a scalar, is not
 * finite. */
void hold_states(Function *function, Value *norm);

/* The kinds of slots that the optimizer keeps for each param: none, "m", or "m" and "v". The list
 * ends with NULL. */
const char *const *optimizer_slots(const OptimizerSpec *spec);
/* A slot's name, in the arena. */
const char *optimizer_slot_name(Arena *arena, const char *kind, const char *param);
/* Whether a name, such as of a tensor in a checkpoint, is a slot's. */
bool optimizer_is_slot(const char *name);

#endif
