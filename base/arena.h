/* Arena: memory that lives as long as one compilation and is freed at once.
 * Every allocation is zeroed and 16-byte aligned; running out of memory ends
 * the process (a compiler has nothing better to do). */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

typedef struct Arena Arena;

Arena *arena_new(void);
void arena_free(Arena *arena);                      /* NULL is allowed */
void *arena_alloc(Arena *arena, size_t size);       /* zeroed, never NULL */
void *arena_copy(Arena *arena, const void *data, size_t size);
char *arena_strdup(Arena *arena, const char *text);
char *arena_strndup(Arena *arena, const char *text, size_t length);
char *arena_printf(Arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *arena_vprintf(Arena *arena, const char *format, va_list args);
size_t arena_bytes(const Arena *arena);             /* handed out so far */

#define ARENA_NEW(arena, T) ((T *)arena_alloc((arena), sizeof(T)))
#define ARENA_ARRAY(arena, T, n) ((T *)arena_alloc((arena), sizeof(T) * (size_t)(n)))

#endif
