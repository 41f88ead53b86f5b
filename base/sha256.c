/* SHA-256; see sha256.h. */
#include "base/sha256.h"

#include <stdio.h>
#include <string.h>

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int by) { return x >> by | x << (32 - by); }

static uint32_t read_word(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* One round; the eight words move by one place in their names instead of in memory. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                          \
    do {                                                                                          \
        uint32_t t_ = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + \
                      constants[i] + w[i];                                                        \
        d += t_;                                                                                  \
        h = t_ + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));  \
    } while (0)

static void add_block(Sha256 *sha, const unsigned char *block)
{
    uint32_t w[64], *s = sha->state;
    for (int i = 0; i < 16; i++)
        w[i] = read_word(block + 4 * i);
    for (int i = 16; i < 64; i++) {
        uint32_t x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + w[i - 7] +
               (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
    }
    uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
    for (int i = 0; i < 64; i += 8) {
        ROUND(a, b, c, d, e, f, g, h, i);
        ROUND(h, a, b, c, d, e, f, g, i + 1);
        ROUND(g, h, a, b, c, d, e, f, i + 2);
        ROUND(f, g, h, a, b, c, d, e, i + 3);
        ROUND(e, f, g, h, a, b, c, d, i + 4);
        ROUND(d, e, f, g, h, a, b, c, i + 5);
        ROUND(c, d, e, f, g, h, a, b, i + 6);
        ROUND(b, c, d, e, f, g, h, a, i + 7);
    }
    s[0] += a, s[1] += b, s[2] += c, s[3] += d;
    s[4] += e, s[5] += f, s[6] += g, s[7] += h;
}

void sha256_init(Sha256 *sha)
{
    *sha = (Sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                              0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(Sha256 *sha, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    while (size) {
        size_t used = sha->length % 64, n = 64 - used < size ? 64 - used : size;
        if (n == 64)
            add_block(sha, bytes);
        else {
            memcpy(sha->block + used, bytes, n);
            if (used + n == 64)
                add_block(sha, sha->block);
        }
        sha->length += n;
        bytes += n;
        size -= n;
    }
}

void sha256_finish(Sha256 *sha, unsigned char hash[SHA256_BYTES])
{
    uint64_t bits = sha->length * 8;
    unsigned char tail[72] = {0x80};
    size_t used = sha->length % 64, zeros = (used < 56 ? 56 : 120) - used;
    for (int i = 0; i < 8; i++)
        tail[zeros + (size_t)i] = (unsigned char)(bits >> (56 - 8 * i));
    sha256_add(sha, tail, zeros + 8);
    for (int i = 0; i < 32; i++)
        hash[i] = (unsigned char)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_finish_text(Sha256 *sha, char text[2 * SHA256_BYTES + 1])
{
    unsigned char hash[SHA256_BYTES];
    sha256_finish(sha, hash);
    for (int i = 0; i < SHA256_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", hash[i]);
}

const char *sha256_text(Arena *arena, const void *data, size_t size)
{
    Sha256 sha;
    char *text = arena_alloc(arena, 2 * SHA256_BYTES + 1);
    sha256_init(&sha);
    sha256_add(&sha, data, size);
    sha256_finish_text(&sha, text);
    return text;
}
