/* Opening files to read them: regular ones alone, and those that a folder names within that
 * folder. */
#define _GNU_SOURCE
#include "base/file.h"

#include "base/byte_source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef O_PATH /* WASI, where no file has a reach */
#define O_PATH 0
#endif

/* ---- where a file lies ---- */

/* The path of an open file or folder as the system knows it: absolute, without links. False: /proc
 * does not show it. */
static bool find_open_path(int fd, char path[PATH_MAX])
{
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, PATH_MAX);
    if (n <= 0 || n == PATH_MAX)
        return false;
    path[n] = 0;
    return true;
}

static bool find_folder_path(const char *folder, char path[PATH_MAX])
{
    const int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const bool is_found = fd >= 0 && find_open_path(fd, path);
    if (fd >= 0)
        close(fd);
    return is_found;
}

const char *file_root(Arena *arena, const char *folder)
{
    char path[PATH_MAX];
    return find_folder_path(folder, path) ? arena_strdup(arena, path) : NULL;
}

/* Whether the path lies in the folder of the first n bytes of `folder`. */
static bool is_path_in(const char *path, const char *folder, size_t n)
{
    while (n && folder[n - 1] == '/')
        n--;
    return !strncmp(path, folder, n) && path[n] == '/';
}

/* The files of a snapshot are links to those of the hub: MODEL/snapshots/COMMIT/NAME to
 * MODEL/blobs/HASH. */
static bool is_path_of_hub(const char *path, const char *folder)
{
    static const char snapshots[] = "/snapshots/", blobs[] = "/blobs/";
    const char *model_end = NULL;
    for (const char *at = folder; (at = strstr(at, snapshots)); at++)
        model_end = at;
    const size_t n = model_end ? (size_t)(model_end - folder) : 0;
    return model_end && is_path_in(path, folder, n) && !strncmp(path + n, blobs, sizeof blobs - 1);
}

/* False after an error. */
static bool check_reach(Diagnostics *diags, FileReach reach, int fd, const char *path)
{
    char found[PATH_MAX], file[PATH_MAX];
    const char *folder = reach.root ? reach.root : found;
    if (!reach.folder || reach.outside)
        return true;
    if (!find_open_path(fd, file) || (!reach.root && !find_folder_path(reach.folder, found))) {
        diag_file(
            diags, "read", path,
            "whether it lies in the folder %s cannot be checked (is /proc mounted?); --allow-outside reads it without the check",
            reach.folder);
        return false;
    }
    if (is_path_in(file, folder, strlen(folder)) || is_path_of_hub(file, folder))
        return true;
    diag_file(diags, "read", path,
              "it is %s, outside the folder %s: put a copy into the folder, or permit it by "
              "--allow-outside",
              file, reach.folder);
    return false;
}

/* ---- opening ---- */

/* -1 after an error. */
static int open_regular(Diagnostics *diags, const char *path, uint64_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    int error = fd < 0 || fstat(fd, &info) ? errno : 0;
    if (!error && S_ISREG(info.st_mode)) {
        *size = (uint64_t)info.st_size;
        return fd;
    }
    if (!error && S_ISDIR(info.st_mode))
        error = EISDIR;
    if (error == ENOENT && file_is_named(path))
        diag_file(diags, "read", path, "it is a link to a file that is not there");
    else if (error && error != ENXIO) /* of a socket */
        diag_errno(diags, "read", path, error);
    else
        diag_file(diags, "read", path, "not a regular file");
    if (fd >= 0)
        close(fd);
    return -1;
}

int file_open_within(Diagnostics *diags, FileReach reach, const char *path, uint64_t max_bytes,
                     uint64_t *size)
{
    const int fd = open_regular(diags, path, size);
    bool ok = fd >= 0 && check_reach(diags, reach, fd, path);
    if (ok && *size > max_bytes) {
        diag_file(diags, "read", path, "the file is too large");
        ok = false;
    }
    if (ok || fd < 0)
        return fd;
    close(fd);
    return -1;
}

int file_open_regular(Diagnostics *diags, const char *path, uint64_t *size)
{
    return file_open_within(diags, FILE_ANYWHERE, path, FILE_ANY_SIZE, size);
}

const void *file_map_within(Diagnostics *diags, FileReach reach, const char *path, uint64_t *size)
{
    const int fd = file_open_within(diags, reach, path, FILE_ANY_SIZE, size);
    if (fd < 0)
        return NULL;
    const void *map = *size ? mmap(NULL, (size_t)*size, PROT_READ, MAP_PRIVATE, fd, 0) : "";
    const int error = errno;
    close(fd);
    if (map != MAP_FAILED)
        return map;
    diag_errno(diags, "map", path, error);
    return NULL;
}

const void *file_map(Diagnostics *diags, const char *path, uint64_t *size)
{
    return file_map_within(diags, FILE_ANYWHERE, path, size);
}

void file_unmap(const void *map, uint64_t size)
{
    if (map && size)
        munmap((void *)map, (size_t)size);
}

int file_open_own(const char *path, int flags)
{
    struct stat info;
    int fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    const int error = fd < 0 || fstat(fd, &info) ? errno : S_ISREG(info.st_mode) ? 0 : ENXIO;
    if (!error)
        return fd;
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

const char *file_own_error(int error)
{
    return error == ELOOP   ? "it is a symbolic link, which is not followed here: remove it"
           : error == ENXIO ? "not a regular file"
                            : strerror(error);
}

/* ---- reading whole ---- */

const Source *file_read_within(Diagnostics *diags, Arena *arena, FileReach reach, const char *path,
                               size_t max_bytes)
{
    uint64_t size;
    const int fd = file_open_within(diags, reach, path, max_bytes, &size);
    if (fd < 0)
        return NULL;
    ByteSource bytes;
    Source *source = ARENA_NEW(arena, Source);
    char *text = arena_alloc(arena, (size_t)size + 1);
    byte_source_of(&bytes, fd);
    const int64_t length = byte_source_fill(&bytes, text, size);
    const bool ok = byte_source_check(&bytes, diags, path);
    byte_source_close(&bytes);
    if (!ok)
        return NULL;
    *source = (Source){.path = arena_strdup(arena, path), .text = text, .length = (size_t)length};
    return source;
}

const Source *file_read(Diagnostics *diags, Arena *arena, const char *path, size_t max_bytes)
{
    return file_read_within(diags, arena, FILE_ANYWHERE, path, max_bytes);
}
