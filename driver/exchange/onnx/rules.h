/* How ops are written in ONNX (rules.def): say_RULE writes an op's nodes and returns the name of
 * its result; NULL after an error. */
#ifndef DRIVER_EXCHANGE_ONNX_RULES_H
#define DRIVER_EXCHANGE_ONNX_RULES_H

#include "driver/exchange/onnx/graph.h"

typedef const char *OnnxRule(OnnxGraph *g, const Op *op, const char *onnx);

/* The name of operand i. */
static inline const char *onnx_arg(const OnnxGraph *g, const Op *op, int i)
{
    return g->value[op->args[i]->id];
}

OnnxRule say_none, say_node, say_const, say_iota, say_size, say_lengths, say_expm1, say_log1p,
    say_rsqrt, say_cast, say_reduce, say_softmax; /* rules.c */
OnnxRule say_reshape, say_transpose, say_broadcast, say_slice, say_pad, say_concat, say_flip,
    say_dot, say_gather, say_grouped_dot, say_lookup, say_top_k, say_append; /* rules_shape.c */

#endif
