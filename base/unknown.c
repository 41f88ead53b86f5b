/* Counting and telling unknown tokens. */
#include "base/unknown.h"

#include <inttypes.h>
#include <stdio.h>

void unknown_add(UnknownCount *count, const int32_t *ids, size_t n, int32_t unk)
{
    count->tokens += (int64_t)n;
    for (size_t i = 0; i < n; i++)
        count->unknown += ids[i] == unk;
}

bool unknown_is_above(const UnknownCount *count, double share)
{
    return (double)count->unknown > share * (double)count->tokens;
}

void unknown_note(const UnknownCount *count, const char *whose, char note[UNKNOWN_NOTE_BYTES])
{
    double percent = count->tokens ? 100 * (double)count->unknown / (double)count->tokens : 0;
    snprintf(note, UNKNOWN_NOTE_BYTES,
             "%.1f %% of %s (%" PRId64 " of %" PRId64 ") are unknown to the vocabulary", percent,
             whose, count->unknown, count->tokens);
}
