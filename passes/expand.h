/* What other passes know about reductions after expand. */
#ifndef PASSES_EXPAND_H
#define PASSES_EXPAND_H

#include "passes/pass.h"

bool pass_expand(Function *function, PassContext *context);
/* Whether the function is expanded, as later passes need it: the pass would change nothing. */
bool is_expanded(const Function *function);
/* Whether a reduction runs along the last storage axis alone (a row region can
 * hold it); otherwise it runs along others alone (a column region's). */
bool is_row_reduction(const Module *module, const Op *op);

#endif
