/* Both kinds of PyTorch's files, and the tensors of a state dict. */
#include "driver/formats/torch.h"

#include "driver/formats/tensor_list.h"
#include "driver/formats/torch_values.h"
#include "driver/formats/zip.h"

#include <assert.h>
#include <string.h>

enum { DEEPEST = 8 }; /* containers within each other */

typedef struct TorchReader {
    TensorList list;
    TorchValues values;
    uint64_t left; /* items that may still be visited: values may contain themselves */
} TorchReader;

static TorchReader torch_begin(Diagnostics *diags, Arena *arena, const char *path)
{
    return (TorchReader){.list = tensor_list_begin(diags, arena, path), .left = PICKLE_MAX_BYTES};
}

static const Pickled *read_pickle(TorchReader *r, const void *bytes, uint64_t size, uint64_t *used)
{
    const char *problem;
    const Pickled *value =
        pickle_read(r->list.arena, &r->values.rules, bytes, size, used, &problem);
    if (!value && problem)
        tensor_list_refuse(&r->list, NULL, problem);
    return value;
}

/* ---- tensors ---- */

/* Whether elements lie one behind the other; `reach`: elements up to the last one, 0 of none.
 * False: that is more than can be counted. */
static bool measure_torch_tensor(const TorchTensor *from, bool *is_dense, uint64_t *reach)
{
    uint64_t stride = 1, last = 0;
    bool none = false;
    *is_dense = true;
    for (int d = from->rank; d-- > 0;) {
        const uint64_t size = (uint64_t)from->dims[d], step = (uint64_t)from->strides[d];
        uint64_t far;
        none = none || size == 0;
        *is_dense = *is_dense && (size == 1 || step == stride);
        if (size && (__builtin_mul_overflow(size - 1, step, &far) ||
                     __builtin_add_overflow(last, far, &last)))
            return false;
        if (__builtin_mul_overflow(stride, size, &stride))
            return false;
    }
    if (__builtin_add_overflow(last, (uint64_t)from->first + 1, reach))
        return false;
    *reach = none ? 0 : *reach;
    return true;
}

/* Its bytes, of the storage that has them. */
static const unsigned char *storage_data(const TorchStorage *storage, uint64_t *bytes)
{
    const TorchStorage *whole = storage->whole ? storage->whole : storage;
    const uint64_t size = element_info(storage->type)->bytes;
    uint64_t skip = 0, own;
    *bytes = 0;
    if (!whole->data || __builtin_mul_overflow((uint64_t)storage->first, size, &skip) ||
        __builtin_mul_overflow((uint64_t)storage->count, size, &own) || skip > whole->bytes ||
        own > whole->bytes - skip)
        return NULL;
    *bytes = own;
    return whole->data + skip;
}

static bool add_tensor(TorchReader *r, const char *name, const TorchTensor *from)
{
    uint64_t bytes, reach;
    bool is_dense;
    const uint64_t size = element_info(from->type)->bytes;
    const unsigned char *data = storage_data(from->storage, &bytes);
    const TorchStorage *whole = from->storage->whole ? from->storage->whole : from->storage;
    StTensor tensor = {
        .name = name, .stored = name, .type = from->type, .rank = from->rank, .seal = whole->seal};
    memcpy(tensor.dims, from->dims, sizeof tensor.dims);
    if (!data)
        return tensor_list_refuse(&r->list, name,
                                  "its storage is not in the file, or cut off" FETCH_AGAIN);
    if (!st_count(&tensor) || !measure_torch_tensor(from, &is_dense, &reach) ||
        reach > bytes / size || __builtin_mul_overflow((uint64_t)tensor.count, size, &tensor.bytes))
        return tensor_list_refuse(&r->list, name, "it reaches beyond its storage");
    tensor.data = reach ? data + (uint64_t)from->first * size : data;
    if (!is_dense && reach) {
        StView *view = ARENA_NEW(r->list.arena, StView);
        if (!view)
            return false;
        *view = (StView){.rank = from->rank};
        memcpy(view->sizes, from->dims, sizeof view->sizes);
        memcpy(view->strides, from->strides, sizeof view->strides);
        tensor.view = view;
    }
    return tensor_list_push(&r->list, tensor);
}

/* ---- state dicts ---- */

static bool is_tensor(const Pickled *value)
{
    return value->kind == PICKLED_OBJECT && value->integer == TORCH_TENSOR;
}

/* The number of tensors that are values of a dict. */
static size_t count_tensors(const Pickled *dict)
{
    size_t n = 0;
    for (size_t i = 1; dict->kind == PICKLED_DICT && i < dict->items.count; i += 2)
        n += is_tensor(dict->items.data[i]);
    return n;
}

