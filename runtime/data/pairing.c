/* What is said of paired texts that differ in lines, wherever that is found. */
#include "runtime/data/pairing.h"

#include "base/text.h"

#include <inttypes.h>

const char *pairing_counts_text(Arena *arena, const char *source, int64_t sources,
                                const char *target, int64_t targets)
{
    const char *many = targets < 0 ? "more" : arena_printf(arena, "%" PRId64, targets);
    return arena_printf(arena,
                        "source and target differ: %s has %" PRId64
                        " line%s, %s has %s; a source and its target stand in "
                        "the same line of both: find the lines that are missing or too many",
                        source, sources, text_plural(sources, "", "s"), target, many);
}
