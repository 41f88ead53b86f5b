/* Finds values that are made of params alone: they do not change until the params do. */
#ifndef PASSES_PREPACK_H
#define PASSES_PREPACK_H

#include "ir/side.h"
#include "passes/pass.h"

/* A number for each op of the body: 1 if it is a param, except a decoding step's cache, or if it
 * has operands and all of them have a 1; else 0. In the module's arena. */
SideTable find_made_of_params(const Function *function);
bool pass_prepack(Function *function, PassContext *context);

#endif
