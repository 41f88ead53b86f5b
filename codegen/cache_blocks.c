/* Blocks of prepared weights on disk. A file is a page with a header, then the bytes of the
 * weights, which are mapped. Hashing all bytes at each start would take as long as preparing the
 * weights, so only a hash of some evenly spaced pages is compared, as long as nothing can have
 * changed. All bytes are hashed
 *   if the system was restarted since the block was last used: its power may have failed before
 *   they were on the disk;
 *   if the block's inode, size, mtime or ctime is not that of its stamp, a small file beside it:
 *   something wrote to it, replaced it, or changed its time.
 *
 * Why the stamp misses no write: the clock of a file system stands still for up to two seconds, so
 * that a write right after the block's last change could leave both times as they were. Before a
 * block is stamped, its mtime is therefore set to a minute ago (settled_time). A write sets the
 * mtime to the present, which is never that time, however soon the write comes. All that follows is
 * done after that: a new block, written under a name that nobody else knows, is renamed; an old one
 * is hashed. The stamp is taken if the mtime is still the one that was set: nothing was written in
 * between. A program that sets the mtime back after a write has changed the ctime, which no program
 * can set. (It would go unseen within the tick of the stamp; no program does so by accident, and
 * the cache is guarded against damage, not against its user.) A process that has mapped a block
 * sees later writes to it, as with any mapped file. */
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
#define STAMP_SUFFIX ".tfcs"
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

/* ---- stamps ---- */

/* Stamp: what the system said of a block's file when its bytes were those of its hash. It is a file
 * of its own, since writing to the block would change what it says; its time is that of the last
 * use. */
typedef struct BlockStamp {
    char magic[8];
    uint64_t inode;
    int64_t bytes;
    int64_t written_seconds, written_nanoseconds; /* mtime */
    int64_t changed_seconds, changed_nanoseconds; /* ctime */
} BlockStamp;

static const char stamp_magic[8] = "TFCSTM1";

static BlockStamp stamp_of(const struct stat *info)
{
    BlockStamp stamp = {.inode = (uint64_t)info->st_ino,
                        .bytes = (int64_t)info->st_size,
                        .written_seconds = info->st_mtim.tv_sec,
                        .written_nanoseconds = info->st_mtim.tv_nsec,
                        .changed_seconds = info->st_ctim.tv_sec,
                        .changed_nanoseconds = info->st_ctim.tv_nsec};
    memcpy(stamp.magic, stamp_magic, sizeof stamp_magic);
    return stamp;
}

/* The time that a block has from the moment its bytes are settled: a minute ago, so that any write
 * changes it, in whole pairs of seconds, which every file system keeps. */
static struct timespec settled_time(void)
{
    enum { BEFORE = 60, STEP = 2 };
    return (struct timespec){.tv_sec = (time(NULL) - BEFORE) / STEP * STEP};
}

static bool has_time(const struct stat *info, struct timespec time)
{
    return info->st_mtim.tv_sec == time.tv_sec && info->st_mtim.tv_nsec == time.tv_nsec;
}

/* A block that cannot be stamped is hashed each time. */
static void put_stamp(const Cache *cache, const ProgramKey *key, const struct stat *info)
{
    char name[CACHE_NAME_BYTES];
    const BlockStamp stamp = stamp_of(info);
    cache_name(key, STAMP_SUFFIX, name);
    cache_try_write(cache, name, NULL, &stamp, sizeof stamp, NULL, 0);
}

static bool is_of_this_start(const struct stat *info)
{
    struct timespec up;
    return !clock_gettime(CLOCK_BOOTTIME, &up) && info->st_mtim.tv_sec > time(NULL) - up.tv_sec;
}

/* Whether the block's file is as it was when its bytes were last hashed, since the system's start.
 * Then notes that it is used. */
static bool is_known(const Cache *cache, const ProgramKey *key, const struct stat *block)
{
    BlockStamp stamp, now = stamp_of(block);
    struct stat info;
    const int file = cache_open_file(cache, key, STAMP_SUFFIX);
    const bool is = file >= 0 && !fstat(file, &info) && S_ISREG(info.st_mode) &&
                    cache_is_private(&info) && is_of_this_start(&info) &&
                    pread(file, &stamp, sizeof stamp, 0) == sizeof stamp &&
                    !memcmp(&stamp, &now, sizeof stamp);
    if (is)
        futimens(file, NULL); /* what cannot be touched ages */
    if (file >= 0)
        close(file);
    return is;
}

/* ---- blocks ---- */

static bool fits_map(int file, const char *map, const ProgramKey *key, int64_t bytes)
{
    const BlockHeader *header = (const void *)map;
    const SampledBytes block = {.file = file};
    uint64_t sample;
    return !memcmp(header->magic, magic, sizeof magic) && header->bytes == bytes &&
           !memcmp(header->key, key->hash, sizeof key->hash) && sample_of(&block, bytes, &sample) &&
           header->sample == sample;
}

/* Whether all bytes have their hash; if so, and nothing was written meanwhile, stamps the block. */
static bool is_whole(const Cache *cache, const ProgramKey *key, int file, const char *map,
                     int64_t bytes)
{
    const BlockHeader *header = (const void *)map;
    const struct timespec settled = settled_time();
    struct stat info;
    const bool is_settled = !futimens(file, (struct timespec[]){settled, settled});
    if (header->whole != xxh64(map + PAGE, (size_t)bytes, 0))
        return false;
    if (is_settled && !fstat(file, &info) && has_time(&info, settled))
        put_stamp(cache, key, &info);
    return true;
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
    if (map != MAP_FAILED &&
        !(fits_map(file, map, key, bytes) &&
          (is_known(cache, key, &info) || is_whole(cache, key, file, map, bytes)))) {
        munmap(map, (size_t)bytes + PAGE);
        map = MAP_FAILED;
    }
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
    const struct timespec settled = settled_time();
    cache_write(cache, name, &settled, &header, sizeof header, memory, (size_t)bytes);
    struct stat info;
    const int file = cache_open_file(cache, key, SUFFIX);
    if (file >= 0 && !fstat(file, &info) && has_time(&info, settled))
        put_stamp(cache, key, &info);
    if (file >= 0)
        close(file);
    cache_make_room(cache, SUFFIX, STAMP_SUFFIX, CACHE_BLOCK_BYTES);
}
