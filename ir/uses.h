/* Between graph.c and uses.c: an op's operands in the lists of their values. */
#ifndef IR_USES_H
#define IR_USES_H

#include "ir/graph.h"

/* Each does nothing where it is done already. */
void op_list_uses(Op *op);
void op_unlist_uses(Op *op);

#endif
