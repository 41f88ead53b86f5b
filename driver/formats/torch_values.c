/* What pickles of PyTorch name (torch/_utils.py, torch/serialization.py), a row each. */
#include "driver/formats/torch_values.h"

#include <string.h>

typedef const Pickled *Maker(PickleReader *reader, const Pickled *arguments);

static const Pickled *make_dict(PickleReader *reader, const Pickled *arguments);
static const Pickled *make_list(PickleReader *reader, const Pickled *arguments);
static const Pickled *make_size(PickleReader *reader, const Pickled *arguments);
static const Pickled *make_nothing(PickleReader *reader, const Pickled *arguments);
static const Pickled *make_tensor(PickleReader *reader, const Pickled *arguments);
static const Pickled *make_parameter(PickleReader *reader, const Pickled *arguments);
static const Pickled *make_of_type(PickleReader *reader, const Pickled *arguments);
static const Pickled *make_other(PickleReader *reader, const Pickled *arguments);
static const Pickled *make_sparse(PickleReader *reader, const Pickled *arguments);
static const Pickled *make_empty(PickleReader *reader, const Pickled *arguments);

/* TYPE(storage, dtype, ST): both name an element type; OTHER(storage, dtype): one that is not read.
 * FUNCTION(name, make): a call gives a value. make_other makes values that no tensor is made of,
 * such as settings and NumPy's numbers: nothing of them is kept. */
#define TORCH_GLOBALS                                                      \
    TYPE("FloatStorage", "float32", ST_F32)                                \
    TYPE("DoubleStorage", "float64", ST_F64)                               \
    TYPE("HalfStorage", "float16", ST_F16)                                 \
    TYPE("BFloat16Storage", "bfloat16", ST_BF16)                           \
    TYPE("LongStorage", "int64", ST_I64)                                   \
    TYPE("IntStorage", "int32", ST_I32)                                    \
    TYPE("ShortStorage", "int16", ST_I16)                                  \
    TYPE("CharStorage", "int8", ST_I8)                                     \
    TYPE("ByteStorage", "uint8", ST_U8)                                    \
    TYPE("BoolStorage", "bool", ST_BOOL)                                   \
    OTHER("ComplexFloatStorage", "complex64")                              \
    OTHER("ComplexDoubleStorage", "complex128")                            \
    OTHER("QInt8Storage", "qint8")                                         \
    OTHER("QUInt8Storage", "quint8")                                       \
    OTHER("QInt32Storage", "qint32")                                       \
    OTHER("Float8_e4m3fnStorage", "float8_e4m3fn")                         \
    OTHER("Float8_e5m2Storage", "float8_e5m2")                             \
    OTHER("UInt16Storage", "uint16")                                       \
    OTHER("UInt32Storage", "uint32")                                       \
    OTHER("UInt64Storage", "uint64")                                       \
    FUNCTION("builtins int", make_other)                                   \
    FUNCTION("builtins float", make_other)                                 \
    FUNCTION("__builtin__ int", make_other)                                \
    FUNCTION("__builtin__ long", make_other)                               \
    FUNCTION("__builtin__ float", make_other)                              \
    FUNCTION("argparse Namespace", make_other)                             \
    FUNCTION("types SimpleNamespace", make_other)                          \
    FUNCTION("collections defaultdict", make_empty)                        \
    FUNCTION("pathlib PosixPath", make_other)                              \
    FUNCTION("datetime datetime", make_other)                              \
    FUNCTION("_codecs encode", make_other)                                 \
    FUNCTION("numpy dtype", make_other)                                    \
    FUNCTION("numpy ndarray", make_other)                                  \
    FUNCTION("numpy.core.multiarray scalar", make_other)                   \
    FUNCTION("numpy._core.multiarray scalar", make_other)                  \
    FUNCTION("numpy.core.multiarray _reconstruct", make_other)             \
    FUNCTION("numpy._core.multiarray _reconstruct", make_other)            \
    FUNCTION("torch.serialization _get_layout", make_other)                \
    FUNCTION("torch._utils _rebuild_sparse_tensor", make_sparse)           \
    FUNCTION("torch._utils _rebuild_sparse_csr_tensor", make_sparse)       \
    FUNCTION("torch.storage UntypedStorage", NULL)                         \
    FUNCTION("torch Tensor", NULL)                                         \
    FUNCTION("torch._tensor Tensor", NULL)                                 \
    FUNCTION("torch.nn.parameter Parameter", NULL)                         \
    FUNCTION("torch device", make_nothing)                                 \
    FUNCTION("torch Size", make_size)                                      \
    FUNCTION("collections OrderedDict", make_dict)                         \
    FUNCTION("builtins dict", make_dict)                                   \
    FUNCTION("__builtin__ dict", make_dict)                                \
    FUNCTION("builtins set", make_list)                                    \
    FUNCTION("__builtin__ set", make_list)                                 \
    FUNCTION("torch._utils _rebuild_tensor", make_tensor)                  \
    FUNCTION("torch._utils _rebuild_tensor_v2", make_tensor)               \
    FUNCTION("torch._utils _rebuild_tensor_v3", make_tensor)               \
    FUNCTION("torch._utils _rebuild_parameter", make_parameter)            \
    FUNCTION("torch._utils _rebuild_parameter_with_state", make_parameter) \
    FUNCTION("torch._tensor _rebuild_from_type_v2", make_of_type)

