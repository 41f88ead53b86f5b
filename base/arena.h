/* Arena: memory that lives as long as one compilation, or one call of the runtime, and
 * is freed at once. Every allocation is zeroed and 16-byte aligned. There are two kinds.
 *
 *   arena_new      never fails: running out of memory ends the process (a compiler has
 *                  nothing better to do), and nobody checks.
 *   arena_try_new  may fail: for all that a compiled library calls. The allocation
 *                  that fails and all after it give NULL, vec_push and map_set add nothing,
 *                  and arena_failed tells. So pointers are checked before they are followed,
 *                  and arena_failed before a result is believed. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct Arena Arena;

Arena *arena_new(void);
Arena *arena_try_new(void);                         /* NULL: out of memory */
void arena_free(Arena *arena);                      /* NULL is allowed */
/* The arena frees the object too, by `release`, before its memory and the last one first.
 * false: there is no memory for the note, and the object is freed at once. */
bool arena_own(Arena *arena, void *object, void (*release)(void *object));
bool arena_failed(const Arena *arena);              /* an allocation has failed */
void arena_recover(Arena *arena);                   /* may be asked again; what it gave stays */
void *arena_alloc(Arena *arena, size_t size);
void *arena_array(Arena *arena, size_t n, size_t size); /* n × size bytes; too many of them fail */
void *arena_copy(Arena *arena, const void *data, size_t size);
char *arena_strdup(Arena *arena, const char *text);
char *arena_strndup(Arena *arena, const char *text, size_t length);
char *arena_printf(Arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *arena_vprintf(Arena *arena, const char *format, va_list args);
size_t arena_bytes(const Arena *arena);             /* handed out so far */

/* What an arena of arena_new does without memory, and what others do that have nothing better to do: says so and ends
 * the process, after `act` of memory_at_end, which may end it itself. */
typedef void MemoryEnd(void);
void memory_at_end(MemoryEnd *act);
void memory_end(void) __attribute__((noreturn));

#define ARENA_NEW(arena, T) ((T *)arena_alloc((arena), sizeof(T)))
#define ARENA_ARRAY(arena, T, n) ((T *)arena_array((arena), (size_t)(n), sizeof(T)))

#endif
