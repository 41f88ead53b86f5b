/* XXH64: four lanes of eight bytes each, then what is left. The numbers are the
 * specification's. Words are little-endian on every target that we have. */
#include "base/xxh64.h"

#include <string.h>

#define P1 UINT64_C(0x9E3779B185EBCA87)
#define P2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define P3 UINT64_C(0x165667B19E3779F9)
#define P4 UINT64_C(0x85EBCA77C2B2AE63)
#define P5 UINT64_C(0x27D4EB2F165667C5)

static uint64_t rotate(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

static uint64_t word64(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static uint64_t word32(const unsigned char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static uint64_t mix(uint64_t lane, uint64_t word) { return rotate(lane + word * P2, 31) * P1; }

static uint64_t join_lane(uint64_t hash, uint64_t lane) { return (hash ^ mix(0, lane)) * P1 + P4; }

uint64_t xxh64(const void *data, size_t size, uint64_t seed)
{
    const unsigned char *at = data;
    size_t left = size;
    uint64_t hash = seed + P5;
    if (left >= 32) {
        uint64_t a = seed + P1 + P2, b = seed + P2, c = seed, d = seed - P1;
        for (; left >= 32; at += 32, left -= 32) {
            a = mix(a, word64(at));
            b = mix(b, word64(at + 8));
            c = mix(c, word64(at + 16));
            d = mix(d, word64(at + 24));
        }
        hash = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
        hash = join_lane(join_lane(join_lane(join_lane(hash, a), b), c), d);
    }
    hash += (uint64_t)size;
    for (; left >= 8; at += 8, left -= 8)
        hash = rotate(hash ^ mix(0, word64(at)), 27) * P1 + P4;
    for (; left >= 4; at += 4, left -= 4)
        hash = rotate(hash ^ word32(at) * P1, 23) * P2 + P3;
    for (; left; at++, left--)
        hash = rotate(hash ^ *at * P5, 11) * P1;
    hash = (hash ^ hash >> 33) * P2;
    hash = (hash ^ hash >> 29) * P3;
    return hash ^ hash >> 32;
}
