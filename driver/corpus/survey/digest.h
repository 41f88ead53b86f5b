/* Digest: the forms of a line that are compared and counted. */
#ifndef DRIVER_CORPUS_SURVEY_DIGEST_H
#define DRIVER_CORPUS_SURVEY_DIGEST_H

#include "runtime/data/lines.h"
#include "runtime/text/grow.h"

typedef struct Digest {
    TokenText clean;  /* with U+FFFD for each byte that is not valid UTF-8 */
    TokenText normal; /* in lower case, with one blank between words */
    uint64_t hash;    /* of the normal form */
    int64_t characters, words;
} Digest;

/* Replaces the digest by that of `line`, in the same memory. A new Digest is zeros. */
void digest_line(Digest *digest, const Line *line);
void digest_free(Digest *digest);
static inline Line digest_clean(const Digest *digest)
{
    return (Line){digest->clean.length ? digest->clean.data : "", digest->clean.length};
}

/* LineHashes: hashes of the lines read so far, which recognise a repeated line without keeping its
 * text. Among n lines, the chance that any two different ones have the same hash is about
 * n² / 2^65. A new LineHashes is zeros. */
typedef struct LineHashes {
    uint64_t *keys; /* 0: free */
    int64_t *lines; /* number of the first line with that hash, from 1; negated: marked */
    size_t count, capacity;
} LineHashes;

/* Adds a hash unless it is in the table. Returns the number of the first line with the hash, or 0
 * if the hash is new. */
int64_t line_hashes_add(LineHashes *hashes, uint64_t hash, int64_t line);
/* The number of the first line with the hash; 0: there is none. `mark`: marks the hash. */
int64_t line_hashes_find(LineHashes *hashes, uint64_t hash, bool mark);
bool line_hashes_is_marked(const LineHashes *hashes, uint64_t hash);
void line_hashes_free(LineHashes *hashes);

#endif
