/* The wrappers of faults.h. They count, note the place of each call, and pass it on unless
 * it is its turn to fail. */
#define _GNU_SOURCE
#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"

enum { MOST_SITES = 4096 };

typedef struct Site {
    const void *place; /* where the call returns to; NULL: free */
    const char *name;
    long failed;
} Site;

static Site sites[MOST_SITES];
static struct {
    bool armed, failed, all, lasts;
    FaultKind kind;
    const Site *site; /* whose calls fail from now on, or NULL */
    long left, calls;
} fault;
static _Atomic long held; /* helpers take memory, too */

static void arm(FaultKind kind, long number, bool all)
{
    fault.kind = kind;
    fault.left = number;
    fault.calls = 0;
    fault.all = all;
    fault.lasts = false;
    fault.site = NULL;
    fault.failed = false;
    fault.armed = number > 0;
}

void fault_at(FaultKind kind, long number) { arm(kind, number, false); }
void fault_from(FaultKind kind, long number) { arm(kind, number, true); }

void fault_place(FaultKind kind, long number)
{
    arm(kind, number, false);
    fault.lasts = true;
}

bool fault_end(void)
{
    fault.armed = false;
    fault.site = NULL;
    return fault.failed;
}

long fault_calls(void) { return fault.calls; }

long fault_held(void) { return held; }

void fault_report(FILE *out)
{
    for (int i = 0; i < MOST_SITES; i++)
        if (sites[i].place)
            fprintf(out, "%lx %s %ld\n", (unsigned long)(uintptr_t)sites[i].place, sites[i].name,
                    sites[i].failed);
}

static Site *site_of(const void *place, const char *name)
{
    uintptr_t hash = (uintptr_t)place * 0x9E3779B97F4A7C15u;
    size_t i = hash >> 40 & (MOST_SITES - 1);
    while (sites[i].place && sites[i].place != place)
        i = (i + 1) & (MOST_SITES - 1);
    sites[i].place = place;
    sites[i].name = name;
    return &sites[i];
}

static bool must_fail(FaultKind kind, const void *place, const char *name)
{
    Site *site = site_of(place, name);
    if (fault.kind != kind && fault.kind != FAULT_ANY)
        return false;
    fault.calls++;
    if (site == fault.site)
        return true;
    if (!fault.armed || fault.left-- > 1)
        return false;
    fault.left = 1;
    fault.armed = fault.all;
    fault.failed = true;
    fault.site = fault.lasts ? site : NULL;
    site->failed++;
    return true;
}

#define FAILS(kind, name) must_fail(FAULT_##kind, __builtin_return_address(0), #name)
#define NO_MEMORY(name, result)    \
    do {                           \
        if (FAILS(MEMORY, name)) { \
            errno = ENOMEM;        \
            return result;         \
        }                          \
    } while (0)

/* ---- memory ---- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *memory);
void *__real_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *address, size_t size);
int __real_pthread_key_create(pthread_key_t *key, void (*end)(void *));
int __real_pthread_setspecific(pthread_key_t key, const void *value);

static void *hold(void *memory)
{
    held += memory != NULL;
    return memory;
}

void *__wrap_malloc(size_t size)
{
    NO_MEMORY(malloc, NULL);
    return hold(__real_malloc(size));
}

static bool starves; /* the system has no memory for an arena */
enum { ARENA_LEAST = 16 };

void *__wrap_calloc(size_t n, size_t size)
{
    if (starves)
        return NULL;
    NO_MEMORY(calloc, NULL);
    return hold(__real_calloc(n, size));
}

void *__wrap_realloc(void *memory, size_t size)
{
    NO_MEMORY(realloc, NULL);
    held += !memory;
    return __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    NO_MEMORY(aligned_alloc, NULL);
    return hold(__real_aligned_alloc(alignment, size));
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (FAILS(MEMORY, posix_memalign))
        return ENOMEM;
    held++;
    return __real_posix_memalign(memory, alignment, size);
}

char *__wrap_strdup(const char *text)
{
    NO_MEMORY(strdup, NULL);
    return hold(__real_strdup(text));
}

