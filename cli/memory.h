/* Fitting a function into a limit of memory (--memory). */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include "cli/session.h"

/* Bytes of the program's params, but those that `beside` has too (it may be NULL), and
 * of its slab for the dimensions of the limit. */
int64_t memory_needed(const TfcProgram *program, const MemoryLimit *limit);
/* After the passes: recomputes as much as it takes to stay within the session's limit,
 * or false with an error. */
bool memory_fit(Session *session, Function *function);
/* All that decides what memory_fit makes of a function: for its key. "" without a limit. */
const char *memory_text(Arena *arena, const MemoryLimit *limit);

#endif
