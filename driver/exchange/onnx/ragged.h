/* Ragged dimensions as ONNX has them: padded tensors and lengths.
 *
 * The rule: positions past a row's length may have any values. Before a node that reduces along
 * such a dimension, or along its batch, the neutral element is written there: 0 for a sum or a dot,
 * the least value for a maximum, -inf for a softmax. Outputs have zeros there. */
#ifndef DRIVER_EXCHANGE_ONNX_RAGGED_H
#define DRIVER_EXCHANGE_ONNX_RAGGED_H

#include "driver/exchange/onnx/graph.h"

/* Declares the inputs and states of a function, and NAME.lengths after the first of them with a
 * ragged dimension; finds the input that gives each dimension. False after errors. */
bool ragged_declare(OnnxGraph *g, const Function *function);
/* Whether the param is a state: it has a dimension that is not a constant, as a cache has, or the
 * function assigns to it. */
bool ragged_is_state(const Op *param);

/* int64 [batch]: the lengths of a ragged dimension. If no input has them, an input called after the
 * dimension is declared: "S.lengths". NULL after an error. */
const char *ragged_lengths(OnnxGraph *g, int symbol);
/* The tensor with `neutral` (in a bool tensor: false) past the rows' lengths along those ragged
 * axes that are among `axes`, or whose batch axis is. */
const char *ragged_fill(OnnxGraph *g, const char *x, const Type *type, int n, const int *axes,
                        double neutral);
/* ragged_fill along all ragged axes, with zeros. */
const char *ragged_clean(OnnxGraph *g, const char *x, const Type *type);

#endif
