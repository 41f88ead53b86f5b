/* Paired texts: the message for a source and a target with different numbers of lines. */
#ifndef RUNTIME_DATA_PAIRING_H
#define RUNTIME_DATA_PAIRING_H

#include "base/arena.h"

#include <stdint.h>

/* "source and target differ: …", in the arena: the texts' names and numbers of lines. `targets` may
 * be -1: more than sources. */
const char *pairing_counts_text(Arena *arena, const char *source, int64_t sources,
                                const char *target, int64_t targets);

#endif
