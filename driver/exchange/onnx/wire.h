/* Writing protocol buffers' wire format (runtime/text/sentencepiece/proto.h reads it), and the
 * numbers of ONNX's messages: each enumerator is a field or a value of onnx.proto under its own
 * name. */
#ifndef DRIVER_EXCHANGE_ONNX_WIRE_H
#define DRIVER_EXCHANGE_ONNX_WIRE_H

#include "base/text.h"

enum { MODEL_ir_version = 1, MODEL_producer_name = 2, MODEL_producer_version = 3, MODEL_graph = 7 };
enum { MODEL_opset_import = 8 };
enum { OPSET_version = 2 };
enum { GRAPH_node = 1, GRAPH_name = 2, GRAPH_initializer = 5, GRAPH_input = 11, GRAPH_output = 12 };
enum { NODE_input = 1, NODE_output = 2, NODE_name = 3, NODE_op_type = 4, NODE_attribute = 5 };
enum { ATTRIBUTE_name = 1, ATTRIBUTE_i = 3, ATTRIBUTE_s = 4, ATTRIBUTE_t = 5 };
enum { ATTRIBUTE_ints = 8, ATTRIBUTE_type = 20 };
enum { ATTRIBUTE_TYPE_INT = 2, ATTRIBUTE_TYPE_STRING = 3, ATTRIBUTE_TYPE_TENSOR = 4 };
enum { ATTRIBUTE_TYPE_INTS = 7 };
enum { TENSOR_dims = 1, TENSOR_data_type = 2, TENSOR_name = 8, TENSOR_raw_data = 9 };
enum { VALUE_INFO_name = 1, VALUE_INFO_type = 2 };
enum { TYPE_tensor_type = 1 };
enum { TYPE_TENSOR_elem_type = 1, TYPE_TENSOR_shape = 2 };
enum { SHAPE_dim = 1, DIMENSION_dim_value = 1, DIMENSION_dim_param = 2 };
typedef enum OnnxType {
    ONNX_FLOAT = 1,
    ONNX_INT32 = 6,
    ONNX_INT64 = 7,
    ONNX_BOOL = 9,
    ONNX_DOUBLE = 11,
    ONNX_BFLOAT16 = 16
} OnnxType;

/* These append a field to a message. */
void wire_int(Text *message, int field, int64_t value);
void wire_float(Text *message, int field, float value);
void wire_bytes(Text *message, int field, const void *bytes, size_t size);
void wire_string(Text *message, int field, const char *string);
/* A message as a field: the part's bytes are copied, and the part is freed. */
void wire_message(Text *message, int field, Text *part);

#endif