static const char *const globals[] = {
#define TYPE(storage, dtype, type) "torch " storage, "torch " dtype,
#define OTHER(storage, dtype) "torch " storage, "torch " dtype,
#define FUNCTION(name, make) name,
    TORCH_GLOBALS
#undef TYPE
#undef OTHER
#undef FUNCTION
};
enum { N_GLOBALS = sizeof globals / sizeof *globals };

static Maker *const makers[N_GLOBALS] = {
#define TYPE(storage, dtype, type) NULL, NULL,
#define OTHER(storage, dtype) NULL, NULL,
#define FUNCTION(name, make) make,
    TORCH_GLOBALS
#undef TYPE
#undef OTHER
#undef FUNCTION
};

/* The type that a global names; ST_COUNT: none. */
static StType type_of(const Pickled *value)
{
    static const StType types[] = {
#define TYPE(storage, dtype, type) type, type,
#define OTHER(storage, dtype) ST_COUNT, ST_COUNT,
#define FUNCTION(name, make) ST_COUNT,
        TORCH_GLOBALS
#undef TYPE
#undef OTHER
#undef FUNCTION
    };
    return value->kind == PICKLED_GLOBAL ? types[value->integer] : ST_COUNT;
}

/* The name of a type that is not read; NULL: the global names none. */
static const char *other_type(const Pickled *value)
{
    static const char *const names[] = {
#define TYPE(storage, dtype, type) NULL, NULL,
#define OTHER(storage, dtype) dtype, dtype,
#define FUNCTION(name, make) NULL,
        TORCH_GLOBALS
#undef TYPE
#undef OTHER
#undef FUNCTION
    };
    return value->kind == PICKLED_GLOBAL ? names[value->integer] : NULL;
}

static bool is_global(const Pickled *value, const char *name)
{
    return value->kind == PICKLED_GLOBAL && !strcmp(globals[value->integer], name);
}

/* ---- containers ---- */

/* Of pairs, or of nothing. */
static const Pickled *make_dict(PickleReader *reader, const Pickled *arguments)
{
    TorchValues *values = reader->rules->context;
    Pickled *dict = pickle_value(reader, PICKLED_DICT);
    const Pickled *pairs = arguments->items.count ? arguments->items.data[0] : NULL;
    for (size_t i = 0; dict && pairs && i < pairs->items.count; i++) {
        const Pickled *pair = pairs->items.data[i];
        if ((pair->kind != PICKLED_TUPLE && pair->kind != PICKLED_LIST) || pair->items.count != 2)
            return pickle_problem(reader,
                                  PICKLE_DAMAGED("a dict is made of values that are not pairs"));
        if (!values->left--)
            return pickle_problem(
                reader, PICKLE_DAMAGED("its dicts have more items than the file could hold"));
        vec_push(reader->arena, dict->items, pair->items.data[0]);
        vec_push(reader->arena, dict->items, pair->items.data[1]);
    }
    return dict;
}

static const Pickled *make_list(PickleReader *reader, const Pickled *arguments)
{
    (void)arguments; /* of a set: nothing looks into it */
    return pickle_value(reader, PICKLED_LIST);
}

static const Pickled *make_size(PickleReader *reader, const Pickled *arguments)
{
    if (arguments->items.count == 1 && arguments->items.data[0]->kind == PICKLED_TUPLE)
        return arguments->items.data[0];
    return pickle_problem(reader, PICKLE_DAMAGED("a torch.Size is not made of a tuple"));
}

static const Pickled *make_empty(PickleReader *reader, const Pickled *arguments)
{
    (void)arguments; /* items follow */
    return pickle_value(reader, PICKLED_DICT);
}

