/* Copying functions, removing dead ops, ordering ops: what most passes need. */
#ifndef PASSES_CLONE_H
#define PASSES_CLONE_H

#include "ir/builder.h"
#include "ir/side.h"

/* A new function of the same module, with that name and copies of the ops. */
Function *clone_function(const Function *function, const char *name);
/* Copies one op; the copy stands in no block yet. `copies` maps values to the values that the copy
 * reads instead, and gets the copy's results. */
Op *clone_op(Function *into, const Op *op, SideTable *copies);
/* Removes ops whose results have no uses, but no effects and no `append`; returns how many. */
int remove_dead(Function *function);
/* Orders the body so that operands precede their uses, changing the present order little. */
void order_ops(Function *function);
Op *find_output(const Function *function, const char *name); /* NULL if absent */
Op *find_input(const Function *function, const char *name);  /* NULL if absent */

#endif
