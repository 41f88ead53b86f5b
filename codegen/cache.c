/* Compiled programs on disk; see cache.h. */
#define _GNU_SOURCE
#include "codegen/cache.h"
#include "codegen/cache_state.h"

#include "base/file.h"
#include "base/sha256.h"
#include "base/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_FILES = 4096,    /* object files in one program */
    STALE_SECONDS = 3600 /* of a temporary file whose writer is gone */
};
#define SUFFIX ".tfcc"
#define PART_SUFFIX ".tfcp"

typedef struct Header {
    char magic[8];
    uint32_t n_files, n_kernels;
    uint64_t symbol_bytes; /* with its NUL */
    uint64_t payload_bytes;
    unsigned char key[SHA256_BYTES];
    unsigned char checksum[SHA256_BYTES]; /* of the fields above and the payload */
} Header;

static const char magic[8] = "TFCOBJ1";

/* ---- the folder ---- */

static const char *default_folder(Arena *arena, bool *off)
{
    const char *own = getenv("TFC_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    *off = own && !strcmp(own, "off");
    if (own && *own)
        return own;
    if (xdg && *xdg == '/')
        return arena_printf(arena, "%s/tfc", xdg);
    return home && *home == '/' ? arena_printf(arena, "%s/.cache/tfc", home) : NULL;
}

/* Its own permissions must keep others out, whatever the umask. */
static void make_folder(Arena *arena, const char *path)
{
    if (!mkdir(path, 0700) || errno != ENOENT)
        return;
    Diagnostics ignored; /* opening tells */
    diag_init(&ignored, arena);
    file_make_private_folder(&ignored, path);
}

bool cache_is_private(const struct stat *info)
{
    return info->st_uid == geteuid() && !(info->st_mode & (S_IWGRP | S_IWOTH));
}

static void open_folder(Cache *cache, const char *path)
{
    struct stat info;
    make_folder(cache->arena, path);
    cache->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (cache->folder < 0 || fstat(cache->folder, &info)) {
        cache->note = arena_printf(cache->arena, "%s: %s", path, strerror(errno));
        cache_close(cache);
    } else if (!cache_is_private(&info)) {
        cache->note = arena_printf(cache->arena, "%s: others than this user may write to it", path);
        cache_close(cache);
    }
}

Cache *cache_open(Arena *arena, const char *folder, int64_t max_bytes)
{
    bool off = false;
    if (!folder)
        folder = default_folder(arena, &off);
    if (off)
        return NULL;
    Cache *cache = ARENA_NEW(arena, Cache);
    *cache = (Cache){.arena = arena, .folder = -1, .max_bytes = max_bytes};
    if (folder)
        open_folder(cache, folder);
    else
        cache->note = "neither XDG_CACHE_HOME nor HOME names a folder";
    return cache;
}

void cache_close(Cache *cache)
{
    if (cache && cache->folder >= 0)
        close(cache->folder);
    if (cache)
        cache->folder = -1;
}

const char *cache_note(const Cache *cache) { return cache ? cache->note : NULL; }

void cache_name(const ProgramKey *key, const char *suffix, char name[CACHE_NAME_BYTES])
{
    for (int i = 0; i < SHA256_BYTES; i++)
        snprintf(name + 2 * i, 3, "%02x", key->hash[i]);
    memcpy(name + 2 * SHA256_BYTES, suffix, strlen(suffix) + 1);
}

/* ---- payloads: sizes of the object files (u64), the symbol, the files ---- */

/* Where each of these parts begins: at a multiple of 16. */

static size_t padded(size_t size) { return (size + 15) / 16 * 16; }

static unsigned char *pack(Arena *arena, const ObjectSet *objects, Header *header)
{
    const char *symbol = objects->symbols[0];
    size_t symbol_bytes = strlen(symbol) + 1, n = (size_t)objects->n_files;
    size_t size = padded(n * sizeof(uint64_t)) + padded(symbol_bytes);
    for (size_t i = 0; i < n; i++)
        size += padded(objects->files[i].size);
    unsigned char *bytes = arena_alloc(arena, size), *at = bytes;
    for (size_t i = 0; i < n; i++)
        memcpy(at + i * sizeof(uint64_t), &(uint64_t){objects->files[i].size}, sizeof(uint64_t));
    at += padded(n * sizeof(uint64_t));
    memcpy(at, symbol, symbol_bytes);
    at += padded(symbol_bytes);
    for (size_t i = 0; i < n; i++) {
        memcpy(at, objects->files[i].bytes, objects->files[i].size);
        at += padded(objects->files[i].size);
    }
    *header = (Header){.n_files = (uint32_t)n,
                       .n_kernels = (uint32_t)objects->n_kernels,
                       .symbol_bytes = symbol_bytes,
                       .payload_bytes = size};
    return bytes;
}

/* The part of `size` bytes at the cursor, or NULL where the payload ends before. */
static const unsigned char *take_cached(const unsigned char *bytes, size_t total, size_t *cursor,
                                        uint64_t size)
{
    size_t at = *cursor;
    if (size > total - at || padded((size_t)size) > total - at)
        return NULL;
    *cursor = at + padded((size_t)size);
    return bytes + at;
}

static bool unpack(Arena *arena, const unsigned char *bytes, const Header *header, ObjectSet *out)
{
    size_t cursor = 0, total = (size_t)header->payload_bytes;
    const unsigned char *sizes =
        take_cached(bytes, total, &cursor, header->n_files * sizeof(uint64_t));
    const char *symbol = (const char *)take_cached(bytes, total, &cursor, header->symbol_bytes);
    if (!sizes || !symbol || !header->symbol_bytes || symbol[header->symbol_bytes - 1])
        return false;
    ObjectFile *files = ARENA_ARRAY(arena, ObjectFile, header->n_files);
    for (uint32_t i = 0; i < header->n_files; i++) {
        uint64_t size;
        memcpy(&size, sizes + i * sizeof size, sizeof size);
        files[i].size = (size_t)size;
        files[i].bytes = take_cached(bytes, total, &cursor, size);
        if (!files[i].bytes)
            return false;
    }
    const char **symbols = ARENA_NEW(arena, const char *);
    symbols[0] = symbol;
    *out = (ObjectSet){.n_files = (int)header->n_files,
                       .files = files,
                       .n_programs = 1,
                       .n_kernels = (int)header->n_kernels,
                       .symbols = symbols};
    return true;
}

static void checksum(const Header *header, const unsigned char *payload,
                     unsigned char out[SHA256_BYTES])
{
    Sha256 sha;
    sha256_init(&sha);
    sha256_add(&sha, header, offsetof(Header, checksum));
    sha256_add(&sha, payload, (size_t)header->payload_bytes);
    sha256_finish(&sha, out);
}

/* ---- reading ---- */

int cache_open_file(const Cache *cache, const ProgramKey *key, const char *suffix)
{
    char name[CACHE_NAME_BYTES];
    cache_name(key, suffix, name);
    return cache->folder < 0
               ? -1
               : openat(cache->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

static bool read_exactly(int file, void *to, size_t size)
{
    for (char *at = to; size;) {
        ssize_t n = read(file, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static bool read_program(int file, int64_t max_bytes, const ProgramKey *key, Arena *arena,
                         ObjectSet *out)
{
    struct stat info;
    Header header;
    unsigned char sum[SHA256_BYTES];
    if (fstat(file, &info) || !S_ISREG(info.st_mode) || !cache_is_private(&info) ||
        info.st_size > max_bytes || !read_exactly(file, &header, sizeof header) ||
        memcmp(header.magic, magic, sizeof magic) || memcmp(header.key, key->hash, SHA256_BYTES) ||
        header.n_files > MAX_FILES ||
        header.payload_bytes != (uint64_t)info.st_size - sizeof header)
        return false;
    unsigned char *payload = arena_alloc(arena, (size_t)header.payload_bytes);
    if (!read_exactly(file, payload, (size_t)header.payload_bytes))
        return false;
    checksum(&header, payload, sum);
    return !memcmp(sum, header.checksum, sizeof sum) && unpack(arena, payload, &header, out);
}

static bool get_objects(Cache *cache, const char *suffix, const ProgramKey *key, Arena *arena,
                        ObjectSet *out)
{
    int file = cache_open_file(cache, key, suffix);
    if (file < 0)
        return false;
    bool ok = read_program(file, cache->max_bytes, key, arena, out);
    if (ok)
        futimens(file, NULL); /* when it was used; what cannot be touched ages */
    close(file);
    return ok;
}

bool cache_get(Cache *cache, const ProgramKey *key, Arena *arena, ObjectSet *out)
{
    return get_objects(cache, SUFFIX, key, arena, out);
}

/* ---- room ---- */

typedef struct Entry {
    char name[CACHE_NAME_BYTES], stamp[CACHE_NAME_BYTES]; /* stamp: "": there is none */
    int64_t bytes;
    struct timespec used;
} Entry;

static int compare_use(const void *a, const void *b)
{
    const struct timespec *x = &((const Entry *)a)->used, *y = &((const Entry *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && !strcmp(name + n - m, end);
}

/* The name with another suffix, of as many bytes. */
static void change_suffix(const char *name, const char *suffix, char to[CACHE_NAME_BYTES])
{
    memcpy(to, name, strlen(name) + 1);
    memcpy(to + strlen(name) - strlen(suffix), suffix, strlen(suffix));
}

/* Removes a stamp whose file is not there. */
static void sweep_stamp(int folder, const char *name, const char *suffix)
{
    char of[CACHE_NAME_BYTES];
    change_suffix(name, suffix, of);
    if (faccessat(folder, of, F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT)
        unlinkat(folder, name, 0);
}

/* A file that counts, and when it was used. */
static Entry entry_of(int folder, const char *name, const struct stat *info, const char *stamp)
{
    Entry entry = {.bytes = (int64_t)info->st_size, .used = info->st_mtim};
    struct stat used;
    memcpy(entry.name, name, strlen(name) + 1);
    if (!stamp)
        return entry;
    change_suffix(name, stamp, entry.stamp);
    if (!fstatat(folder, entry.stamp, &used, AT_SYMLINK_NOFOLLOW))
        entry.used = used.st_mtim;
    return entry;
}

static bool remove_entry(int folder, const Entry *entry)
{
    if (*entry->stamp)
        unlinkat(folder, entry->stamp, 0);
    return !unlinkat(folder, entry->name, 0);
}

void cache_make_room(Cache *cache, const char *suffix, const char *stamp, int64_t max_bytes)
{
    int copy = openat(cache->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = copy < 0 ? NULL : fdopendir(copy);
    if (!folder) {
        if (copy >= 0)
            close(copy);
        return;
    }
    Arena *arena = arena_new();
    VEC(Entry) entries = {0};
    int64_t total = 0;
    time_t now = time(NULL);
    for (struct dirent *d; (d = readdir(folder));) {
        struct stat info;
        bool temporary = temporary_process(d->d_name), fits = strlen(d->d_name) < CACHE_NAME_BYTES;
        if (!temporary && fits && stamp && ends_with(d->d_name, stamp))
            sweep_stamp(copy, d->d_name, suffix);
        if ((!temporary && (!fits || !ends_with(d->d_name, suffix))) ||
            fstatat(copy, d->d_name, &info, AT_SYMLINK_NOFOLLOW))
            continue;
        if (temporary && now - info.st_mtim.tv_sec > STALE_SECONDS)
            unlinkat(copy, d->d_name, 0);
        if (temporary)
            continue;
        vec_push(arena, entries, entry_of(copy, d->d_name, &info, stamp));
        total += info.st_size;
    }
    if (total > max_bytes)
        qsort(entries.data, entries.count, sizeof(Entry), compare_use);
    for (size_t i = 0; i < entries.count && total > max_bytes; i++)
        if (remove_entry(copy, &entries.data[i]))
            total -= entries.data[i].bytes;
    closedir(folder);
    arena_free(arena);
}

/* ---- writing ---- */

int cache_try_write(const Cache *cache, const char *name, const struct timespec *written,
                    const void *head, size_t head_bytes, const void *data, size_t bytes)
{
    char *temporary;
    int file = temporary_file(cache->folder, name, 0600, &temporary);
    bool ok = file >= 0 && file_put(file, head, head_bytes) && file_put(file, data, bytes);
    int error = ok ? 0 : errno ? errno : EIO;
    if (ok && written)
        futimens(file, (struct timespec[]){*written, *written});
    if (file >= 0 && close(file) && ok)
        error = errno;
    if (!error && renameat(cache->folder, temporary, cache->folder, name))
        error = errno;
    if (error && file >= 0)
        unlinkat(cache->folder, temporary, 0);
    free(temporary);
    return error;
}

void cache_write(Cache *cache, const char *name, const struct timespec *written, const void *head,
                 size_t head_bytes, const void *data, size_t bytes)
{
    const int error = cache_try_write(cache, name, written, head, head_bytes, data, bytes);
    if (error)
        cache->note = arena_printf(cache->arena, "cannot write to the cache: %s", strerror(error));
}

static void put_objects(Cache *cache, const char *suffix, const ProgramKey *key,
                        const ObjectSet *objects)
{
    if (cache->folder < 0)
        return;
    Arena *arena = arena_new();
    Header header;
    char name[CACHE_NAME_BYTES];
    unsigned char *payload = pack(arena, objects, &header);
    memcpy(header.magic, magic, sizeof magic);
    memcpy(header.key, key->hash, SHA256_BYTES);
    checksum(&header, payload, header.checksum);
    cache_name(key, suffix, name);
    cache_write(cache, name, NULL, &header, sizeof header, payload, (size_t)header.payload_bytes);
    arena_free(arena);
}

void cache_put(Cache *cache, const ProgramKey *key, const ObjectSet *objects)
{
    put_objects(cache, SUFFIX, key, objects);
    if (cache->folder < 0)
        return;
    cache_make_room(cache, SUFFIX, NULL, cache->max_bytes);
    cache_make_room(cache, PART_SUFFIX, NULL, cache->max_bytes / 4);
}

/* ---- parts and texts: as the one file of a program ---- */

static ObjectSet one_file(const ObjectFile *file)
{
    static const char *const symbol = "part";
    return (ObjectSet){.n_files = 1, .files = file, .n_programs = 1, .symbols = &symbol};
}

bool cache_get_part(Cache *cache, const ProgramKey *key, Arena *arena, ObjectFile *out)
{
    ObjectSet set;
    if (!get_objects(cache, PART_SUFFIX, key, arena, &set) || set.n_files != 1)
        return false;
    *out = set.files[0];
    return true;
}

void cache_put_part(Cache *cache, const ProgramKey *key, const ObjectFile *file)
{
    ObjectSet set = one_file(file);
    put_objects(cache, PART_SUFFIX, key, &set);
}

const char *cache_get_text(Cache *cache, const ProgramKey *key, Arena *arena)
{
    ObjectSet set;
    if (!cache_get(cache, key, arena, &set) || set.n_files != 1)
        return NULL;
    return arena_strndup(arena, set.files[0].bytes, set.files[0].size);
}

void cache_put_text(Cache *cache, const ProgramKey *key, const char *text)
{
    ObjectSet set = one_file(&(ObjectFile){text, strlen(text)});
    cache_put(cache, key, &set);
}

const char *cache_made_text(const ProgramKey *key, MakeText *make, const void *context,
                            Arena *arena, Diagnostics *diags)
{
    Cache *cache = cache_open(arena, NULL, CACHE_BYTES);
    const char *text = cache ? cache_get_text(cache, key, arena) : NULL;
    if (!text) {
        text = make(context, arena, diags);
        if (text && cache)
            cache_put_text(cache, key, text);
    }
    cache_close(cache);
    return text;
}

void cache_lock(Cache *cache)
{
    while (cache->folder >= 0 && flock(cache->folder, LOCK_EX) && errno == EINTR)
        continue; /* where folders have no locks, the last that writes wins */
}

void cache_unlock(Cache *cache)
{
    if (cache->folder >= 0)
        flock(cache->folder, LOCK_UN);
}