int __wrap_asprintf(char **text, const char *format, ...)
{
    NO_MEMORY(asprintf, -1);
    va_list args;
    va_start(args, format);
    int n = vasprintf(text, format, args);
    va_end(args);
    held += n >= 0;
    return n;
}

void __wrap_free(void *memory)
{
    held -= memory != NULL;
    __real_free(memory);
}

void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    NO_MEMORY(mmap, MAP_FAILED);
    held++;
    return __real_mmap(address, size, protection, flags, fd, offset);
}

int __wrap_munmap(void *address, size_t size)
{
    held--;
    return __real_munmap(address, size);
}

int __wrap_pthread_key_create(pthread_key_t *key, void (*end)(void *))
{
    return FAILS(MEMORY, pthread_key_create) ? EAGAIN : __real_pthread_key_create(key, end);
}

int __wrap_pthread_setspecific(pthread_key_t key, const void *value)
{
    return FAILS(MEMORY, pthread_setspecific) ? ENOMEM : __real_pthread_setspecific(key, value);
}

int __real_pthread_atfork(void (*before)(void), void (*after)(void), void (*child)(void));
int __real_pthread_attr_init(pthread_attr_t *attributes);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*body)(void *), void *argument);

int __wrap_pthread_atfork(void (*before)(void), void (*after)(void), void (*child)(void))
{
    return FAILS(MEMORY, pthread_atfork) ? ENOMEM : __real_pthread_atfork(before, after, child);
}

int __wrap_pthread_attr_init(pthread_attr_t *attributes)
{
    return FAILS(MEMORY, pthread_attr_init) ? ENOMEM : __real_pthread_attr_init(attributes);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*body)(void *), void *argument)
{
    return FAILS(MEMORY, pthread_create)
               ? EAGAIN
               : __real_pthread_create(thread, attributes, body, argument);
}

/* ---- arenas: most allocations ask the system for nothing, and could fail all the same ---- */

Arena *__real_arena_try_new(void);
void *__real_arena_alloc(Arena *arena, size_t size);
void *__real_arena_array(Arena *arena, size_t n, size_t size);
void *__real_arena_copy(Arena *arena, const void *data, size_t size);
char *__real_arena_strdup(Arena *arena, const char *text);
char *__real_arena_strndup(Arena *arena, const char *text, size_t length);
char *__real_arena_vprintf(Arena *arena, const char *format, va_list args);

/* As the arena itself fails where the system has no memory: for the most that its limit allows. */
static void starve_arena(Arena *arena)
{
    const size_t room = arena_room(arena);
    starves = true;
    while (__real_arena_alloc(arena, room < ARENA_LEAST ? ARENA_LEAST : room))
        ;
    starves = false;
}

#define ARENA_FAILS(arena, name) (FAILS(MEMORY, name) ? starve_arena(arena), true : false)

Arena *__wrap_arena_try_new(void)
{
    return FAILS(MEMORY, arena_try_new) ? NULL : __real_arena_try_new();
}

void *__wrap_arena_alloc(Arena *arena, size_t size)
{
    return ARENA_FAILS(arena, arena_alloc) ? NULL : __real_arena_alloc(arena, size);
}

void *__wrap_arena_array(Arena *arena, size_t n, size_t size)
{
    return ARENA_FAILS(arena, arena_array) ? NULL : __real_arena_array(arena, n, size);
}

void *__wrap_arena_copy(Arena *arena, const void *data, size_t size)
{
    return ARENA_FAILS(arena, arena_copy) ? NULL : __real_arena_copy(arena, data, size);
}

char *__wrap_arena_strdup(Arena *arena, const char *text)
{
    return ARENA_FAILS(arena, arena_strdup) ? NULL : __real_arena_strdup(arena, text);
}

char *__wrap_arena_strndup(Arena *arena, const char *text, size_t length)
{
    return ARENA_FAILS(arena, arena_strndup) ? NULL : __real_arena_strndup(arena, text, length);
}

