/* What is made of params alone, and so is the same at every run until they change. */
#ifndef PASSES_PREPACK_H
#define PASSES_PREPACK_H

#include "ir/side.h"
#include "passes/pass.h"

/* Made of params: a number of each op of the body, 1 where it is a param or all its operands are made of
 * params; 0 elsewhere, for a cache of a decoding step and what is made of it, too. In the module's arena. */
SideTable find_made_of_params(const Function *function);
bool pass_prepack(Function *function, PassContext *context);

#endif
