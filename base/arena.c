/* Arena: a list of blocks, each larger than the last. */
#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Block {
    struct Block *previous;
    size_t used, size;
    _Alignas(16) unsigned char data[];
} Block;

struct Arena {
    Block *block;
    size_t bytes;
};

enum { FIRST_BLOCK = 64 << 10, LARGEST_BLOCK = 4 << 20 };

static _Noreturn void out_of_memory(void)
{
    fputs("tfc: out of memory\n", stderr);
    abort();
}

Arena *arena_new(void)
{
    Arena *arena = calloc(1, sizeof *arena);
    if (!arena)
        out_of_memory();
    return arena;
}

void arena_free(Arena *arena)
{
    if (!arena)
        return;
    for (Block *block = arena->block; block;) {
        Block *previous = block->previous;
        free(block);
        block = previous;
    }
    free(arena);
}

static Block *add_block(Arena *arena, size_t need)
{
    size_t size = arena->block ? arena->block->size * 2 : FIRST_BLOCK;
    if (size > LARGEST_BLOCK)
        size = LARGEST_BLOCK;
    if (size < need)
        size = need;
    Block *block = calloc(1, sizeof *block + size);
    if (!block)
        out_of_memory();
    block->size = size;
    block->previous = arena->block;
    return arena->block = block;
}

void *arena_alloc(Arena *arena, size_t size)
{
    size_t need = (size + 15) & ~(size_t)15;
    if (need < size)
        out_of_memory();
    Block *block = arena->block;
    if (!block || block->size - block->used < need)
        block = add_block(arena, need);
    void *result = block->data + block->used;
    block->used += need;
    arena->bytes += need;
    return result;
}

void *arena_copy(Arena *arena, const void *data, size_t size)
{
    void *copy = arena_alloc(arena, size);
    if (size)
        memcpy(copy, data, size);
    return copy;
}

char *arena_strndup(Arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);
    memcpy(copy, text, length);
    return copy;
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

size_t arena_bytes(const Arena *arena) { return arena->bytes; }
