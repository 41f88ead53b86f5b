/* What fuzz targets assert of memory: that a reader keeps its budget (base/budget.h). */
#ifndef TESTS_FUZZ_BUDGET_H
#define TESTS_FUZZ_BUDGET_H

#include "base/budget.h"

#include <stdio.h>
#include <stdlib.h>

/* Aborts if a reader of `size` bytes, whose memory is all of the arena's, took more than its
 * budget. */
static inline void need_budget(const Arena *arena, Budget budget, size_t size)
{
    enum { MESSAGES = 1 << 18 }; /* and what the target itself has in the arena */
    const size_t most = budget_bytes(budget, size) + MESSAGES;
    if (arena_peak(arena) <= most)
        return;
    fprintf(stderr, "%zu bytes took %zu bytes of memory, over %zu\n", size, arena_peak(arena),
            most);
    abort();
}

#endif
