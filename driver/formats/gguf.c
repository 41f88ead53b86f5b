/* From a file's bytes to its metadata and tensors. */
#include "driver/formats/gguf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC_BYTES = 4, ALIGNMENT = 32, MOST_ALIGNMENT = 1 << 20, MAX_DIMS = 4 };

static const char magic[] = "GGUF";

typedef struct GgufReader {
    Gguf *gguf;
    const unsigned char *bytes, *at, *end;
    bool is_bad; /* the file is cut off */
} GgufReader;

static bool gguf_refuse(GgufReader *r, const char *problem)
{
    return tensor_list_refuse(&r->gguf->list, NULL, problem);
}

/* ---- numbers ---- */

static uint64_t number_at(const unsigned char *at, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static uint64_t take_gguf(GgufReader *r, size_t bytes)
{
    if ((size_t)(r->end - r->at) < bytes) {
        r->is_bad = true;
        return 0;
    }
    r->at += bytes;
    return number_at(r->at - bytes, bytes);
}

/* A name; a NUL within ends it. */
static const char *take_name(GgufReader *r)
{
    enum { LONGEST = 0xFFFF }; /* of a key, by docs/gguf.md */
    const uint64_t length = take_gguf(r, 8);
    if (r->is_bad || length > LONGEST || length > (uint64_t)(r->end - r->at)) {
        r->is_bad = true;
        return "";
    }
    r->at += length;
    return arena_strndup(r->gguf->list.arena, (const char *)r->at - length, (size_t)length);
}

static size_t kind_bytes(GgufKind kind)
{
    static const unsigned char bytes[GGUF_KINDS] = {
        [GGUF_U8] = 1,  [GGUF_I8] = 1,  [GGUF_U16] = 2, [GGUF_I16] = 2,
        [GGUF_U32] = 4, [GGUF_I32] = 4, [GGUF_F32] = 4, [GGUF_BOOL] = 1,
        [GGUF_U64] = 8, [GGUF_I64] = 8, [GGUF_F64] = 8};
    return bytes[kind];
}

double gguf_number(const GgufValue *value, uint64_t i)
{
    if (!value || i >= value->n || value->kind == GGUF_STRING)
        return 0;
    const size_t bytes = kind_bytes(value->kind);
    const uint64_t bits = number_at(value->data + i * bytes, bytes);
    const uint32_t half = (uint32_t)bits;
    float single;
    double whole;
    memcpy(&single, &half, sizeof single);
    memcpy(&whole, &bits, sizeof whole);
    switch (value->kind) {
    case GGUF_I8: return (int8_t)bits;
    case GGUF_I16: return (int16_t)bits;
    case GGUF_I32: return (int32_t)half;
    case GGUF_I64: return (double)(int64_t)bits;
    case GGUF_F32: return (double)single;
    case GGUF_F64: return whole;
    default: return (double)bits;
    }
}

int64_t gguf_integer(const GgufValue *value, uint64_t i)
{
    const double number = gguf_number(value, i), limit = 0x1p63;
    return number >= -limit && number < limit ? (int64_t)number : 0;
}

static const char *step_over(const unsigned char **at, uint64_t *length)
{
    *length = number_at(*at, 8);
    *at += 8 + *length;
    return (const char *)*at - *length;
}

const char *gguf_next(const unsigned char **at, Text *text)
{
    uint64_t length;
    const char *string = step_over(at, &length);
    text->length = 0;
    text_put(text, string, (size_t)length);
    return text->data;
}

const char *gguf_text(const Gguf *gguf, const GgufValue *value)
{
    if (!value || value->kind != GGUF_STRING || value->is_array)
        return NULL;
    const unsigned char *at = value->data;
    uint64_t length;
    const char *string = step_over(&at, &length);
    return arena_strndup(gguf->list.arena, string, (size_t)length);
}

/* ---- metadata ---- */

/* Steps over n values of a kind. */
static void skip_values(GgufReader *r, GgufKind kind, uint64_t n)
{
    if (kind != GGUF_STRING) {
        const size_t bytes = kind_bytes(kind);
        if (n > (uint64_t)(r->end - r->at) / bytes)
            r->is_bad = true;
        else
            r->at += n * bytes;
        return;
    }
    for (uint64_t i = 0; i < n && !r->is_bad; i++) {
        const uint64_t length = take_gguf(r, 8);
        if (r->is_bad || length > (uint64_t)(r->end - r->at))
            r->is_bad = true;
        else
            r->at += length;
    }
}

static bool read_value(GgufReader *r)
{
    GgufValue *value = ARENA_NEW(r->gguf->list.arena, GgufValue);
    if (!value || !(value->key = take_name(r)))
        return false;
    uint64_t kind = take_gguf(r, 4);
    value->n = 1;
    if (kind == GGUF_ARRAY) {
        value->is_array = true;
        kind = take_gguf(r, 4);
        value->n = take_gguf(r, 8);
    }
    if (r->is_bad)
        return false;
    if (kind >= GGUF_KINDS || kind == GGUF_ARRAY)
        return gguf_refuse(r, arena_printf(r->gguf->list.arena,
                                           "the value of '%s' is of a type that is not known",
                                           text_visible_name(r->gguf->list.arena, value->key)));
    if (map_has(&r->gguf->index, value->key))
        return gguf_refuse(r, arena_printf(r->gguf->list.arena, "the key '%s' is there twice",
                                           text_visible_name(r->gguf->list.arena, value->key)));
    value->kind = (GgufKind)kind;
    value->data = r->at;
    skip_values(r, value->kind, value->n);
    map_set(&r->gguf->index, value->key, value);
    vec_push(r->gguf->list.arena, r->gguf->values, value);
    return !r->is_bad && !arena_failed(r->gguf->list.arena);
}

const GgufValue *gguf_find(const Gguf *gguf, const char *key) { return map_get(&gguf->index, key); }

const GgufValue *gguf_own(const Gguf *gguf, const char *key)
{
    const char *own = arena_printf(gguf->list.arena, "%s.%s", gguf->architecture, key);
    return own ? gguf_find(gguf, own) : NULL;
}

/* ---- tensors ---- */

/* The description of a tensor; *offset of its data. The first of its sizes is that of the elements
 * beside each other. */
static bool read_tensor(GgufReader *r, StTensor *tensor, uint64_t *offset)
{
    *tensor = (StTensor){.name = take_name(r)};
    const uint64_t rank = take_gguf(r, 4);
    if (r->is_bad || !tensor->name)
        return false;
    if (rank > MAX_DIMS)
        return tensor_list_refuse(&r->gguf->list, tensor->name, "it has more than 4 dimensions");
    tensor->rank = (int)rank;
    for (int d = tensor->rank; d-- > 0;)
        tensor->dims[d] = (int64_t)take_gguf(r, 8); /* a negative one is refused as it is added */
    const uint32_t number = (uint32_t)take_gguf(r, 4);
    const GgufType *type = gguf_type(number);
    *offset = take_gguf(r, 8);
    if (r->is_bad)
        return false;
    if (!gguf_type_is_read(type))
        return tensor_list_refuse(
            &r->gguf->list, tensor->name,
            type ? arena_printf(r->gguf->list.arena, "its type %s is not read", type->name)
                 : arena_printf(r->gguf->list.arena, "its type, number %u, is not known", number));
    tensor->type = type->type;
    tensor->blocks = type->blocks;
    if (type->blocks && (!rank || tensor->dims[rank - 1] % type->blocks->elements))
        return tensor_list_refuse(
            &r->gguf->list, tensor->name,
            "its rows are not whole blocks of its type: the file is damaged" FETCH_AGAIN);
    return true;
}

static int by_data(const void *a, const void *b)
{
    const StTensor *const *one = a, *const *other = b;
    const unsigned char *first = (*one)->data, *second = (*other)->data;
    return (first > second) - (first < second);
}

static bool check_overlaps(GgufReader *r)
{
    const size_t n = r->gguf->list.tensors.count;
    const StTensor **tensors = ARENA_ARRAY(r->gguf->list.arena, const StTensor *, n + 1);
    if (!tensors)
        return false;
    for (size_t i = 0; i < n; i++)
        tensors[i] = &r->gguf->list.tensors.data[i];
    qsort(tensors, n, sizeof *tensors, by_data);
    const StTensor *last = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!tensors[i]->bytes)
            continue;
        const unsigned char *begin = tensors[i]->data;
        if (last && last->bytes > (uint64_t)(begin - (const unsigned char *)last->data))
            return tensor_list_refuse(
                &r->gguf->list, tensors[i]->stored,
                arena_printf(r->gguf->list.arena, "its data overlaps that of '%s'",
                             text_visible_name(r->gguf->list.arena, last->stored)));
        last = tensors[i];
    }
    return true;
}

