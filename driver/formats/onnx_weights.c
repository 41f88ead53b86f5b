/* Reading the messages that hold tensors; all others are passed over. */
#define _GNU_SOURCE
#include "driver/formats/onnx_weights.h"

#include "base/file.h"
#include "base/proto.h"
#include "driver/formats/onnx_fields.h"
#include "driver/formats/tensor_list.h"

#include <stdlib.h>
#include <string.h>

/* The types by their numbers in TensorProto.DataType, and the field of numbers that are not raw. */
static const struct {
    uint64_t number;
    StType type;
    uint32_t field;
} types[] = {
    {ONNX_FLOAT, ST_F32, TENSOR_float_data},
    {ONNX_UINT8, ST_U8, 0},
    {ONNX_INT8, ST_I8, 0},
    {ONNX_INT16, ST_I16, 0},
    {ONNX_INT32, ST_I32, 0},
    {ONNX_INT64, ST_I64, 0},
    {ONNX_BOOL, ST_BOOL, 0},
    {ONNX_FLOAT16, ST_F16, 0},
    {ONNX_DOUBLE, ST_F64, TENSOR_double_data},
    {ONNX_BFLOAT16, ST_BF16, 0},
};

/* OnnxText: of the file; NULL: there is none. */
typedef struct OnnxText {
    const char *text;
    size_t length;
} OnnxText;

static bool is_text(OnnxText is, const char *text)
{
    return is.length == strlen(text) && !memcmp(is.text ? is.text : "", text, is.length);
}

/* As a string, in which a NUL ends it; "" of none. NULL: the arena has failed. */
static const char *copy_text(Arena *arena, OnnxText from)
{
    return arena_strndup(arena, from.text ? from.text : "", from.length);
}

/* OnnxExternal: where the data lies that is in another file (onnx.proto, external_data). */
typedef struct OnnxExternal {
    OnnxText location, offset, length;
} OnnxExternal;

/* A TensorProto while its fields are read. */
typedef struct OnnxTensor {
    StTensor tensor;
    OnnxText name;
    uint64_t type, bytes;
    const char *data;
    uint32_t field; /* that data are of; 0: none */
    OnnxExternal external;
    bool is_external, has_numbers, has_more; /* another field of data, or another piece */
} OnnxTensor;

static bool add_dim(TensorList *list, OnnxTensor *t, uint64_t size)
{
    if (t->tensor.rank == ST_MAX_RANK)
        return tensor_list_refuse(list, NULL, "a tensor has more than 8 dimensions");
    t->tensor.dims[t->tensor.rank++] = (int64_t)size;
    return true;
}

/* Sizes come one by one, or packed as varints. */
static bool read_dims(TensorList *list, OnnxTensor *t, const ProtoField *field)
{
    if (field->kind != PROTO_BYTES)
        return add_dim(list, t, field->value);
    Proto packed = proto_message(field->bytes, field->size);
    for (uint64_t size; proto_next_varint(&packed, &size);)
        if (!add_dim(list, t, size))
            return false;
    return !packed.bad || tensor_list_refuse(list, NULL, "the dimensions of a tensor are damaged");
}

static void read_entry(OnnxTensor *t, Proto message)
{
    OnnxText key = {0}, value = {0};
    ProtoField field;
    while (proto_next(&message, &field)) {
        if (field.number == ENTRY_key && field.kind == PROTO_BYTES)
            key = (OnnxText){field.bytes, field.size};
        if (field.number == ENTRY_value && field.kind == PROTO_BYTES)
            value = (OnnxText){field.bytes, field.size};
    }
    t->is_external = true;
    if (is_text(key, "location"))
        t->external.location = value;
    if (is_text(key, "offset"))
        t->external.offset = value;
    if (is_text(key, "length"))
        t->external.length = value;
}

static bool read_field(TensorList *list, OnnxTensor *t, const ProtoField *field)
{
    switch (field->number) {
    case TENSOR_dims: return read_dims(list, t, field);
    case TENSOR_data_type: t->type = field->value; break;
    case TENSOR_name:
        if (field->kind == PROTO_BYTES)
            t->name = (OnnxText){field->bytes, field->size};
        break;
    case TENSOR_external_data:
        if (field->kind == PROTO_BYTES)
            read_entry(t, proto_message(field->bytes, field->size));
        break;
    case TENSOR_data_location:
        t->is_external = t->is_external || field->value == DATA_LOCATION_EXTERNAL;
        break;
    case TENSOR_raw_data:
    case TENSOR_float_data:
    case TENSOR_double_data:
        if (field->kind == PROTO_BYTES) {
            t->has_more |= t->field != 0;
            t->data = field->bytes;
            t->bytes = field->size;
            t->field = field->number;
        }
        break;
    case TENSOR_int32_data:
    case TENSOR_int64_data: t->has_numbers = true; break;
    default: break;
    }
    return true;
}

