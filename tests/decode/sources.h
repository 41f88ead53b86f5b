/* Texts as what sentences are decoded from, and back. */
#ifndef TESTS_DECODE_SOURCES_H
#define TESTS_DECODE_SOURCES_H

#include "base/arena.h"
#include "runtime/decode/stepper.h"

#include <string.h>

/* In the arena. */
static inline const Sources *pack_sources(Arena *arena, const Tokens *texts, int32_t n)
{
    Sources *sources = ARENA_NEW(arena, Sources);
    int64_t total = 0;
    int32_t *lengths = ARENA_ARRAY(arena, int32_t, n + 1);
    for (int32_t i = 0; i < n; i++)
        total += lengths[i] = texts[i].n;
    int32_t *ids = ARENA_ARRAY(arena, int32_t, total + 1), *at = ids;
    for (int32_t i = 0; i < n; at += texts[i++].n)
        if (texts[i].n)
            memcpy(at, texts[i].ids, (size_t)texts[i].n * sizeof *at);
    *sources = (Sources){.n = n, .lengths = {[SIDE_SOURCE] = lengths}, .tokens = ids};
    return sources;
}

/* The text of sentence i. */
static inline Tokens text_of(const Sources *sources, int32_t i)
{
    const int32_t *lengths = sources->lengths[SIDE_SOURCE], *at = sources->tokens;
    for (int32_t k = 0; k < i; k++)
        at += lengths[k];
    return (Tokens){at, lengths[i]};
}

#endif
