/* The ONNX graph that is being written: nodes, constants, inputs, outputs.
 *
 * A tensor is represented by its name. Equal nodes with equal operands are one node, so a rule
 * (rules.h) may ask for a node that exists already. Ragged dimensions are padded: see ragged.h. */
#ifndef DRIVER_EXCHANGE_ONNX_GRAPH_H
#define DRIVER_EXCHANGE_ONNX_GRAPH_H

#include "base/proto.h"
#include "driver/formats/onnx_fields.h"
#include "driver/job.h"
#include "ir/graph.h"

/* OnnxDim: where the size of a dimension comes from when the model is run. */
typedef struct OnnxDim {
    const char *of; /* an input that has the dimension; NULL: none */
    int axis;
    const char *size;    /* an input that says it, where no other has the dimension; NULL: none */
    const char *lengths; /* the input with the lengths; NULL: none yet, or it is not ragged */
} OnnxDim;

typedef struct OnnxGraph {
    Job *job;
    const Module *module;
    Text bytes;         /* of the message GraphProto */
    Map nodes;          /* what a node computes, as text → its output */
    Map names;          /* of inputs, outputs and params */
    OnnxDim *dims;      /* one for each symbol of the module */
    const char **value; /* by a value's id: the name of its tensor */
    const char *scope;  /* of the current op */
    int n_nodes;
} OnnxGraph;

typedef struct OnnxAttr {
    const char *name;
    enum { ONNX_INT, ONNX_INTS, ONNX_STRING } kind;
    int n;           /* how many ints; 1 of ONNX_INT */
    const int *ints; /* of ONNX_INT and ONNX_INTS */
    const char *s;
} OnnxAttr;
#define ATTR_INT(attr, value)                                                   \
    {                                                                           \
        .name = attr, .kind = ONNX_INT, .n = 1, .ints = (const int[]) { value } \
    }
#define ATTR_INTS(attr, count, values) {.name = attr, .kind = ONNX_INTS, .n = count, .ints = values}
#define ATTR_STRING(attr, value) {.name = attr, .kind = ONNX_STRING, .s = value}

OnnxType onnx_type(DType dtype);

/* The output of a node of that type. NULL: an operand is NULL, because making that operand was an
 * error. All functions below that take operands do the same. */
const char *onnx_node(OnnxGraph *g, const char *type, int n_args, const char *const *args,
                      int n_attrs, const OnnxAttr *attrs);
/* The second of its two outputs; of a type of nodes that onnx_node does not write. */
const char *onnx_second(OnnxGraph *g, const char *type, int n_args, const char *const *args,
                        int n_attrs, const OnnxAttr *attrs);
static inline const char *onnx_unary(OnnxGraph *g, const char *type, const char *a)
{
    return onnx_node(g, type, 1, &a, 0, NULL);
}
static inline const char *onnx_binary(OnnxGraph *g, const char *type, const char *a, const char *b)
{
    return onnx_node(g, type, 2, (const char *[]){a, b}, 0, NULL);
}
const char *onnx_where(OnnxGraph *g, const char *condition, const char *a, const char *b);
const char *onnx_cast(OnnxGraph *g, const char *x, OnnxType type);
const char *onnx_transpose(OnnxGraph *g, const char *x, int rank, const int *perm);
/* The tensor with dimensions of 1 inserted at these axes of the result. */
const char *onnx_unsqueeze(OnnxGraph *g, const char *x, int n, const int *axes);

/* Constants: int64 [n], and a scalar; a scalar of bf16 is an error, and NULL. */
const char *onnx_ints(OnnxGraph *g, int n, const int64_t *ints);
const char *onnx_scalar(OnnxGraph *g, OnnxType type, double value);
/* A shape as int64 [rank], and a dimension as int64 [1]: if no input has it, an input `NAME.size`
 * is declared. NULL after an error. */
const char *onnx_shape(OnnxGraph *g, const Type *type);
const char *onnx_dim(OnnxGraph *g, Dim dim);
/* What the formula of a dimension made of others makes of those: int64 [1] or [B], as of[i] is of
 * term i. */
const char *onnx_made(OnnxGraph *g, int symbol, const char *const *of);
/* int64 [dim]: 0, 1, 2, … */
const char *onnx_range(OnnxGraph *g, Dim dim);

/* Declarations. False after an error: the name is taken; or `value` is NULL. */
bool onnx_input(OnnxGraph *g, const char *name, OnnxType element, const Type *type);
bool onnx_output(OnnxGraph *g, const char *name, const char *value, const Type *type);
bool onnx_param(OnnxGraph *g, const char *name, DType dtype, int rank, const int64_t *dims,
                const void *data, size_t bytes);

#endif