/* Scalars, shapes and axes: no weights. */
static bool is_of_graph(const StTensor *tensor)
{
    return tensor->rank == 0 || tensor->type == ST_I64 || tensor->type == ST_BOOL;
}

/* How names begin that PyTorch's exporter made up. */
#define MADE_UP "onnx::"

/* OtherName: a weight's name where that of the initialiser is another. `transposed`: the weight is
 * the transposed initialiser. */
typedef struct OtherName {
    const char *name;
    bool transposed;
    struct OtherName *next;
} OtherName;

typedef struct OnnxReader {
    TensorList list;
    Map others; /* OtherName, by the initialiser's name */
    Map named;  /* all other names */
    const char *folder;
    Map files; /* numbers of `maps`, from 1, by name */
    VEC(StMap) maps;
} OnnxReader;

/* Either text may be NULL: the arena has failed. */
static void add_other(OnnxReader *r, const char *initialiser, const char *name, bool transposed)
{
    if (!initialiser || !name || !*name || map_has(&r->named, name))
        return;
    OtherName *other = ARENA_NEW(r->list.arena, OtherName);
    if (!other)
        return;
    *other = (OtherName){name, transposed, map_get(&r->others, initialiser)};
    map_set(&r->others, initialiser, other);
    map_set(&r->named, name, other);
}

/* Under its own name, unless the exporter made that up, and under those that nodes say. */
static bool add_tensor(OnnxReader *r, const OnnxTensor *t)
{
    const OtherName *others = map_get(&r->others, t->tensor.name);
    if ((!others || strncmp(t->tensor.name, MADE_UP, strlen(MADE_UP)) != 0) &&
        !tensor_list_add_whole(&r->list, t->tensor, t->data, t->bytes))
        return false;
    for (const OtherName *other = others; other; other = other->next) {
        StTensor tensor = t->tensor;
        tensor.name = tensor.stored = other->name; /* what nodes call it */
        const int64_t rows = tensor.dims[0], columns = tensor.dims[1];
        if (other->transposed && tensor.rank == 2) {
            StView *view = ARENA_NEW(r->list.arena, StView);
            if (!view)
                return false;
            *view = (StView){.rank = 2, .sizes = {columns, rows}, .strides = {1, columns}};
            tensor.view = view;
            tensor.dims[0] = columns;
            tensor.dims[1] = rows;
        }
        if (!tensor_list_add_whole(&r->list, tensor, t->data, t->bytes))
            return false;
    }
    return true;
}

/* ---- data in other files ---- */

/* The file beside the model; NULL after an error. */
static const StMap *map_external(OnnxReader *r, const char *tensor, const char *name)
{
    const uintptr_t number = (uintptr_t)map_get(&r->files, name);
    if (number)
        return &r->maps.data[number - 1];
    StMap file = {.path = file_in(r->list.arena, r->folder, name)};
    if (!file.path)
        return NULL;
    Diagnostics unseen;
    diag_init(&unseen, r->list.diags->arena);
    file.map = file_map_within(&unseen, (FileReach){.folder = r->folder}, file.path, &file.bytes);
    if (!file.map) {
        tensor_list_refuse(
            &r->list, tensor,
            arena_printf(r->list.diags->arena,
                         "its data is in %s, which is missing, is no regular file, or "
                         "leads out of the folder",
                         text_visible_name(r->list.diags->arena, file.path)));
        return NULL;
    }
    const size_t before = r->maps.count;
    vec_push(r->list.arena, r->maps, file);
    if (r->maps.count == before || arena_failed(r->list.arena)) {
        r->maps.count = before;
        file_unmap(file.map, file.bytes);
        return NULL;
    }
    map_set(&r->files, name, (void *)(uintptr_t)r->maps.count);
    return &r->maps.data[before];
}

/* Digits; of none `absent`. False: something else, or more than 2^63. */
static bool read_count(OnnxText text, uint64_t absent, uint64_t *count)
{
    *count = text.text ? 0 : absent;
    for (size_t i = 0; i < text.length; i++) {
        const char c = text.text[i];
        if (c < '0' || c > '9' || *count > (UINT64_C(1) << 63) / 10 - 1)
            return false;
        *count = *count * 10 + (uint64_t)(c - '0');
    }
    return !text.text || text.length;
}

