/* What other passes use of simplify. */
#ifndef PASSES_SIMPLIFY_H
#define PASSES_SIMPLIFY_H

#include "passes/pass.h"

bool pass_simplify(Function *function, PassContext *context);
/* Equal ops with equal operands become one; returns whether any were. */
bool merge_equal_ops(Function *function);

#endif
