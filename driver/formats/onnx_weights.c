/* Reading the messages that hold tensors; all others are passed over. */
#include "driver/formats/onnx_weights.h"

#include "driver/formats/tensor_list.h"
#include "runtime/text/sentencepiece/proto.h"

#include <string.h>

enum { MODEL_GRAPH = 7, GRAPH_NODE = 1, GRAPH_INITIALISER = 5 };
enum { NODE_OUTPUT = 2, NODE_ATTRIBUTE = 5, ATTRIBUTE_TENSOR = 5 };
enum {
    TENSOR_DIMS = 1,
    TENSOR_TYPE = 2,
    TENSOR_FLOATS = 4,
    TENSOR_INT32S = 5,
    TENSOR_INT64S = 7,
    TENSOR_NAME = 8,
    TENSOR_RAW = 9,
    TENSOR_DOUBLES = 10,
    TENSOR_EXTERNAL = 13,
};

/* The types by their numbers in TensorProto.DataType, and the field of numbers that are not raw. */
static const struct {
    uint64_t number;
    StType type;
    uint32_t field;
} types[] = {
    {1, ST_F32, TENSOR_FLOATS},
    {2, ST_U8, 0},
    {3, ST_I8, 0},
    {5, ST_I16, 0},
    {6, ST_I32, 0},
    {7, ST_I64, 0},
    {9, ST_BOOL, 0},
    {10, ST_F16, 0},
    {11, ST_F64, TENSOR_DOUBLES},
    {16, ST_BF16, 0},
};

/* A TensorProto while its fields are read. */
typedef struct OnnxTensor {
    StTensor tensor;
    uint64_t type, bytes;
    const char *data;
    uint32_t field; /* that data are of; 0: none */
    bool is_external, has_numbers;
} OnnxTensor;

static bool add_dim(TensorList *list, OnnxTensor *t, uint64_t size)
{
    if (t->tensor.rank == ST_MAX_RANK)
        return tensor_list_refuse(list, t->tensor.name, "it has more than 8 dimensions");
    t->tensor.dims[t->tensor.rank++] = (int64_t)size;
    return true;
}

/* Sizes come one by one, or packed as varints. */
static bool read_dims(TensorList *list, OnnxTensor *t, const ProtoField *field)
{
    if (field->kind != PROTO_BYTES)
        return add_dim(list, t, field->value);
    const unsigned char *at = (const unsigned char *)field->bytes, *end = at + field->size;
    while (at < end) {
        uint64_t size = 0;
        int shift = 0;
        bool more = true;
        for (; more && at < end && shift < 64; shift += 7) {
            more = *at & 0x80;
            size |= (uint64_t)(*at++ & 0x7F) << shift;
        }
        if (more)
            return tensor_list_refuse(list, t->tensor.name, "its sizes are damaged");
        if (!add_dim(list, t, size))
            return false;
    }
    return true;
}

static bool read_field(TensorList *list, OnnxTensor *t, const ProtoField *field)
{
    switch (field->number) {
    case TENSOR_DIMS: return read_dims(list, t, field);
    case TENSOR_TYPE: t->type = field->value; break;
    case TENSOR_NAME:
        if (field->kind == PROTO_BYTES)
            t->tensor.name = arena_strndup(list->arena, field->bytes, field->size);
        break;
    case TENSOR_EXTERNAL: t->is_external = true; break;
    case TENSOR_RAW:
    case TENSOR_FLOATS:
    case TENSOR_DOUBLES:
        if (field->kind == PROTO_BYTES) {
            t->data = field->bytes;
            t->bytes = field->size;
            t->field = field->number;
        }
        break;
    case TENSOR_INT32S:
    case TENSOR_INT64S: t->has_numbers = true; break;
    default: break;
    }
    return true;
}

/* `name`: of a Constant's output; NULL: the tensor's own. */
static bool read_tensor(TensorList *list, Proto message, const char *name)
{
    OnnxTensor t = {0};
    ProtoField field;
    while (proto_next(&message, &field))
        if (!read_field(list, &t, &field))
            return false;
    if (name)
        t.tensor.name = name;
    if (message.bad || !t.tensor.name)
        return tensor_list_refuse(list, NULL, "a tensor is damaged, or has no name");
    if (t.is_external)
        return tensor_list_refuse(list, t.tensor.name,
                                  "its data is in another file, which is not read: save the model "
                                  "as one file");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].number != t.type)
            continue;
        t.tensor.type = types[i].type;
        if (t.field == TENSOR_RAW || (t.field && t.field == types[i].field))
            return tensor_list_add(list, t.tensor, t.data, t.bytes);
        if (!t.has_numbers && !t.field)
            return tensor_list_add(list, t.tensor, "", 0);
        return name || t.tensor.rank == 0 || /* shapes and axes */
               tensor_list_refuse(list, t.tensor.name,
                                  "its numbers are varints, which are not read");
    }
    return tensor_list_refuse(list, t.tensor.name,
                              arena_printf(list->arena, "its type, number %llu, is not read",
                                           (unsigned long long)t.type));
}

/* The tensor of a Constant. */
static bool read_node(TensorList *list, Proto node)
{
    ProtoField field, inner;
    const char *output = NULL;
    Proto tensor = {0};
    while (proto_next(&node, &field)) {
        if (field.kind != PROTO_BYTES)
            continue;
        if (field.number == NODE_OUTPUT && !output)
            output = arena_strndup(list->arena, field.bytes, field.size);
        Proto attribute = proto_message(field.bytes, field.size);
        while (field.number == NODE_ATTRIBUTE && proto_next(&attribute, &inner))
            if (inner.number == ATTRIBUTE_TENSOR && inner.kind == PROTO_BYTES)
                tensor = proto_message(inner.bytes, inner.size);
    }
    return !tensor.at || !output || read_tensor(list, tensor, output);
}

static bool read_graph(TensorList *list, Proto graph)
{
    ProtoField field;
    while (proto_next(&graph, &field)) {
        if (field.kind != PROTO_BYTES)
            continue;
        const Proto message = proto_message(field.bytes, field.size);
        if (field.number == GRAPH_INITIALISER && !read_tensor(list, message, NULL))
            return false;
        if (field.number == GRAPH_NODE && !read_node(list, message))
            return false;
    }
    return !graph.bad || tensor_list_refuse(list, NULL, "the file is cut off");
}

StFile *onnx_weights_parse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                           uint64_t size)
{
    TensorList list = {.diags = diags, .arena = arena, .path = path};
    Proto model = proto_message(bytes, (size_t)size);
    ProtoField field;
    bool ok = true;
    while (ok && proto_next(&model, &field))
        if (field.number == MODEL_GRAPH && field.kind == PROTO_BYTES)
            ok = read_graph(&list, proto_message(field.bytes, field.size));
    if (ok && model.bad)
        ok = tensor_list_refuse(&list, NULL, "the file is cut off");
    return ok ? tensor_list_file(&list) : NULL;
}
