/* Arena: a list of blocks, each a quarter larger than the last. What is large beside the next block
 * gets one of its own, so that what stays unused is a small part of the whole. */
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
    Arena *parent;                        /* NULL: it is within none */
    size_t taken, peak, limit;            /* bytes of blocks, with those of arenas within it */
    bool failed, is_over, is_scratch;     /* a scratch arena fails together with its parent */
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

Arena *arena_try_new(void) { return arena_within(NULL, SIZE_MAX); }

Arena *arena_within(Arena *parent, size_t limit)
{
    Arena *arena = calloc(1, sizeof *arena);
    if (arena) {
        arena->parent = parent;
        arena->limit = limit;
    }
    return arena;
}

static void *arena_fail(Arena *arena, size_t wanted)
{
    if (arena->out_of_memory)
        arena->out_of_memory(wanted);
    arena->failed = true;
    return arena->is_scratch ? arena_fail(arena->parent, wanted) : NULL;
}

Arena *arena_scratch(Arena *parent)
{
    Arena *arena = arena_within(parent, SIZE_MAX);
    if (!arena)
        return arena_fail(parent, sizeof *arena);
    arena->is_scratch = true;
    return arena;
}

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
    for (Arena *parent = arena->parent; parent; parent = parent->parent)
        parent->taken -= arena->taken;
    free(arena);
}

bool arena_failed(const Arena *arena) { return arena->failed; }

bool arena_is_over(const Arena *arena) { return arena->is_over; }

void arena_recover(Arena *arena) { arena->failed = arena->is_over = false; }

size_t arena_used(const Arena *arena) { return arena->taken; }

size_t arena_peak(const Arena *arena) { return arena->peak; }

/* Bytes of a further block, by the arena's own limit. */
static size_t own_room(const Arena *arena)
{
    const size_t left = arena->limit - arena->taken;
    return left < sizeof(ArenaBlock) ? 0 : (left - sizeof(ArenaBlock)) & ~(size_t)15;
}

size_t arena_room(const Arena *arena)
{
    size_t least = SIZE_MAX;
    for (; arena; arena = arena->parent)
        if (own_room(arena) < least)
            least = own_room(arena);
    return least;
}

/* Fails, and marks the arenas whose limit is the reason. */
static void *arena_exceed(Arena *arena, size_t wanted)
{
    for (Arena *at = arena; at; at = at->parent)
        at->is_over = at->is_over || (at->limit < SIZE_MAX && own_room(at) < wanted);
    return arena_fail(arena, wanted);
}

static void add_taken(Arena *arena, size_t bytes)
{
    for (; arena; arena = arena->parent) {
        arena->taken += bytes;
        if (arena->peak < arena->taken)
            arena->peak = arena->taken;
    }
}

bool arena_charge(Arena *arena, size_t bytes)
{
    if (bytes > arena_room(arena))
        return arena_exceed(arena, bytes);
    add_taken(arena, bytes);
    return true;
}

/* A block of that many bytes, in no list. */
static ArenaBlock *new_block(Arena *arena, size_t size)
{
    ArenaBlock *block = calloc(1, sizeof *block + size);
    if (!block)
        return arena_fail(arena, size);
    add_taken(arena, sizeof *block + size);
    block->size = size;
    return block;
}

/* A block with room for `need` bytes: the current one from now on, or, for what would take more
 * than a quarter of that, one of just this size behind the current one, whose room stays in
 * use. */
static ArenaBlock *add_block(Arena *arena, size_t need)
{
    const size_t room = arena_room(arena);
    size_t size = arena->block ? arena->block->size + arena->block->size / 4 : FIRST_BLOCK;
    if (need > room)
        return arena_exceed(arena, need);
    if (size > LARGEST_BLOCK)
        size = LARGEST_BLOCK;
    const bool is_large = arena->block && need > size / 4;
    if (size < need || is_large)
        size = need;
    if (size > room)
        size = room;
    ArenaBlock *block = new_block(arena, size);
    ArenaBlock **list = is_large ? &arena->block->previous : &arena->block;
    if (!block)
        return NULL;
    block->previous = *list;
    return *list = block;
}

void *arena_alloc(Arena *arena, size_t size)
{
    size_t need = (size + 15) & ~(size_t)15;
    if (arena->failed)
        return arena_fail(arena, size);
    if (size > PTRDIFF_MAX / 2)
        return arena_exceed(arena, size);
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
    return __builtin_mul_overflow(n, size, &bytes) ? arena_exceed(arena, SIZE_MAX)
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
