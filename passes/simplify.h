/* The part of simplify that other passes use. */
#ifndef PASSES_SIMPLIFY_H
#define PASSES_SIMPLIFY_H

#include "passes/pass.h"

bool pass_simplify(Function *function, PassContext *context);
/* Merges ops of the same kind, operands, attributes and type, except effects and regions; returns
 * whether it merged any. */
bool merge_equal_ops(Function *function);

#endif
