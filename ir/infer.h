/* Type inference and checking, one rule a column of ops.def. */
#ifndef IR_INFER_H
#define IR_INFER_H

#include "ir/graph.h"

/* Gives the type of an op's single result from its operands and attributes.
 * `declared` rules (input, param, const, iota, …) take the type already set.
 * Reports what does not fit: the op, the rule, the types; returns false. */
bool infer_type(const Module *module, const Op *op, Type *type, Diagnostics *diags);

/* numpy broadcasting of two shapes; false if they do not fit. */
bool shape_broadcast(const Type *a, const Type *b, Type *out);

#endif
