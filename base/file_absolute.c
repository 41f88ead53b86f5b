/* Absolute paths. Compiled libraries leave this file out: WebAssembly has none. */
#define _GNU_SOURCE
#include "base/file.h"

#include <errno.h>
#include <stdlib.h>

const char *file_absolute(Diagnostics *diags, Arena *arena, const char *path)
{
    char *real = realpath(path, NULL);
    if (!real && errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG)
        return diag_errno(diags, "read", path, errno), NULL;
    const char *copy = real ? arena_strdup(arena, real) : path;
    free(real);
    return copy;
}