static const Pickled *make_nothing(PickleReader *reader, const Pickled *arguments)
{
    (void)arguments;
    return pickle_value(reader, PICKLED_NONE);
}

/* ---- tensors ---- */

static const Pickled *make_object(PickleReader *reader, TorchObject kind, const void *object)
{
    Pickled *value = pickle_value(reader, PICKLED_OBJECT);
    if (value) {
        value->integer = kind;
        value->object = object;
    }
    return value;
}

/* What is passed over; `type`: that of the elements of a tensor, NULL: it is none. */
static const Pickled *make_passed(PickleReader *reader, const char *type)
{
    return make_object(reader, TORCH_OTHER, type);
}

static const Pickled *make_other(PickleReader *reader, const Pickled *arguments)
{
    (void)arguments;
    return make_passed(reader, NULL);
}

static const Pickled *make_sparse(PickleReader *reader, const Pickled *arguments)
{
    (void)arguments;
    return make_passed(reader, "sparse");
}

static bool is_of(const Pickled *value, TorchObject kind)
{
    return value->kind == PICKLED_OBJECT && value->integer == kind;
}

static bool read_sizes(const Pickled *from, int64_t *to, int *n)
{
    if (from->kind != PICKLED_TUPLE && from->kind != PICKLED_LIST)
        return false;
    if (from->items.count > ST_MAX_RANK)
        return false;
    *n = (int)from->items.count;
    for (int i = 0; i < *n; i++) {
        to[i] = from->items.data[i]->integer;
        if (from->items.data[i]->kind != PICKLED_INTEGER || to[i] < 0)
            return false;
    }
    return true;
}

/* What a tensor's last argument says of its elements beside their storage, {"neg": True}: that they
 * are its negated or conjugated numbers; NULL: nothing. */
static const char *view_of(const Pickled *metadata)
{
    static const char *const views[] = {"neg", "conj"};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        const Pickled *is = pickle_member(metadata, views[i]);
        if (is && is->kind == PICKLED_BOOL && is->integer)
            return views[i];
    }
    return NULL;
}

/* (storage, offset, sizes, strides, …, metadata); of _rebuild_tensor_v3 the seventh is the type. */
static const Pickled *make_tensor(PickleReader *reader, const Pickled *arguments)
{
    enum { TYPE_AT = 6 };
    const size_t n = arguments->items.count;
    const Pickled *const *argument = arguments->items.data;
    int strides = 0;
    if (n && is_of(argument[0], TORCH_OTHER))
        return argument[0];
    if (n > TYPE_AT && other_type(argument[TYPE_AT]))
        return make_passed(reader, other_type(argument[TYPE_AT]));
    if (n > TYPE_AT && view_of(argument[n - 1]))
        return make_passed(reader, view_of(argument[n - 1]));
    if (n < 4 || argument[0]->kind != PICKLED_OBJECT || argument[0]->integer != TORCH_STORAGE ||
        argument[1]->kind != PICKLED_INTEGER || argument[1]->integer < 0)
        return pickle_problem(reader, PICKLE_DAMAGED("a tensor has no storage, or no place in it"));
    TorchTensor *tensor = ARENA_NEW(reader->arena, TorchTensor);
    if (!tensor)
        return NULL;
    *tensor = (TorchTensor){.storage = (TorchStorage *)argument[0]->object,
                            .first = argument[1]->integer};
    tensor->type = tensor->storage->type;
    if (n > TYPE_AT && type_of(argument[TYPE_AT]) != ST_COUNT)
        tensor->type = type_of(argument[TYPE_AT]);
    if (!read_sizes(argument[2], tensor->dims, &tensor->rank) ||
        !read_sizes(argument[3], tensor->strides, &strides) || strides != tensor->rank)
        return pickle_problem(reader, arena_printf(reader->arena,
                                                   "a tensor's sizes or strides are no numbers, or "
                                                   "more than %d",
                                                   ST_MAX_RANK));
    return make_object(reader, TORCH_TENSOR, tensor);
}

/* (tensor, …) */
static const Pickled *make_parameter(PickleReader *reader, const Pickled *arguments)
{
    const Pickled *data = arguments->items.count ? arguments->items.data[0] : NULL;
    return data && (is_of(data, TORCH_TENSOR) || is_of(data, TORCH_OTHER))
               ? data
               : pickle_problem(reader, PICKLE_DAMAGED("a parameter is not made of a tensor"));
}