char *__wrap_arena_vprintf(Arena *arena, const char *format, va_list args)
{
    return ARENA_FAILS(arena, arena_vprintf) ? NULL : __real_arena_vprintf(arena, format, args);
}

char *__wrap_arena_printf(Arena *arena, const char *format, ...)
{
    if (ARENA_FAILS(arena, arena_printf))
        return NULL;
    va_list args;
    va_start(args, format);
    char *text = __real_arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

/* ---- files ---- */

int __real_open(const char *path, int flags, ...);
int __real_openat(int folder, const char *path, int flags, ...);
int __real_getentropy(void *bytes, size_t size);
int __real_fstat(int fd, struct stat *info);
int __real_stat(const char *path, struct stat *info);
int __real_lstat(const char *path, struct stat *info);
int __real_access(const char *path, int mode);
ssize_t __real_read(int fd, void *to, size_t size);
ssize_t __real_readlink(const char *path, char *to, size_t size);
ssize_t __real_write(int fd, const void *data, size_t size);
int __real_fsync(int fd);
int __real_close(int fd);
int __real_rename(const char *from, const char *to);
int __real_unlink(const char *path);
int __real_fcntl(int fd, int command, ...);

#define FILE_FAILS(name, error)   \
    do {                          \
        if (FAILS(FILES, name)) { \
            errno = error;        \
            return -1;            \
        }                         \
    } while (0)

int __wrap_open(const char *path, int flags, ...)
{
    FILE_FAILS(open, EIO);
    va_list args;
    va_start(args, flags);
    int fd = __real_open(path, flags, flags & O_CREAT ? va_arg(args, mode_t) : 0);
    va_end(args);
    held += fd >= 0;
    return fd;
}

int __wrap_openat(int folder, const char *path, int flags, ...)
{
    FILE_FAILS(openat, EIO);
    va_list args;
    va_start(args, flags);
    int fd = __real_openat(folder, path, flags, flags & O_CREAT ? va_arg(args, mode_t) : 0);
    va_end(args);
    held += fd >= 0;
    return fd;
}

int __wrap_getentropy(void *bytes, size_t size)
{
    FILE_FAILS(getentropy, EIO);
    return __real_getentropy(bytes, size);
}

int __wrap_fstat(int fd, struct stat *info)
{
    FILE_FAILS(fstat, EIO);
    return __real_fstat(fd, info);
}

int __wrap_stat(const char *path, struct stat *info)
{
    FILE_FAILS(stat, EIO);
    return __real_stat(path, info);
}

int __wrap_lstat(const char *path, struct stat *info)
{
    FILE_FAILS(lstat, EIO);
    return __real_lstat(path, info);
}

int __wrap_access(const char *path, int mode)
{
    FILE_FAILS(access, EIO);
    return __real_access(path, mode);
}

ssize_t __wrap_read(int fd, void *to, size_t size)
{
    FILE_FAILS(read, EIO);
    return __real_read(fd, to, size);
}

ssize_t __wrap_readlink(const char *path, char *to, size_t size)
{
    FILE_FAILS(readlink, EIO);
    return __real_readlink(path, to, size);
}

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
    FILE_FAILS(write, ENOSPC);
    return __real_write(fd, data, size > 60000 ? 60000 : size); /* in parts: that is allowed, too */
}

int __wrap_fsync(int fd)
{
    FILE_FAILS(fsync, EIO);
    return __real_fsync(fd);
}

int __wrap_close(int fd)
{
    held--;
    int result = __real_close(fd); /* it is closed, whatever it says */
    FILE_FAILS(close, EIO);
    return result;
}

int __wrap_rename(const char *from, const char *to)
{
    FILE_FAILS(rename, EACCES);
    return __real_rename(from, to);
}

int __wrap_unlink(const char *path)
{
    FILE_FAILS(unlink, EIO);
    return __real_unlink(path);
}

int __wrap_fcntl(int fd, int command, ...)
{
    FILE_FAILS(fcntl, EIO);
    return __real_fcntl(fd, command);
}
