/* Tries as double arrays (Aoe 1989) in the layout of Darts-clone: a unit is a little-endian
 * 32-bit number, the child of a unit by byte c is at (its own index ^ its offset) ^ c, and if a key
 * ends at a unit, its child by byte 0 has the value. So tries in SentencePiece models are read in
 * place. The units need not be valid: no walk leaves the array. Keys hold no NUL. */
#ifndef RUNTIME_TEXT_TRIE_H
#define RUNTIME_TEXT_TRIE_H

#include "base/arena.h"

#include <stdint.h>

typedef struct Trie {
    const unsigned char *units; /* 4 bytes each, aligned or not */
    size_t n;                   /* of units; 0: the trie is empty */
} Trie;

typedef struct TrieKey {
    const char *text;
    uint32_t length; /* not 0 */
    int32_t value;   /* not negative */
} TrieKey;

/* Builds the trie of n keys, which it sorts. The units are in the arena, which may be one that
 * fails. false: *twice is a key that is there twice; NULL: memory ran out, or the trie is too
 * large. */
bool trie_build(Trie *trie, Arena *arena, TrieKey *keys, size_t n, const TrieKey **twice);

enum { TRIE_NOWHERE = -1 };

static inline uint32_t trie_unit(const Trie *trie, size_t at)
{
    const unsigned char *u = trie->units + at * 4;
    return (uint32_t)u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
}

static inline uint32_t trie_offset(uint32_t unit)
{
    return (unit >> 10) << ((unit & (1u << 9)) >> 6);
}

/* The node where a walk begins; the trie is not empty. */
static inline size_t trie_root(const Trie *trie) { return trie_offset(trie_unit(trie, 0)); }

/* Walks one byte on. false: no key continues so, and the walk is over. *value: the value of the key
 * that ends here, or TRIE_NOWHERE. */
static inline bool trie_step(const Trie *trie, size_t *node, unsigned char byte, int32_t *value)
{
    size_t at = *node ^ byte;
    if (at >= trie->n || !byte)
        return false;
    uint32_t unit = trie_unit(trie, at);
    if ((unit & (1u << 31 | 0xFF)) != byte)
        return false;
    *node = at ^ trie_offset(unit);
    *value = unit >> 8 & 1 && *node < trie->n ? (int32_t)(trie_unit(trie, *node) & 0x7FFFFFFF)
                                              : TRIE_NOWHERE;
    return true;
}

/* The value of this key; TRIE_NOWHERE: it is not in the trie. */
int32_t trie_find(const Trie *trie, const char *text, size_t length);
/* The length of the longest key that the text begins with, and its value; 0: there is none. */
size_t trie_longest(const Trie *trie, const char *text, size_t length, int32_t *value);

#endif