/* Places a tensor at its offset from `data`, a byte of the file. */
static bool place_tensor(GgufReader *r, StTensor *tensor, uint64_t data, uint64_t offset,
                         uint64_t alignment)
{
    const uint64_t size = (uint64_t)(r->end - r->bytes);
    TensorList *list = &r->gguf->list;
    if (data > size || offset > size - data)
        return tensor_list_refuse(list, tensor->name, "its data is cut off" FETCH_AGAIN);
    if (offset % alignment)
        return tensor_list_refuse(list, tensor->name,
                                  arena_printf(list->arena,
                                               "its data begins at byte %" PRIu64
                                               ", which is no multiple of the alignment, %" PRIu64,
                                               offset, alignment));
    return tensor_list_place(list, tensor, r->bytes + data + offset, size - data - offset);
}

static bool read_tensors(GgufReader *r, uint64_t n, uint64_t alignment)
{
    VEC(uint64_t) offsets = {0};
    TensorList *list = &r->gguf->list;
    for (uint64_t i = 0; i < n; i++) {
        StTensor tensor;
        uint64_t offset = 0;
        if (!read_tensor(r, &tensor, &offset) || !tensor_list_push(list, tensor))
            return false;
        vec_push(list->arena, offsets, offset);
    }
    if (arena_failed(list->arena))
        return false;
    uint64_t data = (uint64_t)(r->at - r->bytes);
    data += (alignment - data % alignment) % alignment;
    for (uint64_t i = 0; i < n; i++)
        if (!place_tensor(r, &list->tensors.data[i], data, offsets.data[i], alignment))
            return false;
    return check_overlaps(r);
}

