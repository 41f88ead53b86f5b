/* Writing safetensors: the header, padded with spaces to a multiple of
 * eight bytes, then the data, through a file that replaces the old one at the end. */
#include "runtime/data/safetensors.h"

#include "base/file.h"
#include "base/map.h"

#include <assert.h>
#include <inttypes.h>
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

static void add_entry(Text *out, const StTensor *tensor, uint64_t begin)
{
    text_add(out, ":{\"dtype\":\"%s\",\"shape\":[", st_type_name(tensor->type));
    for (int i = 0; i < tensor->rank; i++)
        text_add(out, "%s%" PRId64, i ? "," : "", tensor->dims[i]);
    text_add(out, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", begin,
             begin + data_bytes(tensor));
}

static void add_string(Text *out, const char *text)
{
    text_put(out, "\"", 1);
    for (const char *p = text; *p; p++)
        if (*p == '"' || *p == '\\')
            text_add(out, "\\%c", *p);
        else if ((unsigned char)*p < 0x20)
            text_add(out, "\\u%04x", *p);
        else
            text_put(out, p, 1);
    text_put(out, "\"", 1);
}

/* The next key of an object; one that is there already is our mistake. */
static void add_key(Text *out, Map *seen, const char *key)
{
    assert(!map_has(seen, key));
    if (seen->count)
        text_put(out, ",", 1);
    map_set(seen, key, out);
    add_string(out, key);
}

static void make_header(Arena *arena, const StTensor **sorted, int64_t n, const StMeta *meta,
                        int64_t n_meta, Text *out)
{
    Map keys, meta_keys;
    map_init(&keys, arena);
    map_init(&meta_keys, arena);
    text_put(out, "{", 1);
    if (n_meta > 0) {
        add_key(out, &keys, "__metadata__");
        text_put(out, ":{", 2);
        for (int64_t i = 0; i < n_meta; i++) {
            add_key(out, &meta_keys, meta[i].key);
            text_put(out, ":", 1);
            add_string(out, meta[i].value);
        }
        text_put(out, "}", 1);
    }
    uint64_t place = 0;
    for (int64_t i = 0; i < n; i++) {
        add_key(out, &keys, sorted[i]->name);
        add_entry(out, sorted[i], place);
        place += data_bytes(sorted[i]);
    }
    text_put(out, "}", 1);
}

static void write_header(FileWriter *file, const Text *header)
{
    uint64_t length = header->length, padded = (length + 7) / 8 * 8;
    unsigned char prefix[8];
    for (int i = 0; i < 8; i++)
        prefix[i] = (unsigned char)(padded >> (8 * i));
    file_write(file, prefix, sizeof prefix);
    file_write(file, header->data, length);
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
    Text header = {0};
    make_header(arena, sorted, n, meta, n_meta, &header);
    write_header(file, &header);
    for (int64_t i = 0; i < n; i++)
        if (data_bytes(sorted[i]))
            file_write(file, sorted[i]->data, data_bytes(sorted[i]));
    text_free(&header);
    arena_free(arena);
    return file_commit(file, diags);
}
