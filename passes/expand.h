/* What other passes know about reductions after expand. */
#ifndef PASSES_EXPAND_H
#define PASSES_EXPAND_H

#include "passes/pass.h"

bool pass_expand(Function *function, PassContext *context);
/* Whether the function is expanded, as later passes need it: it has no op that the pass
 * rewrites. */
bool is_expanded(const Function *function);
/* Whether a reduction runs along the last storage axis alone, and that axis is not packed tokens: a
 * row region can contain it. After expand every other reduction runs along other axes alone: a
 * column region's. */
bool is_row_reduction(const Module *module, const Op *op);

#endif
