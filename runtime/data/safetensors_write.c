/* Writing safetensors: the header, padded with spaces to a multiple of
 * eight bytes, then the data, through a file that replaces the old one at the end. */
#include "runtime/data/safetensors.h"

#include "base/file.h"
#include "base/json_write.h"
#include "base/map.h"
#include "base/vec.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t data_bytes(const StTensor *tensor)
{
    uint64_t bytes = element_info(tensor->type)->bytes;
    for (int i = 0; i < tensor->rank; i++)
        bytes *= (uint64_t)tensor->dims[i];
    return bytes;
}

static int by_alignment(const void *a, const void *b)
{
    const StTensor *x = *(const StTensor *const *)a, *y = *(const StTensor *const *)b;
    size_t size_x = element_info(x->type)->bytes, size_y = element_info(y->type)->bytes;
    return size_x != size_y ? (size_x > size_y ? -1 : 1) : strcmp(x->name, y->name);
}

/* The header as it grows: in the arena, so that a lack of memory is told at the end. */
typedef struct Header {
    Arena *arena;
    VEC(char) text;
} Header;

static void put(Header *out, const char *bytes, size_t n)
{
    vec_reserve(out->arena, out->text, out->text.count + n);
    if (arena_failed(out->arena))
        return;
    memcpy(out->text.data + out->text.count, bytes, n);
    out->text.count += n;
}

static void put_text(Header *out, const char *text) { put(out, text, strlen(text)); }

static void add_entry(Header *out, const StTensor *tensor, uint64_t begin)
{
    char text[64];
    put_text(out, ":{\"dtype\":\"");
    put_text(out, element_info(tensor->type)->stored);
    put_text(out, "\",\"shape\":[");
    for (int i = 0; i < tensor->rank; i++) {
        snprintf(text, sizeof text, "%s%" PRId64, i ? "," : "", tensor->dims[i]);
        put_text(out, text);
    }
    snprintf(text, sizeof text, "%" PRIu64 ",%" PRIu64, begin, begin + data_bytes(tensor));
    put_text(out, "],\"data_offsets\":[");
    put_text(out, text);
    put_text(out, "]}");
}

static void add_string(Header *out, const char *text)
{
    char escape[JSON_ESCAPE];
    put_text(out, "\"");
    for (; *text; text++)
        put(out, escape, json_escape((unsigned char)*text, escape));
    put_text(out, "\"");
}

/* The next key of an object; one that is there already is our mistake. */
static void add_key(Header *out, Map *seen, const char *key)
{
    assert(!map_has(seen, key));
    if (seen->count)
        put_text(out, ",");
    map_set(seen, key, out);
    add_string(out, key);
}

static void make_header(const StTensor **sorted, int64_t n, const StMeta *meta, int64_t n_meta,
                        Header *out)
{
    Map keys, meta_keys;
    map_init(&keys, out->arena);
    map_init(&meta_keys, out->arena);
    put_text(out, "{");
    if (n_meta > 0) {
        add_key(out, &keys, "__metadata__");
        put_text(out, ":{");
        for (int64_t i = 0; i < n_meta; i++) {
            add_key(out, &meta_keys, meta[i].key);
            put_text(out, ":");
            add_string(out, meta[i].value);
        }
        put_text(out, "}");
    }
    uint64_t place = 0;
    for (int64_t i = 0; i < n; i++) {
        add_key(out, &keys, sorted[i]->name);
        add_entry(out, sorted[i], place);
        place += data_bytes(sorted[i]);
    }
    put_text(out, "}");
}

static void write_header(FileWriter *file, const Header *header)
{
    uint64_t length = header->text.count, padded = (length + 7) / 8 * 8;
    unsigned char prefix[8];
    for (int i = 0; i < 8; i++)
        prefix[i] = (unsigned char)(padded >> (8 * i));
    file_write(file, prefix, sizeof prefix);
    file_write(file, header->text.data, length);
    file_write(file, "        ", padded - length);
}

/* The tensors in the order of the file, with their sizes. */
static const StTensor **sort(Arena *arena, const StTensor *tensors, int64_t n)
{
    const StTensor **sorted = ARENA_ARRAY(arena, const StTensor *, n + 1);
    StTensor *copies = ARENA_ARRAY(arena, StTensor, n + 1);
    if (!sorted || !copies)
        return NULL;
    for (int64_t i = 0; i < n; i++) {
        copies[i] = tensors[i];
        copies[i].bytes = data_bytes(&tensors[i]);
        sorted[i] = &copies[i];
    }
    qsort(sorted, (size_t)n, sizeof *sorted, by_alignment);
    return sorted;
}

/* For the largest tensor that is fetched; NULL: no memory. */
static void *make_room(Arena *arena, const StTensor **tensors, int64_t n)
{
    uint64_t most = 0;
    for (int64_t i = 0; i < n; i++)
        if (tensors[i]->fetch && tensors[i]->bytes > most)
            most = tensors[i]->bytes;
    return arena_array(arena, most + 1, 1);
}

const void *st_data(const StTensor *tensor, void *room)
{
    if (!tensor->fetch)
        return tensor->data;
    tensor->fetch(tensor->context, tensor->name, room);
    return room;
}

static bool write_all(FileWriter *file, Arena *arena, const StTensor *tensors, int64_t n,
                      const StMeta *meta, int64_t n_meta, bool checked)
{
    Header header = {.arena = arena};
    const StTensor **sorted = sort(arena, tensors, n);
    StMeta *all = ARENA_ARRAY(arena, StMeta, n_meta + 1);
    void *room = sorted ? make_room(arena, sorted, n) : NULL;
    if (!room || !all)
        return false;
    if (n_meta)
        memcpy(all, meta, sizeof *meta * (size_t)n_meta);
    if (checked) {
        all[n_meta] = (StMeta){ST_CHECKSUMS, st_make_checksums(arena, sorted, n, meta, n_meta, room)};
        if (!all[n_meta++].value)
            return false;
    }
    make_header(sorted, n, all, n_meta, &header);
    if (arena_failed(arena))
        return false;
    write_header(file, &header);
    for (int64_t i = 0; i < n; i++)
        if (sorted[i]->bytes)
            file_write(file, st_data(sorted[i], room), sorted[i]->bytes);
    return true;
}

static bool write_file(Diagnostics *diags, const char *path, const StTensor *tensors, int64_t n,
                       const StMeta *meta, int64_t n_meta, bool checked)
{
    FileWriter *file = file_create(diags, path);
    if (!file)
        return false;
    Arena *arena = arena_try_new();
    bool ok = arena && write_all(file, arena, tensors, n, meta, n_meta, checked);
    arena_free(arena);
    if (ok)
        return file_commit(file, diags);
    file_discard(file);
    diag_errno(diags, "write", path, ENOMEM);
    return false;
}

bool st_write(Diagnostics *diags, const char *path, const StTensor *tensors, int64_t n,
              const StMeta *meta, int64_t n_meta)
{
    return write_file(diags, path, tensors, n, meta, n_meta, false);
}

bool st_write_checked(Diagnostics *diags, const char *path, const StTensor *tensors, int64_t n,
                      const StMeta *meta, int64_t n_meta)
{
    return write_file(diags, path, tensors, n, meta, n_meta, true);
}
