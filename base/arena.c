/* Arena: a list of blocks, each larger than the last. */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ArenaBlock {
    struct ArenaBlock *previous;
    size_t used, size;
    _Alignas(16) unsigned char data[];
} ArenaBlock;

/* An object that is not in the arena and is freed with it. */
typedef struct Owned {
    struct Owned *previous;
    void *object;
    void (*release)(void *object);
} Owned;

struct Arena {
    ArenaBlock *block;
    Owned *owned;
    void (*out_of_memory)(size_t wanted); /* ends the process; NULL: the arena may fail */
    bool failed;
};

enum { FIRST_BLOCK = 64 << 10, LARGEST_BLOCK = 4 << 20 };

static MemoryEnd *last_act;

void memory_at_end(MemoryEnd *act) { last_act = act; }

void memory_end(size_t wanted)
{
    if (wanted)
        fprintf(stderr, "tfc: out of memory: %zu bytes more were wanted\n", wanted);
    else
        fputs("tfc: out of memory\n", stderr);
    if (last_act)
        last_act();
    abort();
}

void memory_need(bool got)
{
    if (!got)
        memory_end(0);
}

void *memory_zeroed(size_t n, size_t size)
{
    size_t wanted;
    void *memory = calloc(n ? n : 1, size);
    if (!memory)
        memory_end(__builtin_mul_overflow(n, size, &wanted) ? SIZE_MAX : wanted);
    return memory;
}

void *memory_resized(void *memory, size_t size)
{
    void *resized = realloc(memory, size ? size : 1);
    if (!resized)
        memory_end(size);
    return resized;
}

/* That this is reached through a pointer keeps it out of libraries, which make no such arena. */
Arena *arena_new(void)
{
    Arena *arena = arena_try_new();
    memory_need(arena);
    arena->out_of_memory = memory_end;
    return arena;
}

Arena *arena_try_new(void) { return calloc(1, sizeof(Arena)); }

void arena_free(Arena *arena)
{
    if (!arena)
        return;
    for (const Owned *owned = arena->owned; owned; owned = owned->previous)
        owned->release(owned->object);
    for (ArenaBlock *block = arena->block; block;) {
        ArenaBlock *previous = block->previous;
        free(block);
        block = previous;
    }
    free(arena);
}

bool arena_failed(const Arena *arena) { return arena->failed; }

void arena_recover(Arena *arena) { arena->failed = false; }

static void *arena_fail(Arena *arena, size_t wanted)
{
    if (arena->out_of_memory)
        arena->out_of_memory(wanted);
    arena->failed = true;
    return NULL;
}

static ArenaBlock *add_block(Arena *arena, size_t need)
{
    size_t size = arena->block ? arena->block->size * 2 : FIRST_BLOCK;
    if (size > LARGEST_BLOCK)
        size = LARGEST_BLOCK;
    if (size < need)
        size = need;
    ArenaBlock *block = calloc(1, sizeof *block + size);
    if (!block)
        return arena_fail(arena, size);
    block->size = size;
    block->previous = arena->block;
    return arena->block = block;
}

void *arena_alloc(Arena *arena, size_t size)
{
    size_t need = (size + 15) & ~(size_t)15;
    if (arena->failed || size > PTRDIFF_MAX / 2)
        return arena_fail(arena, size);
    ArenaBlock *block = arena->block;
    if (!block || block->size - block->used < need)
        block = add_block(arena, need);
    if (!block)
        return NULL;
    void *result = block->data + block->used;
    block->used += need;
    return result;
}

bool arena_own(Arena *arena, void *object, void (*release)(void *object))
{
    Owned *owned = arena_alloc(arena, sizeof *owned);
    if (!owned) {
        release(object);
        return false;
    }
    *owned = (Owned){arena->owned, object, release};
    arena->owned = owned;
    return true;
}

void *arena_array(Arena *arena, size_t n, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(n, size, &bytes) ? arena_fail(arena, SIZE_MAX)
                                                   : arena_alloc(arena, bytes);
}

void *arena_copy(Arena *arena, const void *data, size_t size)
{
    void *copy = arena_alloc(arena, size);
    if (size && copy)
        memcpy(copy, data, size);
    return copy;
}

char *arena_strndup(Arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);
    return copy ? memcpy(copy, text, length) : NULL;
}

char *arena_strdup(Arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *arena_vprintf(Arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = arena_alloc(arena, (size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *arena_printf(Arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}