static bool read_all(GgufReader *r)
{
    r->at += MAGIC_BYTES + 4;
    const uint64_t n_tensors = take_gguf(r, 8), n_values = take_gguf(r, 8);
    for (uint64_t i = 0; i < n_values && !r->is_bad; i++)
        if (!read_value(r))
            return false;
    const int64_t parts = gguf_integer(gguf_find(r->gguf, "split.count"), 0);
    if (parts > 1 && !r->is_bad)
        return gguf_refuse(r, arena_printf(r->gguf->list.arena,
                                           "it is one of %" PRId64 " parts of a model: join them "
                                           "(llama.cpp's llama-gguf-split --merge)",
                                           parts));
    const char *name = gguf_text(r->gguf, gguf_find(r->gguf, "general.architecture"));
    r->gguf->architecture = name ? name : "";
    const GgufValue *own = gguf_find(r->gguf, "general.alignment");
    const double alignment = own ? gguf_number(own, 0) : ALIGNMENT;
    if (!(alignment >= 1 && alignment <= MOST_ALIGNMENT))
        return gguf_refuse(
            r,
            "general.alignment is not a number of bytes that is read: the file is damaged" FETCH_AGAIN);
    return !r->is_bad && read_tensors(r, n_tensors, (uint64_t)alignment);
}

bool gguf_is_read(const unsigned char *bytes, uint64_t size)
{
    if (size < MAGIC_BYTES + 4 || memcmp(bytes, magic, MAGIC_BYTES))
        return false;
    const uint64_t version = number_at(bytes + MAGIC_BYTES, 4);
    return version == 2 || version == 3;
}

/* gguf_read in an arena that may fail. */
static Gguf *gguf_read_within(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                              uint64_t size)
{
    Gguf *gguf = ARENA_NEW(arena, Gguf);
    if (!gguf)
        return NULL;
    *gguf = (Gguf){.list = tensor_list_begin(diags, arena, path)};
    map_init(&gguf->index, arena);
    GgufReader r = {.gguf = gguf, .bytes = bytes, .at = bytes};
    r.end = r.at + size;
    const int errors = diags->errors;
    if (gguf_is_read(bytes, size) && read_all(&r))
        return gguf;
    if (diags->errors == errors)
        gguf_refuse(&r, gguf_is_read(bytes, size) ? "the file is cut off" FETCH_AGAIN
                                                  : "it is no GGUF of version 2 or 3");
    return NULL;
}

