/* Making what has a name that nobody knows yet. */
#define _GNU_SOURCE
#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char temporary_mark[] = ".tmp-";
enum { RANDOM_LETTERS = 12, MOST_TRIES = 100, LONGEST_SUFFIX = 40 };
enum { LONGEST_TARGET = 255 - LONGEST_SUFFIX };

/* 62 bits and more; false: the system has none (errno). */
static bool random_letters(char letters[RANDOM_LETTERS + 1])
{
    static const char all[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    unsigned char bytes[RANDOM_LETTERS];
    if (getentropy(bytes, sizeof bytes))
        return false;
    for (int i = 0; i < RANDOM_LETTERS; i++)
        letters[i] = all[bytes[i] % (sizeof all - 1)];
    letters[RANDOM_LETTERS] = 0;
    return true;
}

/* malloc'd; NULL and errno. A name that would be too long with the letters is cut. */
static char *temporary_name(const char *target)
{
    char letters[RANDOM_LETTERS + 1], *path;
    const char *slash = strrchr(target, '/');
    size_t folder = slash ? (size_t)(slash + 1 - target) : 0, name = strlen(target + folder);
    size_t length = folder + (name > LONGEST_TARGET ? LONGEST_TARGET : name);
    if (length > INT_MAX) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    if (!random_letters(letters))
        return NULL;
    if (asprintf(&path, "%.*s%s%ld-%s", (int)length, target, temporary_mark, (long)getpid(),
                 letters) >= 0)
        return path;
    errno = ENOMEM;
    return NULL;
}

static TemporaryWatch *watcher;

void temporary_watch(TemporaryWatch *watch) { watcher = watch; }

static int make_in(int folder, const char *target, TemporaryMaker *maker, void *context,
                   char **path)
{
    for (int i = 0; (*path = temporary_name(target)); i++) {
        int result = maker(*path, context);
        if (result >= 0 && watcher)
            watcher(folder, *path);
        if (result >= 0)
            return result;
        int error = errno;
        free(*path);
        *path = NULL;
        errno = error;
        if (error != EEXIST || i == MOST_TRIES)
            break;
    }
    return -1;
}

int temporary_make(const char *target, TemporaryMaker *maker, void *context, char **path)
{
    return make_in(AT_FDCWD, target, maker, context, path);
}

typedef struct NewTemporary {
    int folder;
    unsigned mode;
} NewTemporary;

static int make_new_file(const char *path, void *context)
{
    const NewTemporary *how = context;
    return openat(how->folder, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                  how->mode);
}

int temporary_file(int folder, const char *target, unsigned mode, char **path)
{
    NewTemporary how = {folder, mode};
    return make_in(folder, target, make_new_file, &how, path);
}

static int make_new_folder(const char *path, void *context)
{
    return mkdir(path, *(const unsigned *)context);
}

bool temporary_folder(const char *target, unsigned mode, char **path)
{
    return !temporary_make(target, make_new_folder, &mode, path);
}

long temporary_process(const char *name)
{
    const char *at = strstr(name, temporary_mark);
    for (const char *next = at; next; next = strstr(next + 1, temporary_mark))
        at = next;
    if (!at || at == name)
        return 0;
    char *end;
    long process = strtol(at + sizeof temporary_mark - 1, &end, 10);
    if (*end == '-') /* earlier versions had no letters */
        end += 1 + strspn(end + 1, "abcdefghijklmnopqrstuvwxyz0123456789");
    return end > at + sizeof temporary_mark - 1 && !*end && process > 0 ? process : 0;
}
