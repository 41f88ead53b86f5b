/* Checksums of a file and its tensors, in the metadata: one of names, types, shapes and the
 * rest of the metadata, then one of each tensor's bytes in the order of the data, each as 16
 * hexadecimal digits, one after the other. So a tensor is checked when it is read, and those
 * that nobody reads need not be. The metadata's key tells how a tensor is summed (forms). */
#include "runtime/data/safetensors.h"

#include "base/arena.h"
#include "base/xxh64.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { CHECKSUM_DIGITS = 16 };

int64_t st_blocks(uint64_t bytes) { return (int64_t)((bytes + ST_BLOCK - 1) / ST_BLOCK); }

uint64_t st_block_sum(const void *data, uint64_t bytes) { return xxh64(data, bytes, 0); }

/* A block's sum after those before it, which are 0 at first: XXH64 with them as the seed. */
static uint64_t chain_block(uint64_t sum, uint64_t block)
{
    return xxh64(&block, sizeof block, sum);
}

static uint64_t sum_blocks(const void *data, uint64_t bytes)
{
    uint64_t sum = 0;
    for (uint64_t at = 0; at < bytes; at += ST_BLOCK) {
        uint64_t left = bytes - at;
        sum = chain_block(sum,
                          st_block_sum((const char *)data + at, left < ST_BLOCK ? left : ST_BLOCK));
    }
    return sum;
}

static uint64_t sum_whole(const void *data, uint64_t bytes) { return xxh64(data, bytes, 0); }

/* Form: a key, and the sum of a tensor's bytes. The first is what is written: of the XXH64s of
 * blocks, so that processes that have parts of a tensor can make it. */
typedef struct Form {
    const char *key;
    uint64_t (*sum)(const void *data, uint64_t bytes);
} Form;

static const Form forms[] = {
    {"xxh64_blocks", sum_blocks}, {"xxh64", sum_whole}, /* of older files */
};

/* NULL: none. */
static const Form *form_of(const StFile *file)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (st_meta(file, forms[i].key))
            return &forms[i];
    return NULL;
}

const char *st_checksums(const StFile *file)
{
    const Form *form = form_of(file);
    return form ? st_meta(file, form->key) : NULL;
}

/* Keys may come in any order: other programs have their own. */
static uint64_t add_meta(uint64_t sum, const Form *form, const char *key, const char *value)
{
    if (!strcmp(key, form->key))
        return sum;
    return sum + xxh64(value, strlen(value), xxh64(key, strlen(key), 0));
}

static uint64_t add_shape(uint64_t sum, const StTensor *tensor)
{
    const char *type = element_info(tensor->type)->stored;
    const char *name = tensor->stored ? tensor->stored : tensor->name;
    sum = xxh64(name, strlen(name), sum);
    sum = xxh64(type, strlen(type), sum);
    int64_t dims[ST_MAX_RANK];
    for (int d = 0; d < tensor->rank; d++)
        dims[d] = st_stored_dim(tensor, d);
    return xxh64(dims, sizeof(int64_t) * (size_t)tensor->rank, sum);
}

static void put_digits(char *to, uint64_t sum)
{
    char digits[CHECKSUM_DIGITS + 1];
    snprintf(digits, sizeof digits, "%016" PRIx64, sum);
    memcpy(to, digits, CHECKSUM_DIGITS);
}

StMeta st_make_checksums(Arena *arena, const StTensor *const *tensors, int64_t n,
                         const StMeta *meta, int64_t n_meta, const uint64_t *blocks)
{
    const Form *form = &forms[0];
    char *text = arena_array(arena, (size_t)n + 1, CHECKSUM_DIGITS + 1);
    uint64_t header = 0;
    for (int64_t i = 0; text && i < n_meta; i++)
        header = add_meta(header, form, meta[i].key, meta[i].value);
    for (int64_t i = 0; text && i < n; i++) {
        uint64_t sum = 0;
        for (int64_t left = st_blocks(tensors[i]->bytes); left; left--)
            sum = chain_block(sum, *blocks++);
        put_digits(text + CHECKSUM_DIGITS * (i + 1), sum);
        header = add_shape(header, tensors[i]);
    }
    if (text)
        put_digits(text, header);
    return (StMeta){form->key, text};
}

/* Whether checksum number i of the file is `sum`. */
static bool is_sum(const StFile *file, int64_t i, uint64_t sum)
{
    const char *text = st_checksums(file);
    char digits[CHECKSUM_DIGITS];
    put_digits(digits, sum);
    return strlen(text) == CHECKSUM_DIGITS * (size_t)(file->n + 1) &&
           !memcmp(text + CHECKSUM_DIGITS * i, digits, CHECKSUM_DIGITS);
}

bool st_header_is_whole(const StFile *file)
{
    const Form *form = form_of(file);
    uint64_t sum = 0;
    for (int64_t i = 0; form && i < file->n_meta; i++)
        sum = add_meta(sum, form, file->meta_keys[i], file->meta_values[i]);
    for (int64_t i = 0; form && i < file->n; i++)
        sum = add_shape(sum, &file->tensors[i]);
    return !form || is_sum(file, 0, sum);
}

static bool seal_holds(StSeal *seal)
{
    if (seal->state == ST_SEAL_NEW)
        seal->state = seal->sum(0, seal->data, seal->bytes) == seal->expected ? ST_SEAL_HOLDS
                                                                              : ST_SEAL_BROKEN;
    return seal->state == ST_SEAL_HOLDS;
}

bool st_is_whole(const StFile *file, const StTensor *tensor)
{
    const Form *form = form_of(file);
    if (tensor->seal && !seal_holds(tensor->seal))
        return false;
    return !form ||
           (is_sum(file, tensor - file->tensors + 1, form->sum(tensor->data, tensor->bytes)) &&
            (!tensor->scale || st_is_whole(file, tensor->scale)) &&
            (!tensor->minimum || st_is_whole(file, tensor->minimum)));
}

bool st_check_whole(Diagnostics *diags, const StFile *file, const StTensor *tensor)
{
    const bool ok = tensor ? st_is_whole(file, tensor) : st_header_is_whole(file);
    if (!ok)
        diag_error(diags, (Loc){0}, "%s is damaged: the checksum of %s%s%s does not match",
                   file->path, tensor ? "'" : "its header", tensor ? tensor->name : "",
                   tensor ? "'" : "");
    return ok;
}

bool st_check_all(Diagnostics *diags, const StFile *file)
{
    bool ok = st_check_whole(diags, file, NULL);
    for (int64_t i = 0; i < file->n; i++)
        ok = st_check_whole(diags, file, &file->tensors[i]) && ok;
    return ok;
}
