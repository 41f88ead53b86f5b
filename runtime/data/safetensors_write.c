/* Writing safetensors: the header, padded with spaces to a multiple of eight bytes, then the
 * data, through a file that replaces the old one at the end. What a process has not is
 * left out: the bytes of others, who write the same file. */
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

enum { PREFIX = 8 }; /* bytes of the header's length */

static uint64_t data_bytes(const StTensor *tensor)
{
    uint64_t bytes = element_info(tensor->type)->bytes;
    for (int i = 0; i < tensor->rank; i++)
        bytes *= (uint64_t)tensor->dims[i];
    return bytes;
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

static uint64_t padded_length(const Header *header) { return (header->text.count + 7) / 8 * 8; }

static void write_header(FileWriter *file, const Header *header)
{
    uint64_t length = header->text.count, padded = padded_length(header);
    unsigned char prefix[PREFIX];
    for (int i = 0; i < PREFIX; i++)
        prefix[i] = (unsigned char)(padded >> (8 * i));
    file_write(file, prefix, sizeof prefix);
    file_write(file, header->text.data, length);
    file_write(file, "        ", padded - length);
}

/* ---- the writer ---- */

/* Item: a tensor with its size, and what of it is here. */
typedef struct Item {
    StTensor tensor;
    StPart part;
} Item;

struct StWriter {
    int64_t n, n_blocks, n_sums;
    const Item **items;       /* in the order of the file */
    const StTensor **tensors; /* theirs */
    uint64_t *sums;           /* of all blocks in the order of the file; n_sums of them are known */
    Header header;
};

static int by_alignment(const void *a, const void *b)
{
    const StTensor *x = &(*(const Item *const *)a)->tensor, *y = &(*(const Item *const *)b)->tensor;
    size_t size_x = element_info(x->type)->bytes, size_y = element_info(y->type)->bytes;
    return size_x != size_y ? (size_x > size_y ? -1 : 1) : strcmp(x->name, y->name);
}

StWriter *st_writer_new(Arena *arena, const StTensor *tensors, const StPart *parts, int64_t n)
{
    StWriter *w = ARENA_NEW(arena, StWriter);
    Item *items = ARENA_ARRAY(arena, Item, n + 1);
    if (!w || !items)
        return NULL;
    *w = (StWriter){.n = n,
                    .items = ARENA_ARRAY(arena, const Item *, n + 1),
                    .tensors = ARENA_ARRAY(arena, const StTensor *, n + 1),
                    .header = {.arena = arena}};
    if (!w->items || !w->tensors)
        return NULL;
    for (int64_t i = 0; i < n; i++) {
        items[i] = (Item){tensors[i], {0}};
        items[i].tensor.bytes = data_bytes(&tensors[i]);
        items[i].part = parts ? parts[i] : (StPart){tensors[i].data, 0, items[i].tensor.bytes};
        assert(!items[i].part.bytes || items[i].part.from % ST_BLOCK == 0);
        w->items[i] = &items[i];
        w->n_blocks += st_blocks(items[i].tensor.bytes);
    }
    qsort(w->items, (size_t)n, sizeof *w->items, by_alignment);
    for (int64_t i = 0; i < n; i++)
        w->tensors[i] = &w->items[i]->tensor;
    return w;
}

/* Adds the sums of a part, whose first block has this number. */
static int64_t sum_part(const StPart *part, int64_t block, StSum *sums, int64_t n)
{
    for (uint64_t at = 0; at < part->bytes; at += ST_BLOCK) {
        uint64_t left = part->bytes - at, bytes = left < ST_BLOCK ? left : ST_BLOCK;
        sums[n++] = (StSum){block++, st_block_sum((const char *)part->data + at, bytes)};
    }
    return n;
}

const StSum *st_sum(StWriter *w, int64_t *n)
{
    int64_t here = 0, block = 0;
    for (int64_t i = 0; i < w->n; i++)
        here += st_blocks(w->items[i]->part.bytes);
    StSum *sums = ARENA_ARRAY(w->header.arena, StSum, here + 1);
    *n = 0;
    for (int64_t i = 0; sums && i < w->n; i++) {
        const StPart *part = &w->items[i]->part;
        *n = sum_part(part, block + (int64_t)(part->from / ST_BLOCK), sums, *n);
        block += st_blocks(w->tensors[i]->bytes);
    }
    return sums;
}

bool st_take_sums(StWriter *w, const StSum *sums, int64_t n)
{
    if (!w->sums)
        w->sums = ARENA_ARRAY(w->header.arena, uint64_t, w->n_blocks + 1);
    for (int64_t i = 0; w->sums && i < n; i++) {
        if (sums[i].block < 0 || sums[i].block >= w->n_blocks)
            return false;
        w->sums[sums[i].block] = sums[i].sum;
    }
    w->n_sums += n;
    return w->sums != NULL;
}

uint64_t st_make_header(StWriter *w, const StMeta *meta, int64_t n_meta, bool checked)
{
    Arena *arena = w->header.arena;
    StMeta *all = ARENA_ARRAY(arena, StMeta, n_meta + 1);
    if (!all)
        return 0;
    if (n_meta)
        memcpy(all, meta, sizeof *meta * (size_t)n_meta);
    if (checked) {
        assert(w->n_sums == w->n_blocks);
        all[n_meta] = st_make_checksums(arena, w->tensors, w->n, meta, n_meta, w->sums);
        if (!all[n_meta++].value)
            return 0;
    }
    make_header(w->tensors, w->n, all, n_meta, &w->header);
    return arena_failed(arena) ? 0 : PREFIX + padded_length(&w->header);
}

void st_put(const StWriter *w, FileWriter *file, uint64_t data_at)
{
    uint64_t at = 0, begin = data_at;
    if (w->header.text.count) {
        write_header(file, &w->header);
        at = data_at;
    }
    for (int64_t i = 0; i < w->n; i++) {
        const StPart *part = &w->items[i]->part;
        if (part->bytes) {
            if (begin + part->from != at)
                file_skip(file, begin + part->from - at);
            file_write(file, part->data, part->bytes);
            at = begin + part->from + part->bytes;
        }
        begin += w->tensors[i]->bytes;
    }
}

/* ---- one process ---- */

static bool sum_all(StWriter *w)
{
    int64_t n;
    const StSum *sums = st_sum(w, &n);
    return sums && st_take_sums(w, sums, n);
}

static bool write_parts(StWriter *w, FileWriter *file, const StMeta *meta, int64_t n_meta,
                        bool checked)
{
    uint64_t data_at = checked && !sum_all(w) ? 0 : st_make_header(w, meta, n_meta, checked);
    if (data_at)
        st_put(w, file, data_at);
    return data_at != 0;
}

static bool write_alone(Diagnostics *diags, const char *path, bool is_own, StWriter *w,
                        const StMeta *meta, int64_t n_meta, bool checked)
{
    FileWriter *file = (is_own ? file_create_own : file_create)(diags, path);
    if (!file)
        return false;
    if (write_parts(w, file, meta, n_meta, checked))
        return file_commit(file, diags);
    file_discard(file);
    diag_errno(diags, "write", path, ENOMEM);
    return false;
}

bool st_write_alone(Diagnostics *diags, const char *path, bool is_own, StWriter *w,
                    const StMeta *meta, int64_t n_meta)
{
    return write_alone(diags, path, is_own, w, meta, n_meta, true);
}

static bool write_tensors(Diagnostics *diags, const char *path, const StTensor *tensors, int64_t n,
                          const StMeta *meta, int64_t n_meta, bool checked)
{
    Arena *arena = arena_try_new();
    StWriter *w = arena ? st_writer_new(arena, tensors, NULL, n) : NULL;
    bool ok = w && write_alone(diags, path, checked, w, meta, n_meta, checked);
    if (!w)
        diag_errno(diags, "write", path, ENOMEM);
    arena_free(arena);
    return ok;
}

bool st_write(Diagnostics *diags, const char *path, const StTensor *tensors, int64_t n,
              const StMeta *meta, int64_t n_meta)
{
    return write_tensors(diags, path, tensors, n, meta, n_meta, false);
}

bool st_write_checked(Diagnostics *diags, const char *path, const StTensor *tensors, int64_t n,
                      const StMeta *meta, int64_t n_meta)
{
    return write_tensors(diags, path, tensors, n, meta, n_meta, true);
}
