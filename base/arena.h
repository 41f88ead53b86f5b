/* Arena: memory whose allocations are freed all at once, by arena_free. Every allocation is
 * 16-byte aligned, and zeroed where the caller gives no content. There are two kinds.
 *
 *   arena_new      never fails: if memory runs out, the process ends (a compiler has
 *                  nothing better to do). Callers check nothing.
 *   arena_try_new  may fail: for the code that a compiled library calls. The allocation
 *                  that fails and all after it (until arena_recover) return NULL, and
 *                  arena_failed is true. vec_push and map_set then add nothing for which they
 *                  need memory. Callers check each pointer before they follow it, and
 *                  arena_failed before they use a result.
 *
 * An arena may lie within another, its parent, whose memory its own is counted as, too:
 *
 *   arena_within   may fail, as of arena_try_new, and also fails rather than take more memory than
 *                  its limit: the budget of a reader of files (base/budget.h).
 *   arena_scratch  of the parent's kind, for what is needed for a while: when it fails, the parent
 *                  has failed. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct Arena Arena;

Arena *arena_new(void);
Arena *arena_try_new(void); /* NULL: out of memory */
/* An arena of at most `limit` bytes, which the caller frees before the parent. `parent` may be
 * NULL. NULL: out of memory. */
Arena *arena_within(Arena *parent, size_t limit);
Arena *arena_scratch(Arena *parent); /* the same without a limit; NULL: the parent has failed */
void arena_free(Arena *arena);       /* NULL is allowed */
/* Gives the arena an object to free: arena_free calls `release` on it before it frees memory. The
 * object given last is released first. false: memory ran out, and the object has been released. */
bool arena_own(Arena *arena, void *object, void (*release)(void *object));
bool arena_failed(const Arena *arena); /* an allocation has failed */
/* Whether an allocation of the arena, or of one within it, failed because of the arena's limit. */
bool arena_is_over(const Arena *arena);
/* Makes both false, so that a failed arena allocates again. Its memory stays valid. */
void arena_recover(Arena *arena);
/* Bytes from the system that the arena and those within it have, and the most that they had. */
size_t arena_used(const Arena *arena);
size_t arena_peak(const Arena *arena);
/* Bytes that one allocation may have before a limit is exceeded. */
size_t arena_room(const Arena *arena);
/* Counts memory that an object has from elsewhere as the arena's, up to arena_free. false: it would
 * exceed a limit, and the arena has failed. */
bool arena_charge(Arena *arena, size_t bytes);
void *arena_alloc(Arena *arena, size_t size);
void *arena_array(Arena *arena, size_t n, size_t size); /* n × size bytes; too many of them fail */
void *arena_copy(Arena *arena, const void *data, size_t size);
char *arena_strdup(Arena *arena, const char *text);
char *arena_strndup(Arena *arena, const char *text, size_t length);
char *arena_printf(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(Arena *arena, const char *format, va_list args);

/* memory_end prints that memory ran out and how many bytes were wanted (0: unknown), calls the
 * `act` that memory_at_end was given, if any, and aborts the process; `act` may end the process
 * itself. Arenas of arena_new call memory_end. */
typedef void MemoryEnd(void);
void memory_at_end(MemoryEnd *act);
void memory_end(size_t wanted) __attribute__((noreturn));
/* calloc and realloc (`memory` NULL: malloc) of at least a byte, which never return NULL: if memory
 * runs out, they call memory_end. memory_need calls memory_end if `got` is false. */
void *memory_zeroed(size_t n, size_t size);
void *memory_resized(void *memory, size_t size);
void memory_need(bool got);

#define ARENA_NEW(arena, T) ((T *)arena_alloc((arena), sizeof(T)))
#define ARENA_ARRAY(arena, T, n) ((T *)arena_array((arena), (size_t)(n), sizeof(T)))

#endif
