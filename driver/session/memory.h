/* Fitting a function into a limit of memory (--memory). */
#ifndef DRIVER_SESSION_MEMORY_H
#define DRIVER_SESSION_MEMORY_H

#include "driver/session/session.h"

/* After the passes: recomputes as much of the function as it takes to stay within the session's limit
 * of bytes. False, with an error that names the least limit that would do. */
bool memory_fit(Session *session, Function *function);
/* The limit as a text, for the key of a cached program: all that decides what memory_fit does. ""
 * without a limit. In the arena. */
const char *memory_text(Arena *arena, const MemoryLimit *limit);

#endif
