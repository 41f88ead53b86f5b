/* The numbers of ONNX's messages (base/proto.h): each enumerator is a field or a value of
 * onnx.proto under its own name. */
#ifndef DRIVER_FORMATS_ONNX_FIELDS_H
#define DRIVER_FORMATS_ONNX_FIELDS_H

enum { MODEL_ir_version = 1, MODEL_producer_name = 2, MODEL_producer_version = 3, MODEL_graph = 7 };
enum { MODEL_opset_import = 8 };
enum { OPSET_version = 2 };
enum { GRAPH_node = 1, GRAPH_name = 2, GRAPH_initializer = 5, GRAPH_input = 11, GRAPH_output = 12 };
enum { NODE_input = 1, NODE_output = 2, NODE_name = 3, NODE_op_type = 4, NODE_attribute = 5 };
enum { ATTRIBUTE_name = 1, ATTRIBUTE_i = 3, ATTRIBUTE_s = 4, ATTRIBUTE_t = 5 };
enum { ATTRIBUTE_ints = 8, ATTRIBUTE_type = 20 };
enum { ATTRIBUTE_TYPE_INT = 2, ATTRIBUTE_TYPE_STRING = 3, ATTRIBUTE_TYPE_TENSOR = 4 };
enum { ATTRIBUTE_TYPE_INTS = 7 };
enum { TENSOR_dims = 1, TENSOR_data_type = 2, TENSOR_float_data = 4, TENSOR_int32_data = 5 };
enum { TENSOR_int64_data = 7, TENSOR_name = 8, TENSOR_raw_data = 9, TENSOR_double_data = 10 };
enum { TENSOR_external_data = 13, TENSOR_data_location = 14, DATA_LOCATION_EXTERNAL = 1 };
enum { ENTRY_key = 1, ENTRY_value = 2 };
enum { VALUE_INFO_name = 1, VALUE_INFO_type = 2 };
enum { TYPE_tensor_type = 1 };
enum { TYPE_TENSOR_elem_type = 1, TYPE_TENSOR_shape = 2 };
enum { SHAPE_dim = 1, DIMENSION_dim_value = 1, DIMENSION_dim_param = 2 };
typedef enum OnnxType {
    ONNX_FLOAT = 1,
    ONNX_UINT8 = 2,
    ONNX_INT8 = 3,
    ONNX_INT16 = 5,
    ONNX_INT32 = 6,
    ONNX_INT64 = 7,
    ONNX_BOOL = 9,
    ONNX_FLOAT16 = 10,
    ONNX_DOUBLE = 11,
    ONNX_BFLOAT16 = 16
} OnnxType;

#endif
