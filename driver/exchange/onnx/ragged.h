/* Ragged dimensions as ONNX has them: padded tensors and lengths.
 *
 * The one rule: positions past a row's length hold anything, and whoever goes along such a
 * dimension, or along its batch, puts the neutral element there first: 0 for a sum and a product,
 * -inf for a maximum or a softmax. Outputs have zeros there. */
#ifndef DRIVER_EXCHANGE_ONNX_RAGGED_H
#define DRIVER_EXCHANGE_ONNX_RAGGED_H

#include "driver/exchange/onnx/graph.h"

/* Finds what input tells each dimension of the function, and declares NAME.lengths behind the
 * first input with a ragged one. False after errors. */
bool ragged_declare(OnnxGraph *g, const Function *function);
/* Whether the param is an input and an output: a cache, or what the function assigns to. */
bool ragged_is_state(const Op *param);

/* int64 [batch]: the lengths of a ragged dimension. */
const char *ragged_lengths(OnnxGraph *g, int symbol);
/* The tensor with the neutral element where positions along these axes do not exist. */
const char *ragged_fill(OnnxGraph *g, const char *x, const Type *type, int n, const int *axes,
                        double neutral);
/* Along all axes, with zeros. */
const char *ragged_clean(OnnxGraph *g, const char *x, const Type *type);

#endif
