/* Fitting a function into a limit of memory (--memory). */
#ifndef DRIVER_SESSION_MEMORY_H
#define DRIVER_SESSION_MEMORY_H

#include "driver/job.h"
#include "passes/pass.h"
#include "runtime/exec/program.h"

/* MemoryLimit: how much memory a function may take while it runs for the largest batch. */
typedef struct MemoryLimit {
    int64_t bytes;       /* of values and the store's tensors, such as params; 0: no limit */
    const DimSize *dims; /* of the largest batch */
    int n_dims;
    /* a program in memory at the same time, over the same params; or NULL */
    const TfcProgram *beside;
} MemoryLimit;

/* After the passes: makes the function recompute as much as it must to stay within the limit, and
 * adds that to the report. False after an error; if the function does not fit even so, the error
 * names the least limit that it fits into. */
bool memory_fit(Job *job, const MemoryLimit *limit, Report *report, Function *function);
/* The limit as a text for the key of a cached program, with all that memory_fit depends on. ""
 * without a limit. In the arena. */
const char *memory_text(Arena *arena, const MemoryLimit *limit);

#endif
