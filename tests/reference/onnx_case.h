/* One case of the ONNX conformance suite, and its op said as a .tfg model: input X of
 * the case is the model's input in_X, output Y its output out_Y. */
#ifndef TESTS_REFERENCE_ONNX_CASE_H
#define TESTS_REFERENCE_ONNX_CASE_H

#include "base/json_read.h"
#include "runtime/data/safetensors.h"

typedef struct OnnxCase {
    const char *name, *op;
    const JsonValue *attributes, *inputs, *outputs; /* names in order; "" where left out */
    const StFile *file;                             /* tensors in.X and out.Y */
    Arena *arena;
} OnnxCase;

/* The i-th input; NULL where the case leaves it out. */
const StTensor *case_input(const OnnxCase *c, size_t i);
const char *case_input_name(const OnnxCase *c, size_t i); /* "in_X" */
/* "out_Y"; NULL where the case leaves the i-th output out. */
const char *case_output_name(const OnnxCase *c, size_t i);
double case_number(const OnnxCase *c, const char *attribute, double otherwise);
bool case_has(const OnnxCase *c, const char *attribute);

/* Adds the model. NULL, or why the language cannot say it. */
const char *say_case(const OnnxCase *c, Text *model);

/* The ops with a file of their own. */
void say_attention(const OnnxCase *c, Text *model);
void say_loss(const OnnxCase *c,
              Text *model); /* SoftmaxCrossEntropyLoss, NegativeLogLikelihoodLoss */

/* "[2, 3]" of a part of the dimensions. */
const char *dims_text(const OnnxCase *c, const StTensor *tensor, int from, int to);

#endif
