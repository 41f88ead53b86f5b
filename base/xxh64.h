/* XXH64 (Yann Collet, xxHash specification 0.1.1): a checksum, computed about as fast as memory can
 * be read. It detects damage, but not forgery, for which there is sha256.h. */
#ifndef BASE_XXH64_H
#define BASE_XXH64_H

#include <stddef.h>
#include <stdint.h>

uint64_t xxh64(const void *data, size_t size, uint64_t seed);

#endif
