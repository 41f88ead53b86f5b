/* Whether attention is causal, proved from its graph. */
#ifndef PASSES_CAUSAL_H
#define PASSES_CAUSAL_H

#include "ir/graph.h"

/* Whether v is 0 wherever the position along axis `key` is greater than that along
 * axis `query`; both run along the dimension `time`. False if the graph does not prove it. */
bool is_causal(const Value *v, int time, int query, int key);

#endif
