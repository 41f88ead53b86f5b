/* A group setup of cmocka for tests that multiply by OpenBLAS. */
#ifndef TESTS_EXEC_LOAD_OPENBLAS_H
#define TESTS_EXEC_LOAD_OPENBLAS_H

#include "runtime/blas/openblas.h"

static int load_openblas(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    bool loaded = openblas_load(&diags);
    arena_free(arena);
    return loaded ? 0 : -1;
}

#endif
