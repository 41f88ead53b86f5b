/* Writing safetensors: header built by jansson, padded with spaces to a multiple of
 * eight bytes, then the data, through a file that replaces the old one at the end. */
#include "runtime/data/safetensors.h"

#include "base/file.h"

#include <assert.h>
#include <jansson.h>
#include <stdlib.h>

static uint64_t data_bytes(const StTensor *tensor)
{
    uint64_t bytes = st_type_bytes(tensor->type);
    for (int i = 0; i < tensor->rank; i++)
        bytes *= (uint64_t)tensor->dims[i];
    return bytes;
}

static int by_alignment(const void *a, const void *b)
{
    const StTensor *x = *(const StTensor *const *)a, *y = *(const StTensor *const *)b;
    size_t size_x = st_type_bytes(x->type), size_y = st_type_bytes(y->type);
    return size_x != size_y ? (size_x > size_y ? -1 : 1) : strcmp(x->name, y->name);
}

static json_t *make_entry(const StTensor *tensor, uint64_t begin)
{
    json_t *shape = json_array();
    for (int i = 0; i < tensor->rank; i++)
        json_array_append_new(shape, json_integer(tensor->dims[i]));
    json_t *offsets = json_array();
    json_array_append_new(offsets, json_integer((json_int_t)begin));
    json_array_append_new(offsets, json_integer((json_int_t)(begin + data_bytes(tensor))));
    json_t *entry = json_object();
    json_object_set_new(entry, "dtype", json_string(st_type_name(tensor->type)));
    json_object_set_new(entry, "shape", shape);
    json_object_set_new(entry, "data_offsets", offsets);
    return entry;
}

/* Adds under a new key; a key that is there already or is not UTF-8 is our mistake. */
static void add_entry(json_t *object, const char *key, json_t *value)
{
    bool fresh = !json_object_get(object, key);
    int failed = json_object_set_new(object, key, value);
    assert(fresh && !failed);
    (void)fresh, (void)failed;
}

static char *make_header(const StTensor **sorted, int64_t n, const StMeta *meta, int64_t n_meta)
{
    json_t *header = json_object();
    if (n_meta > 0) {
        json_t *strings = json_object();
        for (int64_t i = 0; i < n_meta; i++)
            add_entry(strings, meta[i].key, json_string(meta[i].value));
        add_entry(header, "__metadata__", strings);
    }
    uint64_t place = 0;
    for (int64_t i = 0; i < n; i++) {
        add_entry(header, sorted[i]->name, make_entry(sorted[i], place));
        place += data_bytes(sorted[i]);
    }
    char *text = json_dumps(header, JSON_COMPACT);
    json_decref(header);
    assert(text);
    return text;
}

static void write_header(FileWriter *file, const char *header)
{
    uint64_t length = strlen(header), padded = (length + 7) / 8 * 8;
    unsigned char prefix[8];
    for (int i = 0; i < 8; i++)
        prefix[i] = (unsigned char)(padded >> (8 * i));
    file_write(file, prefix, sizeof prefix);
    file_write(file, header, length);
    file_write(file, "        ", padded - length);
}

bool st_write(Diagnostics *diags, const char *path, const StTensor *tensors, int64_t n,
              const StMeta *meta, int64_t n_meta)
{
    FileWriter *file = file_create(diags, path);
    if (!file)
        return false;
    Arena *arena = arena_new();
    const StTensor **sorted = ARENA_ARRAY(arena, const StTensor *, n + 1);
    for (int64_t i = 0; i < n; i++)
        sorted[i] = &tensors[i];
    qsort(sorted, (size_t)n, sizeof *sorted, by_alignment);
    char *header = make_header(sorted, n, meta, n_meta);
    write_header(file, header);
    for (int64_t i = 0; i < n; i++)
        if (data_bytes(sorted[i]))
            file_write(file, sorted[i]->data, data_bytes(sorted[i]));
    free(header);
    arena_free(arena);
    return file_commit(file, diags);
}
