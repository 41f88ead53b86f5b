/* UnknownCount: how many tokens of a text are unknown to the vocabulary. Also the shares of unknown
 * tokens above which commands report them, and training refuses the text. */
#ifndef BASE_UNKNOWN_H
#define BASE_UNKNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Shares of unknown tokens: above UNKNOWN_TOLD commands report the share, above UNKNOWN_REFUSED
 * training is refused (unless --allow-unknown is given). */
#define UNKNOWN_TOLD 0.005
#define UNKNOWN_REFUSED 0.3

typedef struct UnknownCount {
    int64_t tokens, unknown;
} UnknownCount;

/* Counts n ids, and those among them that equal `unk` (-1: the vocabulary has no unknown token). */
void unknown_add(UnknownCount *count, const int32_t *ids, size_t n, int32_t unk);
/* Whether the share of unknown tokens is above `share`, one of the two above. */
bool unknown_is_above(const UnknownCount *count, double share);

/* Writes "37.9 % of WHOSE (1200 of 3166) are unknown to the vocabulary" to `note`, NUL-terminated.
 * `whose`: such as "the tokens" or "the sources' tokens". */
enum { UNKNOWN_NOTE_BYTES = 160 };
void unknown_note(const UnknownCount *count, const char *whose, char note[UNKNOWN_NOTE_BYTES]);

#endif
