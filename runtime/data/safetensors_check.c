/* Checksums of a file and its tensors, in the metadata under ST_CHECKSUMS: one of names,
 * types, shapes and the rest of the metadata, then one of each tensor's bytes in the order
 * of the data; XXH64 as 16 hexadecimal digits each, one after the other. So a tensor is
 * checked when it is read, and those that nobody reads need not be. */
#include "runtime/data/safetensors.h"

#include "base/arena.h"
#include "base/xxh64.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { CHECKSUM_DIGITS = 16 };

/* Keys may come in any order: other programs have their own. */
static uint64_t add_meta(uint64_t sum, const char *key, const char *value)
{
    if (!strcmp(key, ST_CHECKSUMS))
        return sum;
    return sum + xxh64(value, strlen(value), xxh64(key, strlen(key), 0));
}

static uint64_t add_shape(uint64_t sum, const StTensor *tensor)
{
    const char *type = element_info(tensor->type)->stored;
    sum = xxh64(tensor->name, strlen(tensor->name), sum);
    sum = xxh64(type, strlen(type), sum);
    return xxh64(tensor->dims, sizeof(int64_t) * (size_t)tensor->rank, sum);
}

static void put_digits(char *to, uint64_t sum)
{
    char digits[CHECKSUM_DIGITS + 1];
    snprintf(digits, sizeof digits, "%016" PRIx64, sum);
    memcpy(to, digits, CHECKSUM_DIGITS);
}

const char *st_make_checksums(Arena *arena, const StTensor *const *tensors, int64_t n,
                              const StMeta *meta, int64_t n_meta, void *room)
{
    char *text = arena_array(arena, (size_t)n + 1, CHECKSUM_DIGITS + 1);
    uint64_t sum = 0;
    if (!text)
        return NULL;
    for (int64_t i = 0; i < n_meta; i++)
        sum = add_meta(sum, meta[i].key, meta[i].value);
    for (int64_t i = 0; i < n; i++) {
        sum = add_shape(sum, tensors[i]);
        const void *data = st_data(tensors[i], room);
        put_digits(text + CHECKSUM_DIGITS * (i + 1), xxh64(data, tensors[i]->bytes, 0));
    }
    put_digits(text, sum);
    return text;
}

/* Whether checksum number i of the file is `sum`. */
static bool is_sum(const StFile *file, int64_t i, uint64_t sum)
{
    const char *text = st_meta(file, ST_CHECKSUMS);
    char digits[CHECKSUM_DIGITS];
    put_digits(digits, sum);
    return !text || (strlen(text) == CHECKSUM_DIGITS * (size_t)(file->n + 1) &&
                     !memcmp(text + CHECKSUM_DIGITS * i, digits, CHECKSUM_DIGITS));
}

bool st_header_is_whole(const StFile *file)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < file->n_meta; i++)
        sum = add_meta(sum, file->meta_keys[i], file->meta_values[i]);
    for (int64_t i = 0; i < file->n; i++)
        sum = add_shape(sum, &file->tensors[i]);
    return is_sum(file, 0, sum);
}

bool st_is_whole(const StFile *file, const StTensor *tensor)
{
    return !st_meta(file, ST_CHECKSUMS) ||
           is_sum(file, tensor - file->tensors + 1, xxh64(tensor->data, tensor->bytes, 0));
}
