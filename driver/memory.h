/* Fitting a function into a limit of memory (--memory). */
#ifndef DRIVER_MEMORY_H
#define DRIVER_MEMORY_H

#include "driver/session.h"

/* After the passes: recomputes as much as it takes to stay within the session's limit,
 * or false with an error. */
bool memory_fit(Session *session, Function *function);
/* All that decides what memory_fit makes of a function: for its key. "" without a limit. */
const char *memory_text(Arena *arena, const MemoryLimit *limit);

#endif
