/* Ragged dimensions as ONNX has them: padded tensors and lengths.
 *
 * The rule: positions past a row's length may hold anything. A node that reduces along such a
 * dimension, or along its batch, first writes the neutral element there: 0 for a sum and a product,
 * -inf for a maximum or a softmax. Outputs have zeros there. */
#ifndef DRIVER_EXCHANGE_ONNX_RAGGED_H
#define DRIVER_EXCHANGE_ONNX_RAGGED_H

#include "driver/exchange/onnx/graph.h"

/* Finds the input that gives each dimension of the function, and declares NAME.lengths after the
 * first input with a ragged dimension. False after errors. */
bool ragged_declare(OnnxGraph *g, const Function *function);
/* Whether the param is an input and an output: a cache, or a param that the function assigns to. */
bool ragged_is_state(const Op *param);

/* int64 [batch]: the lengths of a ragged dimension. NULL after an error: no input has them. */
const char *ragged_lengths(OnnxGraph *g, int symbol);
/* The tensor with the neutral element where positions along these axes do not exist; of a bool
 * tensor always false. */
const char *ragged_fill(OnnxGraph *g, const char *x, const Type *type, int n, const int *axes,
                        double neutral);
/* The same along all ragged axes, with zeros. */
const char *ragged_clean(OnnxGraph *g, const char *x, const Type *type);

#endif
