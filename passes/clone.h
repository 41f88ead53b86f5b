/* Copying functions, removing dead ops, ordering ops: what most passes need. */
#ifndef PASSES_CLONE_H
#define PASSES_CLONE_H

#include "ir/builder.h"
#include "ir/side.h"

/* Adds a function of that name to the module, with copies of the ops. */
Function *clone_function(const Function *function, const char *name);
/* Copies one op, with its body; the copy stands in no block yet. `copies` maps values to the values
 * that the copy reads instead. It gets entries from the op's results to the copy's. NULL, of an op
 * without a body: the copy reads what the op reads. */
Op *clone_op(Function *into, const Op *op, SideTable *copies);
/* Removes ops whose results have no uses, except effects and `append`; returns how many it
 * removed. */
int remove_dead(Function *function);
/* Removes the op, whose results have no uses, and then those of its operands' ops that would be
 * dead without it. */
void remove_unused(Function *function, Op *op);
/* Orders the body so that operands precede their uses, changing the present order little. */
void order_ops(Function *function);
Op *find_output(const Function *function, const char *name); /* NULL if absent */
Op *find_input(const Function *function, const char *name);  /* NULL if absent */

#endif
