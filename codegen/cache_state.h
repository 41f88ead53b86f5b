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

/* Whether a file is this user's, and neither its group nor others may write to it. */
bool cache_is_private(const struct stat *info);
/* The name of a key's file; `suffix` has five bytes. */
void cache_name(const ProgramKey *key, const char *suffix, char name[CACHE_NAME_BYTES]);
/* Opens the file of a key to read it; the caller closes it. -1: it cannot be opened. */
int cache_open_file(const Cache *cache, const ProgramKey *key, const char *suffix);
/* Writes `head` and `data` to a temporary file of the folder, gives it the time `written` (NULL:
 * now) and renames it to `name`. Returns 0, or an errno after a failure, which cache_write also
 * notes (cache_note). */
int cache_try_write(const Cache *cache, const char *name, const struct timespec *written,
                    const void *head, size_t head_bytes, const void *data, size_t bytes);
void cache_write(Cache *cache, const char *name, const struct timespec *written, const void *head,
                 size_t head_bytes, const void *data, size_t bytes);
/* Removes temporary files older than an hour, and, while the files with this suffix take more than
 * max_bytes, the file used longest ago. Its time says when a file was used; with `stamp`, that of
 * the file with this suffix beside it, which is removed with it, or if it is left alone. */
void cache_make_room(Cache *cache, const char *suffix, const char *stamp, int64_t max_bytes);

#endif
