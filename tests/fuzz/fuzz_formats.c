/* Files of weights of arbitrary bytes: of what is accepted each tensor has the elements that its
 * shape says, within the bytes. With less memory than that, by a limit that follows from the bytes,
 * they are accepted or the arena fails. TFC_FUZZ_FORMAT=NAME holds a run to the format of the name
 * in driver/formats/formats.c: other inputs are not kept. Checksums of archives are mended first,
 * so that changes get behind them. */
#include "driver/formats/formats.h"
#include "tests/fuzz/budget.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Reads the first elements and the last ones, one by one and in runs. */
static void read_tensor(const StTensor *tensor)
{
    enum { MOST = 300, EACH = 40 };
    float run[MOST];
    if (!tensor->name || tensor->rank < 0 || tensor->rank > ST_MAX_RANK || tensor->count < 0)
        abort();
    const int64_t n = tensor->count < MOST ? tensor->count : MOST;
    for (int64_t i = 0; i < n && i < EACH; i++) {
        st_value(tensor, i);
        st_value(tensor, tensor->count - 1 - i);
    }
    st_floats(tensor, 0, n, run);
    st_floats(tensor, tensor->count - n, n, run);
}

/* ---- archives ---- */

static size_t number_at(const uint8_t *at, int bytes)
{
    size_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (size_t)at[i] << (8 * i);
    return value;
}

/* Gives each stored entry of a directory the checksum of its bytes (APPNOTE.TXT, 4.3.12). */
static void mend_checksums(uint8_t *bytes, size_t size)
{
    enum { ENTRY = 46, LOCAL = 30, METHOD = 10, CRC = 16, PACKED = 20, PLACE = 42 };
    for (size_t i = 0; i + ENTRY <= size; i++) {
        uint8_t *entry = bytes + i;
        if (memcmp(entry, "PK\1\2", 4) || number_at(entry + METHOD, 2) != 0)
            continue;
        const size_t local = number_at(entry + PLACE, 4), length = number_at(entry + PACKED, 4);
        if (local > size || size - local < LOCAL)
            continue;
        const size_t at =
            local + LOCAL + number_at(bytes + local + 26, 2) + number_at(bytes + local + 28, 2);
        if (at > size || length > size - at)
            continue;
        const uint32_t crc = (uint32_t)crc32_z(0, bytes + at, length);
        for (int b = 0; b < 4; b++)
            entry[CRC + b] = (uint8_t)(crc >> (8 * b));
    }
}

/* ---- */

/* Of `most` bytes of memory, some. */
static void read_within(const uint8_t *bytes, size_t size, size_t most)
{
    const Format *format = format_of("fuzz", bytes, size);
    const size_t limit = hash_bytes(HASH_SEED, bytes, size) % (most + 1);
    Arena *arena = arena_new(), *own = arena_within(arena, limit);
    Diagnostics diags;
    diag_init(&diags, arena);
    const StFile *file =
        format && format->parse ? format->parse(&diags, own, "fuzz", bytes, size) : NULL;
    for (int64_t i = 0; file && !arena_failed(own) && i < file->n; i++)
        read_tensor(&file->tensors[i]);
    if (arena_used(own) > limit)
        abort();
    arena_free(own);
    arena_free(arena);
}

static void read_file(const uint8_t *bytes, size_t size)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    const StFile *file = format_parse(&diags, arena, "fuzz", bytes, size);
    if (file ? diags.errors != 0 : diags.errors == 0)
        abort();
    need_budget(arena, BUDGET_BINARY, size);
    read_within(bytes, size, arena_used(arena));
    for (int64_t i = 0; file && i < file->n; i++) {
        if (st_find(file, file->tensors[i].name) != &file->tensors[i])
            abort();
        read_tensor(&file->tensors[i]);
    }
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *name = getenv("TFC_FUZZ_FORMAT");
    const Format *format = name ? format_of("fuzz", bytes, size) : NULL;
    if (name && !(format && !strcmp(format->name, name)))
        return -1;
    if (size < 4 || memcmp(bytes, "PK\3\4", 4)) {
        read_file(bytes, size);
        return 0;
    }
    uint8_t *mended = malloc(size);
    memcpy(mended, bytes, size);
    mend_checksums(mended, size);
    read_file(mended, size);
    free(mended);
    return 0;
}