/* (function, type, arguments, state): what the function makes, if it makes tensors. */
static const Pickled *make_of_type(PickleReader *reader, const Pickled *arguments)
{
    const Pickled *const *argument = arguments->items.data;
    if (arguments->items.count < 3 || argument[0]->kind != PICKLED_GLOBAL ||
        makers[argument[0]->integer] != make_tensor || argument[2]->kind != PICKLED_TUPLE)
        return pickle_problem(
            reader, "a tensor has a Python class of its own, which is not read" SAVE_STATE);
    return make_tensor(reader, argument[2]);
}

static const Pickled *make_global(PickleReader *reader, int global, const Pickled *arguments)
{
    Maker *make = makers[global];
    return make ? make(reader, arguments)
                : pickle_problem(reader, arena_printf(reader->arena,
                                                      "it calls %s, which is not read" SAVE_STATE,
                                                      globals[global]));
}

/* ---- storages ---- */

static const char *key_text(PickleReader *reader, const Pickled *key)
{
    if (key->kind == PICKLED_TEXT)
        return key->text;
    return key->kind == PICKLED_INTEGER
               ? arena_printf(reader->arena, "%lld", (long long)key->integer)
               : NULL;
}

/* The storage of a key; NULL: one of another size or type has it, or the arena has failed. */
static TorchStorage *find_storage(PickleReader *reader, const char *key, StType type, int64_t count)
{
    TorchValues *values = reader->rules->context;
    TorchStorage *storage = map_get(&values->storages, key);
    if (!storage) {
        storage = ARENA_NEW(reader->arena, TorchStorage);
        if (!storage)
            return NULL;
        *storage = (TorchStorage){.key = key, .type = type, .count = count};
        map_set(&values->storages, key, storage);
        vec_push(reader->arena, values->list, storage);
    }
    return storage->type == type && storage->count == count ? storage : NULL;
}

/* A part of a storage in old files: (key, offset, size); NULL after an error. */
static TorchStorage *make_part(PickleReader *reader, TorchStorage *whole, const Pickled *view)
{
    if (view->kind != PICKLED_TUPLE || view->items.count != 3 ||
        view->items.data[1]->kind != PICKLED_INTEGER ||
        view->items.data[2]->kind != PICKLED_INTEGER || view->items.data[1]->integer < 0 ||
        view->items.data[2]->integer < 0) {
        pickle_problem(reader, PICKLE_DAMAGED("a part of a storage has no place or size"));
        return NULL;
    }
    TorchStorage *part = ARENA_NEW(reader->arena, TorchStorage);
    if (!part)
        return NULL;
    *part = (TorchStorage){.key = whole->key,
                           .type = whole->type,
                           .count = view->items.data[2]->integer,
                           .whole = whole,
                           .first = view->items.data[1]->integer};
    return part;
}

/* ("storage", type, key, device, elements), and in old files a part of it. */
static const Pickled *load_storage(PickleReader *reader, const Pickled *id)
{
    const Pickled *const *item = id->items.data;
    const size_t n = id->items.count;
    const char *key = id->kind == PICKLED_TUPLE && n >= 5 ? key_text(reader, item[2]) : NULL;
    if (!key || item[0]->kind != PICKLED_TEXT || strcmp(item[0]->text, "storage") ||
        item[4]->kind != PICKLED_INTEGER || item[4]->integer < 0)
        return pickle_problem(reader, PICKLE_DAMAGED("a persistent id does not name a storage"));
    StType type = type_of(item[1]);
    if (is_global(item[1], "torch.storage UntypedStorage"))
        type = ST_U8;
    if (other_type(item[1]))
        return make_passed(reader, other_type(item[1]));
    if (type == ST_COUNT)
        return pickle_problem(reader, "a storage has an element type that is not read" SAVE_STATE);
    TorchStorage *storage = find_storage(reader, key, type, item[4]->integer);
    if (!storage)
        return pickle_problem(reader,
                              PICKLE_DAMAGED("two storages of one name differ in type or size"));
    if (n > 5 && item[5]->kind != PICKLED_NONE && !(storage = make_part(reader, storage, item[5])))
        return NULL;
    return make_object(reader, TORCH_STORAGE, storage);
}

void torch_values_init(TorchValues *values, Arena *arena)
{
    *values = (TorchValues){.rules = {.globals = globals,
                                      .n_globals = N_GLOBALS,
                                      .make = make_global,
                                      .load = load_storage,
                                      .context = values},
                            .left = PICKLE_MAX_BYTES};
    map_init(&values->storages, arena);
}
