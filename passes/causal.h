/* Whether attention is causal, proved from its graph. */
#ifndef PASSES_CAUSAL_H
#define PASSES_CAUSAL_H

#include "ir/graph.h"

/* Whether the graph proves that v is 0 wherever the position along axis `key` is greater than the
 * position along axis `query`. Both axes have the dimension `time`. A constant of -1e9 or less
 * counts as -inf. */
bool is_causal(const Value *v, int time, int query, int key);

#endif