/* Finds the data of a tensor that has it in another file. */
static bool take_external(OnnxReader *r, OnnxTensor *t)
{
    TensorList *list = &r->list;
    const char *name = t->tensor.name, *file = copy_text(list->arena, t->external.location);
    uint64_t offset, length;
    if (!file)
        return false;
    if (t->field || t->has_numbers)
        return tensor_list_refuse(list, name, "its numbers are here and in another file, too");
    if (!*file || strlen(file) != t->external.location.length || strpbrk(file, "/\\") ||
        !strcmp(file, ".") || !strcmp(file, ".."))
        return tensor_list_refuse(
            list, name,
            arena_printf(list->diags->arena,
                         "its data is in the file '%s': expected the name of one that lies beside "
                         "the model; save the model again, with its data in this folder",
                         text_visible_name(list->diags->arena, file)));
    if (!read_count(t->external.offset, 0, &offset) ||
        !read_count(t->external.length, UINT64_MAX, &length))
        return tensor_list_refuse(list, name,
                                  "the offset or the length of its data in another file is no "
                                  "number of bytes");
    const StMap *map = map_external(r, name, file);
    if (!map)
        return false;
    if (length == UINT64_MAX && offset <= map->bytes)
        length = map->bytes - offset;
    if (offset > map->bytes || length > map->bytes - offset)
        return tensor_list_refuse(
            list, name,
            arena_printf(
                list->arena,
                "its data are %llu bytes from byte %llu on of %s, which has %llu" FETCH_AGAIN,
                (unsigned long long)length, (unsigned long long)offset,
                text_visible_name(list->diags->arena, map->path), (unsigned long long)map->bytes));
    t->data = (const char *)map->map + offset;
    t->bytes = length;
    t->field = TENSOR_raw_data;
    return true;
}

/* `constant`: the name of a Constant's output; without a text: an initialiser has its own. */
static bool read_tensor(OnnxReader *r, Proto message, OnnxText constant)
{
    TensorList *list = &r->list;
    OnnxTensor t = {.data = ""};
    ProtoField field;
    while (proto_next(&message, &field))
        if (!read_field(list, &t, &field))
            return false;
    if (constant.text)
        t.name = constant;
    if (message.bad || !t.name.text)
        return tensor_list_refuse(list, NULL, "a tensor is damaged, or has no name");
    t.tensor.name = copy_text(list->arena, t.name);
    if (!t.tensor.name)
        return false;
    if (t.is_external && !take_external(r, &t))
        return false;
    if (t.has_more || (t.field && t.has_numbers))
        return tensor_list_refuse(
            list, t.tensor.name, "its numbers are given twice, or in pieces: save the model again");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].number != t.type)
            continue;
        t.tensor.type = types[i].type;
        if (constant.text && is_of_graph(&t.tensor))
            return true;
        if (t.field == TENSOR_raw_data || (t.field ? t.field == types[i].field : !t.has_numbers))
            return add_tensor(r, &t);
        return t.tensor.rank == 0 || /* of no use as a weight */
               tensor_list_refuse(list, t.tensor.name,
                                  "its numbers are varints, which are not read");
    }
    return tensor_list_refuse(list, t.tensor.name,
                              arena_printf(list->arena, "its type, number %llu, is not read",
                                           (unsigned long long)t.type));
}

/* OnnxNode: what of a node is read. */
typedef struct OnnxNode {
    OnnxText inputs[2], output, name, type;
    Proto tensor; /* of the attribute "value" */
} OnnxNode;

/* The tensor of an attribute "value"; else `before`. */
static Proto tensor_of(Proto attribute, Proto before)
{
    Proto tensor = {0};
    ProtoField field;
    bool is_value = false;
    while (proto_next(&attribute, &field)) {
        if (field.number == ATTRIBUTE_name && field.kind == PROTO_BYTES)
            is_value = is_text((OnnxText){field.bytes, field.size}, "value");
        if (field.number == ATTRIBUTE_t && field.kind == PROTO_BYTES)
            tensor = proto_message(field.bytes, field.size);
    }
    return is_value && tensor.at ? tensor : before;
}

static OnnxNode read_fields(Proto message)
{
    OnnxNode node = {0};
    ProtoField field;
    int n_inputs = 0;
    while (proto_next(&message, &field)) {
        if (field.kind != PROTO_BYTES)
            continue;
        OnnxText *const text = field.number == NODE_input && n_inputs < 2 ? &node.inputs[n_inputs++]
                               : field.number == NODE_output && !node.output.length ? &node.output
                               : field.number == NODE_name                          ? &node.name
                               : field.number == NODE_op_type                       ? &node.type
                                                                                    : NULL;
        if (text)
            *text = (OnnxText){field.bytes, field.size};
        if (field.number == NODE_attribute)
            node.tensor = tensor_of(proto_message(field.bytes, field.size), node.tensor);
    }
    return node;
}

