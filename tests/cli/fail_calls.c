/* A library for LD_PRELOAD that lets the Nth call of a kind fail that the program's own code makes,
 * or kills the process there. Calls that other libraries make, and other programs that it starts,
 * are left alone.
 *
 *   FAIL_PROGRAM=/path/of/program   by /proc/self/exe
 *   FAIL_KIND=memory|files          which calls count
 *   FAIL_AT=N                       from 1; 0: none fails
 *   FAIL_LASTS=1                    those after it fail, too: a disk that stays full
 *   FAIL_WITH=ERRNO|kill            a number; files only
 *   FAIL_LOG=FILE                   gets "CALL" of the first that failed; with FAIL_AT=0 at the end
 *                                   how many there were */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* REMOVAL: counts where the process is killed; whether a temporary can be removed is nobody's to
 * promise. */
enum { MEMORY = 1, FILES = 2, REMOVAL = 3 };
static struct {
    int kind, with, log;
    bool lasts, has_failed;
    long at;
    uintptr_t begin, end; /* the program's code */
} plan = {.log = -1};
static _Atomic long calls;

static int find_program(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            plan.begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            plan.end = plan.begin + info->dlpi_phdr[i].p_memsz;
        }
    return 1; /* the first is the program */
}

__attribute__((constructor)) static void begin(void)
{
    char program[PATH_MAX] = "";
    const char *wanted = getenv("FAIL_PROGRAM"), *kind = getenv("FAIL_KIND"),
               *with = getenv("FAIL_WITH"), *log = getenv("FAIL_LOG");
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0 || !wanted ||
        strcmp(program, wanted) || !kind)
        return;
    dl_iterate_phdr(find_program, NULL);
    plan.at = atol(getenv("FAIL_AT"));
    plan.with = with && *with >= '0' && *with <= '9' ? atoi(with) : with ? -1 : ENOMEM;
    plan.lasts = getenv("FAIL_LASTS") != NULL;
    plan.log = log ? open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    plan.kind = !strcmp(kind, "memory") ? MEMORY : FILES;
}

__attribute__((destructor)) static void finish(void)
{
    if (plan.log >= 0 && !plan.at)
        dprintf(plan.log, "%ld\n", (long)calls);
}

static bool fails(int kind, const void *from, const char *name)
{
    if (kind == REMOVAL && plan.with < 0)
        kind = FILES;
    if (kind != plan.kind || (uintptr_t)from < plan.begin || (uintptr_t)from >= plan.end)
        return false;
    long number = ++calls;
    if (!plan.at || (plan.lasts ? number < plan.at : number != plan.at))
        return false;
    if (!plan.has_failed && plan.log >= 0) {
        ssize_t unused = write(plan.log, name, strlen(name));
        (void)unused;
    }
    plan.has_failed = true;
    if (plan.with < 0)
        kill(getpid(), SIGKILL);
    errno = kind == MEMORY ? ENOMEM : plan.with;
    return true;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
/* CALL(kind, result, name, what a failure gives, (parameters), (arguments)) */
#define CALL(kind, result, name, failure, parameters, arguments) \
    result name parameters                                       \
    {                                                            \
        if (fails(kind, __builtin_return_address(0), #name))     \
            return failure;                                      \
        return REAL(name) arguments;                             \
    }

/* ---- memory: glibc has its functions under other names, too, which dlsym itself needs ---- */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *malloc(size_t size)
{
    return fails(MEMORY, __builtin_return_address(0), "malloc") ? NULL : __libc_malloc(size);
}
void *calloc(size_t n, size_t size)
{
    return fails(MEMORY, __builtin_return_address(0), "calloc") ? NULL : __libc_calloc(n, size);
}
void *realloc(void *memory, size_t size)
{
    return fails(MEMORY, __builtin_return_address(0), "realloc") ? NULL
                                                                 : __libc_realloc(memory, size);
}
CALL(MEMORY, void *, aligned_alloc, NULL, (size_t alignment, size_t size), (alignment, size))
CALL(MEMORY, char *, strdup, NULL, (const char *text), (text))
int posix_memalign(void **memory, size_t alignment, size_t size)
{
    return fails(MEMORY, __builtin_return_address(0), "posix_memalign")
               ? ENOMEM
               : REAL(posix_memalign)(memory, alignment, size);
}
int asprintf(char **text, const char *format, ...)
{
    if (fails(MEMORY, __builtin_return_address(0), "asprintf"))
        return -1;
    va_list arguments;
    va_start(arguments, format);
    int n = vasprintf(text, format, arguments);
    va_end(arguments);
    return n;
}

/* ---- files and processes ---- */
static mode_t mode_of(int flags, va_list arguments)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}
int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return fails(FILES, __builtin_return_address(0), "open")
               ? -1
               : REAL(openat)(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return fails(FILES, __builtin_return_address(0), "openat")
               ? -1
               : REAL(openat)(folder, path, flags, mode);
}
int close(int fd) /* which closes all the same, as close does */
{
    bool bad = fails(FILES, __builtin_return_address(0), "close");
    return REAL(close)(fd) || bad ? -1 : 0;
}
CALL(FILES, ssize_t, read, -1, (int fd, void *to, size_t n), (fd, to, n))
CALL(FILES, ssize_t, pread, -1, (int fd, void *to, size_t n, off_t at), (fd, to, n, at))
CALL(FILES, ssize_t, write, -1, (int fd, const void *from, size_t n), (fd, from, n))
CALL(FILES, off_t, lseek, -1, (int fd, off_t at, int from), (fd, at, from))
CALL(FILES, int, fsync, -1, (int fd), (fd))
CALL(FILES, int, ftruncate, -1, (int fd, off_t size), (fd, size))
CALL(FILES, int, fstat, -1, (int fd, struct stat *info), (fd, info))
CALL(FILES, int, stat, -1, (const char *restrict path, struct stat *restrict info), (path, info))
CALL(FILES, int, lstat, -1, (const char *restrict path, struct stat *restrict info), (path, info))
CALL(FILES, int, access, -1, (const char *path, int mode), (path, mode))
CALL(FILES, int, rename, -1, (const char *from, const char *to), (from, to))
CALL(FILES, int, renameat, -1, (int a, const char *from, int b, const char *to), (a, from, b, to))
CALL(FILES, int, link, -1, (const char *from, const char *to), (from, to))
CALL(FILES, int, symlink, -1, (const char *from, const char *to), (from, to))
CALL(FILES, int, mkdir, -1, (const char *path, mode_t mode), (path, mode))
CALL(FILES, ssize_t, readlink, -1, (const char *restrict path, char *restrict to, size_t n),
     (path, to, n))
CALL(FILES, char *, realpath, NULL, (const char *restrict path, char *restrict to), (path, to))
CALL(FILES, void *, mmap, MAP_FAILED,
     (void *at, size_t n, int protection, int flags, int fd, off_t from),
     (at, n, protection, flags, fd, from))
CALL(FILES, int, flock, -1, (int fd, int how), (fd, how))
CALL(FILES, DIR *, opendir, NULL, (const char *path), (path))
CALL(FILES, FILE *, fopen, NULL, (const char *restrict path, const char *restrict mode),
     (path, mode))
CALL(FILES, int, getentropy, -1, (void *to, size_t n), (to, n))
CALL(FILES, pid_t, fork, -1, (void), ())
CALL(REMOVAL, int, unlink, -1, (const char *path), (path))
CALL(REMOVAL, int, rmdir, -1, (const char *path), (path))
CALL(REMOVAL, int, remove, -1, (const char *path), (path))
