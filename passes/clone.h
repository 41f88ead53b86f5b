/* Copies of functions, and what most passes need of uses and dead ops. */
#ifndef PASSES_CLONE_H
#define PASSES_CLONE_H

#include "ir/builder.h"
#include "ir/side.h"

/* A new function of that name with the same ops. */
Function *clone_function(const Function *function, const char *name);
/* One op. `copies` has of values what is read instead of them, if anything, and gets the
 * op's results. */
Op *clone_op(Function *into, const Op *op, SideTable *copies);
/* Removes ops whose results nobody uses and that leave nothing behind. */
int remove_dead(Function *function);
/* Puts the body in an order in which operands come first, close to the present one. */
void order_ops(Function *function);
Op *find_output(const Function *function, const char *name); /* NULL if absent */
Op *find_input(const Function *function, const char *name);

#endif