/* The dict of the model in a checkpoint: the value of one of its usual keys, if that has tensors or
 * one of the keys, in turn. */
static const Pickled *find_state(const Pickled *root)
{
    static const char *const keys[] = {"state_dict", "model_state_dict", "model"};
    for (int depth = 0; depth < DEEPEST; depth++) {
        const Pickled *inner = NULL;
        for (size_t k = 0; k < sizeof keys / sizeof *keys && !inner; k++) {
            inner = pickle_member(root, keys[k]);
            if (inner && (inner->kind != PICKLED_DICT || !inner->items.count))
                inner = NULL;
        }
        if (!inner)
            break;
        root = inner;
    }
    return root;
}

/* The name of the i-th item of a container behind `front`; NULL: it has none, or no memory. */
static const char *name_item(TorchReader *r, const char *front, const Pickled *value, size_t i)
{
    const Pickled *key = value->kind == PICKLED_DICT ? value->items.data[i] : NULL;
    const char *dot = *front ? "." : "";
    if (key && key->kind == PICKLED_TEXT)
        return *front ? arena_printf(r->list.arena, "%s.%s", front, key->text) : key->text;
    if (key && key->kind != PICKLED_INTEGER)
        return NULL;
    return arena_printf(r->list.arena, "%s%s%lld", front, dot,
                        key ? (long long)key->integer : (long long)i);
}

static bool is_container(const Pickled *value)
{
    return value->kind == PICKLED_DICT || value->kind == PICKLED_LIST ||
           value->kind == PICKLED_TUPLE;
}

/* Adds the tensors within a container, and those of containers in it. */
static bool add_items(TorchReader *r, const char *front, const Pickled *container, int depth)
{
    const bool is_dict = container->kind == PICKLED_DICT;
    bool ok = true;
    for (size_t i = 0; ok && i < container->items.count; i += is_dict ? 2 : 1) {
        const Pickled *value = container->items.data[is_dict ? i + 1 : i];
        const bool holds = is_container(value) && depth + 1 < DEEPEST;
        if (!r->left--)
            return tensor_list_refuse(&r->list, NULL, "its values contain each other");
        const bool is_passed = value->kind == PICKLED_OBJECT && value->integer == TORCH_OTHER;
        if (!holds && !is_tensor(value) && !is_passed)
            continue;
        const char *name = name_item(r, front, container, i);
        if (is_passed)
            ok = tensor_list_pass(&r->list, name, value->object);
        else if (name)
            ok = holds ? add_items(r, name, value, depth + 1) : add_tensor(r, name, value->object);
        ok = ok && !arena_failed(r->list.arena);
    }
    return ok;
}

/* Takes a front away that all names have. */
static void strip_front(TorchReader *r, const char *front)
{
    const size_t length = strlen(front);
    for (size_t i = 0; i < r->list.tensors.count; i++)
        if (strncmp(r->list.tensors.data[i].name, front, length))
            return;
    for (size_t i = 0; i < r->list.tensors.count; i++)
        r->list.tensors.data[i].name += length;
}

static StFile *make_file(TorchReader *r, const Pickled *root)
{
    const Pickled *state = find_state(root);
    if (is_tensor(state) ? !add_tensor(r, "", state->object)
                         : is_container(state) &&
                               !add_items(r, "", state, count_tensors(state) ? DEEPEST - 1 : 0))
        return NULL;
    for (int i = 0; i < 2; i++) { /* either may be the outer one */
        strip_front(r, "module.");
        strip_front(r, "_orig_mod.");
    }
    return tensor_list_file(&r->list);
}

/* ---- zip ---- */

/* The entry whose name is this behind the archive's own folder. */
static const ZipEntry *find_entry(const ZipArchive *zip, const char *name)
{
    for (size_t i = 0; i < zip->entries.count; i++) {
        const char *slash = strchr(zip->entries.data[i]->name, '/');
        if (slash && !strcmp(slash + 1, name))
            return zip->entries.data[i];
    }
    return NULL;
}

static bool has_pickle(const ZipArchive *zip) { return find_entry(zip, "data.pkl"); }
static bool has_constants(const ZipArchive *zip) { return find_entry(zip, "constants.pkl"); }

bool torch_is_zip(const unsigned char *bytes, uint64_t size)
{
    return zip_is(bytes, size, has_pickle);
}

bool torch_is_script(const unsigned char *bytes, uint64_t size)
{
    return zip_is(bytes, size, has_constants);
}

