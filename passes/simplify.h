/* The part of simplify that other passes use. */
#ifndef PASSES_SIMPLIFY_H
#define PASSES_SIMPLIFY_H

#include "passes/pass.h"

bool pass_simplify(Function *function, PassContext *context);
/* Merges equal ops with equal operands; returns whether there were any. */
bool merge_equal_ops(Function *function);

#endif
