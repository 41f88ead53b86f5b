/* What of a line is compared and counted. */
#ifndef DRIVER_CORPUS_SURVEY_DIGEST_H
#define DRIVER_CORPUS_SURVEY_DIGEST_H

#include "runtime/data/lines.h"
#include "runtime/text/grow.h"

typedef struct Digest {
    TokenText clean;  /* with U+FFFD for each byte that is no UTF-8 */
    TokenText normal; /* in lower case, words one blank apart */
    uint64_t hash;    /* of the normal form */
    int64_t characters, words;
} Digest;

/* Digests the next line in the same memory; a Digest begins with zeros. */
void digest_line(Digest *digest, const Line *line);
void digest_free(Digest *digest);
static inline Line digest_clean(const Digest *digest)
{
    return (Line){digest->clean.length ? digest->clean.data : "", digest->clean.length};
}

#endif