/* Which of two folders PyTorch would read depends on their order. */
static bool check_folder(TorchReader *r, const ZipArchive *zip, const ZipEntry *pickle)
{
    const size_t front = (size_t)(strchr(pickle->name, '/') - pickle->name) + 1;
    for (size_t i = 0; i < zip->entries.count; i++)
        if (strncmp(zip->entries.data[i]->name, pickle->name, front))
            return tensor_list_refuse(
                &r->list, NULL,
                arena_printf(r->list.arena,
                             "it has '%s' and '%s'; all that PyTorch writes lies in one folder: "
                             "save it again",
                             text_visible_name(r->list.arena, pickle->name),
                             text_visible_name(r->list.arena, zip->entries.data[i]->name)));
    return true;
}

static bool find_storages(TorchReader *r, ZipArchive *zip, const ZipEntry *pickle)
{
    const char *slash = strchr(pickle->name, '/');
    const char *folder = arena_strndup(r->list.arena, pickle->name, (size_t)(slash - pickle->name));
    for (size_t i = 0; folder && i < r->values.list.count; i++) {
        TorchStorage *storage = r->values.list.data[i];
        const char *name = arena_printf(r->list.arena, "%s/data/%s", folder, storage->key);
        const ZipEntry *entry = name ? zip_find(zip, name) : NULL;
        if (!entry)
            continue;
        storage->data = zip_sealed(zip, entry, &storage->seal);
        storage->bytes = entry->size;
        if (!storage->data)
            return false;
    }
    return !arena_failed(r->list.arena);
}

StFile *torch_parse_zip(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                        uint64_t size)
{
    TorchReader r = torch_begin(diags, arena, path);
    ZipArchive *zip = zip_parse(diags, arena, path, bytes, size);
    const ZipEntry *pickle = zip ? find_entry(zip, "data.pkl") : NULL;
    const ZipEntry *order = zip ? find_entry(zip, "byteorder") : NULL;
    const char *const little = "little";
    if (!zip)
        return NULL;
    torch_values_init(&r.values, arena);
    assert(pickle); /* torch_is_zip */
    if (!check_folder(&r, zip, pickle))
        return NULL;
    const void *order_bytes = order ? zip_checked(zip, order) : little;
    if (!order_bytes ||
        (order && (order->size < strlen(little) || memcmp(order_bytes, little, strlen(little))))) {
        tensor_list_refuse(
            &r.list, NULL,
            "its numbers are big-endian, which is not read: save it on a little-endian machine");
        return NULL;
    }
    uint64_t used;
    const void *text = zip_checked(zip, pickle);
    const Pickled *root = text ? read_pickle(&r, text, pickle->size, &used) : NULL;
    return root && find_storages(&r, zip, pickle) ? make_file(&r, root) : NULL;
}

/* ---- legacy ---- */

/* The storages behind the pickles: of each key its number of elements, then these. */
static bool read_storages(TorchReader *r, const Pickled *keys, const unsigned char *at,
                          uint64_t left)
{
    enum { COUNT_BYTES = 8 };
    for (size_t i = 0; keys->kind == PICKLED_LIST && i < keys->items.count; i++) {
        const char *key =
            keys->items.data[i]->kind == PICKLED_TEXT ? keys->items.data[i]->text : "";
        TorchStorage *storage = map_get(&r->values.storages, key);
        uint64_t count = 0, bytes;
        for (int b = 0; left >= COUNT_BYTES && b < COUNT_BYTES; b++)
            count |= (uint64_t)at[b] << (8 * b);
        if (left < COUNT_BYTES || !storage || count != (uint64_t)storage->count ||
            __builtin_mul_overflow(count, element_info(storage->type)->bytes, &bytes) ||
            bytes > left - COUNT_BYTES)
            return tensor_list_refuse(&r->list, NULL,
                                      "its storages are cut off, or others than its pickle says");
        storage->data = at + COUNT_BYTES;
        storage->bytes = bytes;
        at += COUNT_BYTES + bytes;
        left -= COUNT_BYTES + bytes;
    }
    return true;
}

StFile *torch_parse_legacy(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                           uint64_t size)
{
    enum { MAGIC, PROTOCOL, SYSTEM, ROOT, KEYS, PICKLES };
    TorchReader r = torch_begin(diags, arena, path);
    torch_values_init(&r.values, arena);
    const unsigned char *at = bytes;
    const Pickled *values[PICKLES];
    for (int i = 0; i < PICKLES; i++) {
        uint64_t used;
        if (!(values[i] = read_pickle(&r, at, size, &used)))
            return NULL;
        at += used;
        size -= used;
    }
    const Pickled *little = pickle_member(values[SYSTEM], "little_endian");
    if (little && little->kind == PICKLED_BOOL && !little->integer) {
        tensor_list_refuse(
            &r.list, NULL,
            "its numbers are big-endian, which is not read: save it on a little-endian machine");
        return NULL;
    }
    return read_storages(&r, values[KEYS], at, size) ? make_file(&r, values[ROOT]) : NULL;
}
