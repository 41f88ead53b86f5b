/* Fitting a function into a limit of memory (--memory). */
#ifndef DRIVER_SESSION_MEMORY_H
#define DRIVER_SESSION_MEMORY_H

#include "driver/session/job.h"
#include "passes/pass.h"
#include "runtime/exec/program.h"

/* What a function may take while it runs for the largest batch there will be. */
typedef struct MemoryLimit {
    int64_t bytes;            /* of params and values; 0: no limit */
    const DimSize *dims;      /* of that batch */
    int n_dims;
    const TfcProgram *beside; /* there at the same time, over the same params; or NULL */
} MemoryLimit;

/* After the passes: recomputes as much of the function as it takes to stay within the limit, and
 * reports it. False, with an error that names the least limit that would do. */
bool memory_fit(Job *job, const MemoryLimit *limit, Report *report, Function *function);
/* The limit as a text, for the key of a cached program: all that decides what memory_fit does. ""
 * without a limit. In the arena. */
const char *memory_text(Arena *arena, const MemoryLimit *limit);

#endif
