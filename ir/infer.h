/* Type inference and checking, by the rule that an op's row in ops.def names. */
#ifndef IR_INFER_H
#define IR_INFER_H

#include "ir/graph.h"

/* The type of an op's single result, from its operands and attributes. The rules
 * `declared` (input, param, const, iota, …) and `region` check the types already
 * set. False after an error, which names the op and what is wrong. */
bool infer_type(const Module *module, const Op *op, Type *type, Diagnostics *diags);

/* numpy broadcasting of two shapes, with the element type of a; false: they do not fit, and *out is
 * not set. */
bool shape_broadcast(const Type *a, const Type *b, Type *out);

#endif