Gguf *gguf_read(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                uint64_t size)
{
    BudgetScope scope;
    Arena *own = budget_begin(&scope, BUDGET_BINARY, diags, arena, path, size);
    Gguf *gguf = own ? gguf_read_within(diags, own, path, bytes, size) : NULL;
    if (!budget_end(&scope) || !gguf)
        return NULL;
    gguf->list.arena = arena;
    return gguf;
}

/* ---- published names ---- */

/* The rows of each head: first the even ones, then the odd ones. False: the heads do not divide
 * the rows. */
static bool view_rows(const Gguf *gguf, StTensor *tensor, double heads)
{
    const int64_t rows = tensor->rank ? tensor->dims[0] : 0;
    if (!(heads >= 1 && heads <= (double)rows) || rows % (2 * (int64_t)heads))
        return false;
    const int64_t width = tensor->rank > 1 ? tensor->count / rows : 1;
    const int64_t half = rows / (int64_t)heads / 2;
    StView *view = ARENA_NEW(gguf->list.arena, StView);
    if (!view)
        return false;
    *view = (StView){.rank = 4,
                     .sizes = {(int64_t)heads, 2, half, width},
                     .strides = {2 * half * width, width, 2 * width, 1}};
    tensor->view = view;
    return true;
}

static bool view_turned(const Gguf *gguf, StTensor *tensor)
{
    if (tensor->rank != 2)
        return false;
    StView *view = ARENA_NEW(gguf->list.arena, StView);
    if (!view)
        return false;
    const int64_t rows = tensor->dims[0], columns = tensor->dims[1];
    *view = (StView){.rank = 2, .sizes = {columns, rows}, .strides = {1, columns}};
    tensor->dims[0] = columns;
    tensor->dims[1] = rows;
    tensor->view = view;
    return true;
}

/* The gains less by 1, as f32. */
static bool lower_gains(const Gguf *gguf, StTensor *tensor)
{
    enum { LARGEST = 1 << 20 };
    const int64_t n = tensor->count;
    float *gains =
        tensor->rank == 1 && n <= LARGEST ? ARENA_ARRAY(gguf->list.arena, float, n) : NULL;
    if (!gains || !st_floats(tensor, 0, n, gains))
        return false;
    for (int64_t i = 0; i < n; i++)
        gains[i] -= 1;
    tensor->type = ST_F32;
    tensor->blocks = NULL;
    tensor->data = gains;
    tensor->bytes = (uint64_t)n * sizeof *gains;
    return true;
}

static bool publish(const Gguf *gguf, const GgufName *row, StTensor *tensor)
{
    const GgufValue *heads = gguf_own(gguf, "attention.head_count");
    const GgufValue *keys = gguf_own(gguf, "attention.head_count_kv");
    if (!tensor->count)
        return true;
    switch (row->how) {
    case GGUF_ROWS: return view_rows(gguf, tensor, gguf_number(heads, 0));
    case GGUF_KEY_ROWS: return view_rows(gguf, tensor, gguf_number(keys ? keys : heads, 0));
    case GGUF_TRANSPOSED: return view_turned(gguf, tensor);
    case GGUF_GAIN: return lower_gains(gguf, tensor);
    default: return true;
    }
}

StFile *gguf_parse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                   uint64_t size)
{
    Gguf *gguf = gguf_read_within(diags, arena, path, bytes, size);
    if (!gguf)
        return NULL;
    const GgufArchitecture *architecture = gguf_architecture(gguf);
    for (size_t i = 0; architecture && i < gguf->list.tensors.count; i++) {
        StTensor *tensor = &gguf->list.tensors.data[i];
        int64_t block;
        const GgufName *row = gguf_name(architecture, tensor->name, false, &block);
        if (!row)
            continue;
        if (!publish(gguf, row, tensor)) {
            tensor_list_refuse(
                &gguf->list, tensor->name,
                "its shape does not fit the numbers of heads in the metadata, or it is not a vector of gains");
            return NULL;
        }
        tensor->name = gguf_name_text(arena, row->published, block);
    }
    return tensor_list_file(&gguf->list);
}