/* "layer.0.query.weight" of the node "/layer.0/query/MatMul"; "" of another name. NULL: the arena
 * has failed. */
static const char *weight_of_node(Arena *arena, OnnxText text)
{
    const char *node = copy_text(arena, text), *end = node ? strrchr(node, '/') : NULL;
    if (!node || *node != '/' || end == node)
        return node ? "" : NULL;
    char *name = arena_printf(arena, "%.*s.weight", (int)(end - node - 1), node + 1);
    for (char *at = name; at && *at; at++)
        *at = *at == '/' ? '.' : *at;
    return name;
}

/* A Constant has a tensor. PyTorch's exporter transposes the weight of a layer beforehand, and
 * names it "onnx::MatMul_45": the node that multiplies has the layer's name. Of equal weights it
 * keeps one, which an Identity gives the other's name. */
static bool read_node(OnnxReader *r, Proto message)
{
    Arena *arena = r->list.arena;
    const OnnxNode node = read_fields(message);
    const OnnxText weight = node.inputs[1];
    if (is_text(node.type, "MatMul") && weight.length >= strlen(MADE_UP) &&
        !memcmp(weight.text, MADE_UP, strlen(MADE_UP)))
        add_other(r, copy_text(arena, weight), weight_of_node(arena, node.name), true);
    if (is_text(node.type, "Identity"))
        add_other(r, copy_text(arena, node.inputs[0]), copy_text(arena, node.output), false);
    if (is_text(node.type, "Constant") && node.tensor.at && node.output.length)
        return read_tensor(r, node.tensor, node.output);
    return !arena_failed(arena);
}

/* Nodes first, which say how initialisers are called. */
static bool read_graph(OnnxReader *r, Proto graph)
{
    bool bad = false;
    for (int pass = 0; pass < 2; pass++) {
        Proto rest = graph;
        ProtoField field;
        while (proto_next(&rest, &field)) {
            if (field.kind != PROTO_BYTES)
                continue;
            const Proto message = proto_message(field.bytes, field.size);
            if (pass == 0 && field.number == GRAPH_node && !read_node(r, message))
                return false;
            if (pass == 1 && field.number == GRAPH_initializer &&
                !read_tensor(r, message, (OnnxText){0}))
                return false;
        }
        bad = rest.bad;
    }
    return !bad || tensor_list_refuse(&r->list, NULL, "the file is cut off" FETCH_AGAIN);
}

static bool mark_own(Arena *arena, StFile *file)
{
    file->meta_keys = ARENA_ARRAY(arena, const char *, 1);
    file->meta_values = ARENA_ARRAY(arena, const char *, 1);
    if (!file->meta_keys || !file->meta_values)
        return false;
    file->n_meta = 1;
    file->meta_keys[0] = ST_FORMAT;
    file->meta_values[0] = ST_FORMAT_OWN;
    return true;
}

/* The folder in which the model lies, whatever link leads to it: that of a run is one. */
static const char *folder_of_model(Arena *arena, const char *path)
{
    char *real = realpath(path, NULL);
    const char *folder = file_folder(arena, real ? real : path);
    free(real);
    return folder;
}

StFile *onnx_weights_parse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                           uint64_t size)
{
    OnnxReader r = {.list = tensor_list_begin(diags, arena, path)};
    map_init(&r.others, arena);
    map_init(&r.named, arena);
    map_init(&r.files, arena);
    r.folder = folder_of_model(arena, path);
    Proto model = proto_message(bytes, (size_t)size);
    ProtoField field;
    bool ok = true, is_own = false;
    while (ok && proto_next(&model, &field)) {
        if (field.number == MODEL_producer_name && field.kind == PROTO_BYTES)
            is_own = field.size == strlen(ONNX_PRODUCER) &&
                     !memcmp(field.bytes, ONNX_PRODUCER, field.size);
        if (field.number == MODEL_graph && field.kind == PROTO_BYTES)
            ok = read_graph(&r, proto_message(field.bytes, field.size));
    }
    if (ok && model.bad)
        ok = tensor_list_refuse(&r.list, NULL, "the file is cut off" FETCH_AGAIN);
    StFile *file = ok && r.folder ? tensor_list_file(&r.list) : NULL;
    if (file && is_own && !mark_own(arena, file))
        file = NULL;
    for (size_t i = 0; !file && i < r.maps.count; i++)
        file_unmap(r.maps.data[i].map, r.maps.data[i].bytes);
    if (file) {
        file->more = r.maps.data;
        file->n_more = (int64_t)r.maps.count;
    }
    return file;
}
