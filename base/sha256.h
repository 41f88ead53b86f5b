/* SHA-256 (FIPS 180-4): for names and checksums of files that are trusted later. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32 };

typedef struct Sha256 {
    uint32_t state[8];
    uint64_t length; /* bytes so far */
    unsigned char block[64];
} Sha256;

void sha256_init(Sha256 *sha);
void sha256_add(Sha256 *sha, const void *data, size_t size);
void sha256_finish(Sha256 *sha, unsigned char hash[SHA256_BYTES]);
/* The same as hexadecimal digits and a NUL. */
void sha256_finish_text(Sha256 *sha, char text[2 * SHA256_BYTES + 1]);
/* Of these bytes, in the arena. */
const char *sha256_text(Arena *arena, const void *data, size_t size);

#endif
