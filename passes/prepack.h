/* Finds values that are computed from params alone: they change only when the params do. */
#ifndef PASSES_PREPACK_H
#define PASSES_PREPACK_H

#include "ir/side.h"
#include "passes/pass.h"

/* Of a param: whether it is a decoding step's cache. */
bool is_cache(const Value *param);
/* A number for each op of the body: 1 for a param, except a decoding step's cache, and for an op
 * with operands that are all results of ops with a 1; else 0. In the module's arena. */
SideTable find_made_of_params(const Function *function);
/* Whether all that reads the param are products, through transposes, too, and lookups in it. */
bool is_table(const Value *param);
/* Whether the function's products by weights read panels: it answers (forward, predict, encode), or
 * is a decoding step. */
bool reads_panels(const Function *function);
bool pass_prepack(Function *function, PassContext *context);

#endif
