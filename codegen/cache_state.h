/* Inside a Cache: shared by cache.c (programs) and cache_blocks.c (weights). */
#ifndef CODEGEN_CACHE_STATE_H
#define CODEGEN_CACHE_STATE_H

#include "codegen/cache.h"

#include "base/sha256.h"

#include <sys/stat.h>

enum { CACHE_NAME_BYTES = 2 * SHA256_BYTES + sizeof ".tfcc" };

struct Cache {
    Arena *arena;
    int folder; /* -1: unusable */
    int64_t max_bytes;
    const char *note;
};

/* Whether a file is this user's and nobody else may write to it. */
bool cache_is_private(const struct stat *info);
/* The file of a key; suffixes have five bytes. */
void cache_name(const ProgramKey *key, const char *suffix, char name[CACHE_NAME_BYTES]);
/* Opens the file of a key to read it; -1: there is none. */
int cache_open_file(const Cache *cache, const ProgramKey *key, const char *suffix);
/* Writes a file beside its place and renames it; a failure becomes the note. */
void cache_write(Cache *cache, const char *name, const void *head, size_t head_bytes,
                 const void *data, size_t bytes);
/* Removes temporaries of writers that have ended, and, while files of this suffix have more than
 * max_bytes, the file used longest ago. */
void cache_make_room(Cache *cache, const char *suffix, int64_t max_bytes);

#endif
