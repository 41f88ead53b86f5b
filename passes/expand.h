/* What other passes know of reductions after expand. */
#ifndef PASSES_EXPAND_H
#define PASSES_EXPAND_H

#include "passes/pass.h"

bool pass_expand(Function *function, PassContext *context);
/* Whether the pass would leave the function as it is: what the passes after it need. */
bool is_expanded(const Function *function);
/* Whether a reduction runs along the last storage axis alone (a row region can
 * hold it); otherwise it runs along others alone (a column region's). */
bool is_row_reduction(const Module *module, const Op *op);

#endif
