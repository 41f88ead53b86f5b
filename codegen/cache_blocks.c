/* Blocks of prepared weights on disk. A file is a page with a header, then the bytes of the
 * weights, which are mapped. Hashing all bytes at each start would take as long as preparing the
 * weights, so only a hash of some evenly spaced pages is compared. All bytes are hashed if the
 * system was restarted since the block was last used: its power may have failed before they were on
 * the disk. */
#define _GNU_SOURCE
#include "codegen/cache_state.h"

#include "base/xxh64.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define SUFFIX ".tfcw"
enum {
    PAGE = 4096,
    SAMPLES = 64,
    FREE_TIMES = 4 /* as much of the disk stays free as a block has, at least */
};

typedef union BlockHeader {
    struct {
        char magic[8];
        int64_t bytes;
        unsigned char key[SHA256_BYTES];
        uint64_t sample, whole; /* hashes */
    };
    char page[PAGE];
} BlockHeader;

static const char magic[8] = "TFCBLK1";

/* A block in memory, or, while memory is NULL, behind the header of a file: what is only sampled is
 * read and not mapped, since around a page that is touched the system maps many others. */
typedef struct SampledBytes {
    const char *memory;
    int file;
} SampledBytes;

/* `n` bytes at most a page; NULL: they cannot be read. */
static const char *part_of(const SampledBytes *block, int64_t at, int64_t n, char page[PAGE])
{
    if (block->memory)
        return block->memory + at;
    return pread(block->file, page, (size_t)n, PAGE + at) == n ? page : NULL;
}

static bool sample_of(const SampledBytes *block, int64_t bytes, uint64_t *hash)
{
    char page[PAGE];
    const int64_t pages = bytes / PAGE, n = pages < SAMPLES ? pages : SAMPLES;
    *hash = (uint64_t)bytes;
    for (int64_t i = 0; i <= n; i++) { /* and what is left of a page at the end */
        const int64_t at = (i < n ? i * pages / n : pages) * PAGE, rest = bytes - pages * PAGE;
        const int64_t size = i < n ? PAGE : rest;
        const char *part = part_of(block, at, size, page);
        if (!part)
            return false;
        *hash = xxh64(part, (size_t)size, *hash);
    }
    return true;
}

static bool is_of_this_start(const struct stat *info)
{
    struct timespec up;
    return !clock_gettime(CLOCK_BOOTTIME, &up) && info->st_mtim.tv_sec > time(NULL) - up.tv_sec;
}

static bool fits(int file, const char *map, const ProgramKey *key, int64_t bytes, bool in_whole)
{
    const BlockHeader *header = (const void *)map;
    const SampledBytes block = {.file = file};
    uint64_t sample;
    return !memcmp(header->magic, magic, sizeof magic) && header->bytes == bytes &&
           !memcmp(header->key, key->hash, sizeof key->hash) && sample_of(&block, bytes, &sample) &&
           header->sample == sample &&
           (!in_whole || header->whole == xxh64(map + PAGE, (size_t)bytes, 0));
}

void *cache_map(Cache *cache, const ProgramKey *key, int64_t bytes)
{
    struct stat info;
    int file = cache_open_file(cache, key, SUFFIX);
    if (file < 0)
        return NULL;
    char *map = MAP_FAILED;
    if (!fstat(file, &info) && S_ISREG(info.st_mode) && cache_is_private(&info) &&
        info.st_size == bytes + PAGE)
        map = mmap(NULL, (size_t)bytes + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    if (map != MAP_FAILED && !fits(file, map, key, bytes, !is_of_this_start(&info))) {
        munmap(map, (size_t)bytes + PAGE);
        map = MAP_FAILED;
    }
    if (map != MAP_FAILED)
        futimens(file, NULL); /* when it was used; what cannot be touched ages */
    close(file);
    return map == MAP_FAILED ? NULL : map + PAGE;
}

void cache_unmap(void *memory, int64_t bytes)
{
    if (memory)
        munmap((char *)memory - PAGE, (size_t)bytes + PAGE);
}

void cache_put_block(Cache *cache, const ProgramKey *key, const void *memory, int64_t bytes)
{
    char name[CACHE_NAME_BYTES];
    struct statvfs disk;
    if (cache->folder < 0 || fstatvfs(cache->folder, &disk) ||
        (uint64_t)bytes > (uint64_t)disk.f_bavail * disk.f_frsize / FREE_TIMES ||
        bytes > CACHE_BLOCK_BYTES)
        return;
    const SampledBytes block = {.memory = memory};
    BlockHeader header = {.bytes = bytes, .whole = xxh64(memory, (size_t)bytes, 0)};
    sample_of(&block, bytes, &header.sample);
    memcpy(header.magic, magic, sizeof magic);
    memcpy(header.key, key->hash, sizeof key->hash);
    cache_name(key, SUFFIX, name);
    cache_write(cache, name, &header, sizeof header, memory, (size_t)bytes);
    cache_make_room(cache, SUFFIX, CACHE_BLOCK_BYTES);
}
