/* Fuzz target: files of the cache (codegen/cache.h). After a 'b' a block of weights, with a place
 * that is damaged; after a 't' the text that a cached measurement is; after anything else bytes as
 * the file of a program, of a part and of a text, as they are and with a key, a size and a checksum
 * that fit. Nothing is taken whose checksum does not fit; what is taken comes back as it was after
 * it was put again, and is linked or refused with a message. */
#define _GNU_SOURCE
#include "base/file.h"
#include "base/sha256.h"
#include "codegen/cache_state.h"
#include "codegen/link.h"
#include "driver/session/tuning.h"
#include "tests/fuzz/budget.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Of a program's file, as cache.c has it. */
enum { SIZE_AT = 24, KEY_AT = 32, CHECKSUM_AT = KEY_AT + SHA256_BYTES };
enum { PAYLOAD_AT = CHECKSUM_AT + SHA256_BYTES, PAGE = 4096 };
static const ProgramKey key = {.hash = "the key of every file that is "},
                        other = {.hash = "another"};
static char folder[] = "/tmp/fuzz-cache-XXXXXX";

static void need(bool holds)
{
    if (!holds)
        abort();
}

static void remove_folder(void) { file_remove_tree(folder); }

static void make_folder(void)
{
    static bool is_made;
    if (is_made)
        return;
    need(mkdtemp(folder) != NULL);
    atexit(remove_folder);
    is_made = true;
}

static void checksum_of(const uint8_t *bytes, size_t size, unsigned char sum[SHA256_BYTES])
{
    Sha256 sha;
    sha256_init(&sha);
    sha256_add(&sha, bytes, CHECKSUM_AT);
    sha256_add(&sha, bytes + PAYLOAD_AT, size - PAYLOAD_AT);
    sha256_finish(&sha, sum);
}

static bool is_sealed(const uint8_t *bytes, size_t size)
{
    unsigned char sum[SHA256_BYTES];
    if (size < PAYLOAD_AT)
        return false;
    checksum_of(bytes, size, sum);
    return !memcmp(bytes + CHECKSUM_AT, sum, sizeof sum);
}

static void write_file(Cache *cache, const char *suffix, const void *bytes, size_t size)
{
    char name[CACHE_NAME_BYTES];
    cache_name(&key, suffix, name);
    cache_write(cache, name, NULL, NULL, 0, bytes, size);
    need(!cache_note(cache));
}

/* ---- programs, parts, texts ---- */

static bool same_file(const ObjectFile *a, const ObjectFile *b)
{
    return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

static bool same(const ObjectSet *a, const ObjectSet *b)
{
    bool is = a->n_files == b->n_files && a->n_kernels == b->n_kernels &&
              !strcmp(a->symbols[0], b->symbols[0]);
    for (int i = 0; is && i < a->n_files; i++)
        is = same_file(&a->files[i], &b->files[i]);
    return is;
}

static const void *outside(const char *name, Diagnostics *diags)
{
    return strcmp(name, "memcpy") ? NULL : key.hash;
}

static void link_all(const ObjectSet *set, Arena *arena)
{
    Diagnostics diags;
    LinkedCode code;
    diag_init(&diags, arena);
    const void *found =
        link_objects(set->files, set->n_files, outside, set->symbols[0], &code, &diags);
    need(!found == (diags.errors != 0));
    link_free(&code);
}

static void try_program(Cache *cache, const uint8_t *bytes, size_t size, Arena *arena)
{
    ObjectSet set, again;
    write_file(cache, ".tfcc", bytes, size);
    need(!cache_get(cache, &other, arena, &set));
    if (!cache_get(cache, &key, arena, &set)) {
        need(!cache_get_text(cache, &key, arena));
        return;
    }
    const char *text = cache_get_text(cache, &key, arena);
    need(is_sealed(bytes, size) && !text == (set.n_files != 1));
    need(!text || !strncmp(text, set.files[0].bytes, set.files[0].size));
    cache_put(cache, &key, &set);
    need(cache_get(cache, &key, arena, &again) && same(&set, &again));
    link_all(&set, arena);
}

static void try_part(Cache *cache, const uint8_t *bytes, size_t size, Arena *arena)
{
    ObjectFile file, again;
    write_file(cache, ".tfcp", bytes, size);
    if (!cache_get_part(cache, &key, arena, &file))
        return;
    need(is_sealed(bytes, size));
    cache_put_part(cache, &key, &file);
    need(cache_get_part(cache, &key, arena, &again) && same_file(&file, &again));
}

static void try_file(Cache *cache, const uint8_t *bytes, size_t size, Arena *arena)
{
    try_program(cache, bytes, size, arena);
    try_part(cache, bytes, size, arena);
}

static void try_bytes(Cache *cache, const uint8_t *bytes, size_t size, Arena *arena)
{
    try_file(cache, bytes, size, arena);
    if (size < PAYLOAD_AT)
        return;
    uint8_t *copy = arena_copy(arena, bytes, size);
    memcpy(copy, "TFCOBJ1", 8);
    memcpy(copy + SIZE_AT, &(uint64_t){size - PAYLOAD_AT}, 8);
    memcpy(copy + KEY_AT, key.hash, SHA256_BYTES);
    checksum_of(copy, size, copy + CHECKSUM_AT);
    try_file(cache, copy, size, arena);
}

/* ---- others ---- */

static void try_block(Cache *cache, const uint8_t *bytes, size_t size, Arena *arena)
{
    uint16_t at;
    if (size <= sizeof at)
        return;
    memcpy(&at, bytes, sizeof at);
    const int64_t n = (int64_t)(size - sizeof at);
    const void *payload = bytes + sizeof at;
    cache_put_block(cache, &key, payload, n);
    char *map = cache_map(cache, &key, n), name[CACHE_NAME_BYTES];
    need(map && !memcmp(map, payload, (size_t)n) && !cache_map(cache, &key, n + 1) &&
         !cache_map(cache, &other, n));
    char *file = arena_copy(arena, map - PAGE, (size_t)n + PAGE);
    memset(map, 1, (size_t)n);
    cache_unmap(map, n);
    file[at % (n + PAGE)] ^= 1;
    cache_name(&key, ".tfcw", name);
    cache_write(cache, name, NULL, NULL, 0, file, (size_t)n + PAGE);
    map = cache_map(cache, &key, n);
    need(!map || !memcmp(map, payload, (size_t)n));
    cache_unmap(map, n);
}

static void try_text(const uint8_t *bytes, size_t size, Arena *arena)
{
    TuningRate rates[TFC_BLAS_TYPES][SHAPE_CLASSES] = {0},
               again[TFC_BLAS_TYPES][SHAPE_CLASSES] = {0};
    if (!tuning_read(arena_strndup(arena, (const char *)bytes, size), rates))
        return;
    Text written = {0};
    tuning_write(rates, &written);
    need(tuning_read(written.data, again) && !memcmp(rates, again, sizeof rates));
    text_free(&written);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (!size)
        return 0;
    make_folder();
    Arena *arena = arena_new();
    Cache *cache = cache_open(arena, folder, 1 << 20);
    const char kind = (char)bytes[0];
    (kind == 'b'   ? try_block(cache, bytes + 1, size - 1, arena)
     : kind == 't' ? try_text(bytes + 1, size - 1, arena)
                   : try_bytes(cache, bytes + 1, size - 1, arena));
    cache_close(cache);
    need_budget(arena, BUDGET_BINARY, size);
    arena_free(arena);
    return 0;
}
