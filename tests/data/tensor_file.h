/* A file of tensors in a folder of its own, for a test that begins with setup and ends with
 * teardown. */
#ifndef TESTS_DATA_TENSOR_FILE_H
#define TESTS_DATA_TENSOR_FILE_H

#include "base/arena.h"
#include "base/diag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Fixture {
    Arena *arena;
    Diagnostics diags;
    char folder[64], path[96];
} Fixture;

static inline int setup(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    f->arena = arena_new();
    diag_init(&f->diags, f->arena);
    strcpy(f->folder, "/tmp/tfc-safetensors-XXXXXX");
    if (!mkdtemp(f->folder))
        return -1;
    snprintf(f->path, sizeof f->path, "%s/w.safetensors", f->folder);
    *state = f;
    return 0;
}

static inline int teardown(void **state)
{
    Fixture *f = *state;
    unlink(f->path);
    int left = rmdir(f->folder); /* fails if a temporary file was left behind */
    arena_free(f->arena);
    free(f);
    return left;
}

static inline const char *messages(Fixture *f)
{
    Text out = {0};
    diag_render(&f->diags, &out);
    const char *copy = arena_strdup(f->arena, out.data ? out.data : "");
    text_free(&out);
    return copy;
}

#endif
