/* Replacing files atomically, writing through what is no file, and folders. (Reading them:
 * file_open.c.) */
#define _GNU_SOURCE
#include "base/file.h"

#include "base/temporary.h"
#include "base/unanswered.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static Loc no_place(void) { return (Loc){0}; }

/* ---- what a path leads to ---- */

enum { MOST_LINKS = 40, LONGEST_LINK = 4096 };

/* N of /dev/fd/N and /proc/self/fd/N, which name an open file of this process; else -1. */
static int open_number(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t n = strlen(folders[i]);
        char *end;
        if (strncmp(path, folders[i], n) || path[n] < '0' || path[n] > '9')
            continue;
        long number = strtol(path + n, &end, 10);
        return *end || number > INT_MAX ? -1 : (int)number;
    }
    return -1;
}

/* What the link `from` reads as, as a path from here; malloc'd, NULL: out of memory (errno). */
static char *link_path(const char *from, const char *link)
{
    const char *slash = strrchr(from, '/');
    char *path;
    if (asprintf(&path, "%.*s%s", *link == '/' || !slash ? 0 : (int)(slash + 1 - from), from,
                 link) >= 0)
        return path;
    errno = ENOMEM;
    return NULL;
}

/* The path at the end of a chain of links, malloc'd; the last need not exist. *number is
 * the open file that it names, or -1. NULL (errno): links without
 * end, out of memory, or what is there cannot be known. */
static char *follow_links(const char *path, int *number)
{
    char *at = strdup(path), link[LONGEST_LINK];
    for (int i = 0; at && i < MOST_LINKS; i++) {
        *number = open_number(at);
        ssize_t n = *number >= 0 ? -1 : readlink(at, link, sizeof link - 1);
        if (n < 0 &&
            (*number >= 0 || errno == EINVAL || errno == ENOENT)) /* no link, or nothing there */
            return at;
        if (n < 0) {
            int error = errno;
            free(at);
            errno = error;
            return NULL;
        }
        link[n] = 0;
        char *next = link_path(at, link);
        free(at);
        at = next;
    }
    if (at)
        errno = ELOOP;
    free(at);
    return NULL;
}

/* How a path is written. */
typedef struct WritePlace {
    char *target;    /* malloc'd; NULL after an error (errno) */
    int number;      /* the open file that it is, or -1 */
    bool is_through; /* not replaced */
    mode_t mode;     /* of what is there, or of a new file */
} WritePlace;

/* is_own: a file of a folder of this program: whatever has the name is replaced, a link too. */
static WritePlace find_place(const char *path, bool is_own)
{
    WritePlace place = {.number = -1, .mode = 0666};
    struct stat info;
    place.target = is_own ? strdup(path) : follow_links(path, &place.number);
    place.is_through = place.target && place.number >= 0;
    if (!place.target || place.is_through)
        return place;
    if ((is_own ? lstat : stat)(place.target, &info)) {
        if (errno == ENOENT)
            return place;
        int error = errno; /* whatever is there, it may be no file to be replaced */
        free(place.target);
        errno = error;
        place.target = NULL;
        return place;
    }
    place.is_through = !is_own && !S_ISREG(info.st_mode);
    if (S_ISREG(info.st_mode))
        place.mode = info.st_mode & 0777;
    if (S_ISDIR(info.st_mode)) {
        free(place.target);
        place.target = NULL;
        errno = EISDIR;
    }
    return place;
}

const char *file_target(Arena *arena, const char *path)
{
    int number;
    char *target = follow_links(path, &number);
    const char *copy = arena_strdup(arena, target ? target : path);
    free(target);
    return copy;
}

/* ---- writing ---- */

enum { BUFFER_BYTES = 1 << 20 };

struct FileWriter {
    char *path, *target, *temporary; /* temporary: NULL where the target is written through */
    int fd, error;                   /* error: the first errno seen, 0 while all is well */
    bool is_open_elsewhere;          /* fd was open before and stays so */
    bool is_joined;                  /* the temporary file is another process's */
    bool is_terminal;
    TerminalText shown; /* of a terminal */
    size_t used;
    char buffer[BUFFER_BYTES];
};

static void destroy(FileWriter *file)
{
    free(file->temporary);
    free(file->target);
    free(file->path);
    free(file);
}

/* false: errno tells why. */
static bool open_place(FileWriter *file, const WritePlace *place)
{
    file->target = place->target;
    if (!place->target)
        return false;
    if (place->number >= 0) {
        file->fd = place->number;
        file->is_open_elsewhere = true;
        file->is_terminal = isatty(file->fd);
        return fcntl(file->fd, F_GETFD) >= 0;
    }
    file->fd = place->is_through
                   ? open(place->target, O_WRONLY | O_CLOEXEC)
                   : temporary_file(AT_FDCWD, place->target, place->mode, &file->temporary);
    file->is_terminal = place->is_through && file->fd >= 0 && isatty(file->fd);
    return file->fd >= 0;
}

/* NULL: out of memory. */
static FileWriter *new_writer(const char *path)
{
    FileWriter *file = malloc(sizeof *file);
    if (!file)
        return NULL;
    memset(file, 0, offsetof(FileWriter, buffer));
    file->path = strdup(path);
    return file;
}

static FileWriter *create(Diagnostics *diags, const char *path, bool is_own)
{
    FileWriter *file = new_writer(path);
    if (!file) {
        diag_errno(diags, "write", path, ENOMEM);
        return NULL;
    }
    WritePlace place = file->path ? find_place(path, is_own) : (WritePlace){0};
    if (open_place(file, &place))
        return file;
    diag_errno(diags, "write", path, errno);
    destroy(file);
    return NULL;
}

FileWriter *file_create(Diagnostics *diags, const char *path) { return create(diags, path, false); }
FileWriter *file_create_own(Diagnostics *diags, const char *path)
{
    return create(diags, path, true);
}

/* ---- one file, several processes ---- */

const char *file_temporary(const FileWriter *file)
{
    return file->temporary ? file_name(file->temporary) : NULL;
}

/* false: errno tells why. */
static bool open_joined(FileWriter *file, const char *name)
{
    struct stat info;
    const char *slash = strrchr(file->target, '/');
    if (asprintf(&file->temporary, "%.*s%s", slash ? (int)(slash + 1 - file->target) : 0,
                 file->target, name) < 0) {
        file->temporary = NULL;
        errno = ENOMEM;
        return false;
    }
    file->fd = open(file->temporary, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file->fd < 0)
        return false;
    int error = fstat(file->fd, &info)                   ? errno
                : S_ISREG(info.st_mode) && !info.st_size ? 0
                                                         : EEXIST;
    if (!error)
        return true;
    close(file->fd);
    errno = error;
    return false;
}

FileWriter *file_join(const char *path, const char *temporary)
{
    FileWriter *file = new_writer(path);
    if (!file)
        return NULL;
    file->is_joined = true;
    file->target = file->path ? strdup(path) : NULL;
    if (file->target && open_joined(file, temporary))
        return file;
    int error = errno;
    destroy(file);
    errno = error;
    return NULL;
}

bool file_can_write(Diagnostics *diags, const char *path)
{
    WritePlace place = find_place(path, false);
    bool ok = place.target != NULL;
    if (ok && place.is_through)
        ok =
            place.number >= 0 ? fcntl(place.number, F_GETFD) >= 0 : access(place.target, W_OK) == 0;
    if (!ok)
        diag_errno(diags, "write", path, errno);
    free(place.target);
    if (!ok || place.is_through)
        return ok;
    FileWriter *file = file_create(diags, path);
    if (file)
        file_discard(file);
    return file != NULL;
}

bool file_put(int fd, const void *data, size_t size)
{
    for (const char *at = data; size;) {
        const ssize_t n = write(fd, at, size);
        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool file_show(int fd, TerminalText *shown, const char *data, size_t size)
{
    enum { PIECE = 1024 };
    char out[TERMINAL_ROOM(PIECE)];
    bool ok = true;
    for (size_t n; ok && size; data += n, size -= n) {
        n = size < PIECE ? size : PIECE;
        ok = file_put(fd, out, terminal_show(shown, data, n, out));
    }
    return ok;
}

static void write_out(FileWriter *file, const char *data, size_t size)
{
    const bool ok =
        file->error || (file->is_terminal ? file_show(file->fd, &file->shown, data, size)
                                          : file_put(file->fd, data, size));
    if (!ok)
        file->error = errno;
}

void file_write(FileWriter *file, const void *data, size_t size)
{
    if (file->used + size > BUFFER_BYTES) {
        write_out(file, file->buffer, file->used);
        file->used = 0;
    }
    if (size > BUFFER_BYTES) {
        write_out(file, data, size);
        return;
    }
    if (size) /* data may be NULL */
        memcpy(file->buffer + file->used, data, size);
    file->used += size;
}

bool file_flush(FileWriter *file)
{
    write_out(file, file->buffer, file->used);
    file->used = 0;
    return !file->error;
}

void file_skip(FileWriter *file, uint64_t size)
{
    if (file_flush(file) && lseek(file->fd, (off_t)size, SEEK_CUR) < 0)
        file->error = errno;
}

void file_rewrite(FileWriter *file, uint64_t at, const void *data, size_t size)
{
    const char *bytes = data;
    for (size_t done = 0; file_flush(file) && done < size;) {
        const ssize_t n = pwrite(file->fd, bytes + done, size - done, (off_t)(at + done));
        if (n < 0 && errno != EINTR)
            file->error = errno;
        done += n > 0 ? (size_t)n : 0;
    }
}

bool file_sync(FileWriter *file)
{
    if (file_flush(file) && file->temporary && fsync(file->fd) && errno != EINVAL && errno != EROFS)
        file->error = errno;
    return !file->error;
}

/* The rename, too, is to outlive a loss of power; it is done, whatever becomes of this. */
static void flush_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

static void close_file(FileWriter *file)
{
    char rest[TERMINAL_ROOM(0)];
    if (!file->error && !file_put(file->fd, rest, terminal_rest(&file->shown, rest)))
        file->error = errno;
    if (!file->is_open_elsewhere && close(file->fd) && !file->error)
        file->error = errno;
}

bool file_commit(FileWriter *file, Diagnostics *diags)
{
    const bool replaces = file->temporary && !file->is_joined;
    file_sync(file);
    close_file(file);
    char *folder = replaces ? strdup(file->target) : NULL;
    if (!file->error && replaces && !folder)
        file->error = ENOMEM;
    bool ok = unanswered_check(diags);
    if (ok && !file->error && replaces && rename(file->temporary, file->target))
        file->error = errno;
    if (ok && !file->error && replaces)
        flush_folder(dirname(folder));
    free(folder);
    if ((!ok || file->error) && replaces)
        unlink(file->temporary);
    if (file->error)
        diag_errno(diags, "write", file->path, file->error);
    ok = ok && !file->error;
    destroy(file);
    return ok;
}

void file_discard(FileWriter *file)
{
    close_file(file);
    if (file->temporary && !file->is_joined)
        unlink(file->temporary);
    destroy(file);
}

static bool write_all(FileWriter *file, Diagnostics *diags, const void *data, size_t size)
{
    if (!file)
        return false;
    file_write(file, data, size);
    return file_commit(file, diags);
}

bool file_write_all(Diagnostics *diags, const char *path, const void *data, size_t size)
{
    return write_all(file_create(diags, path), diags, data, size);
}

bool file_write_own(Diagnostics *diags, const char *path, const void *data, size_t size)
{
    return write_all(file_create_own(diags, path), diags, data, size);
}

/* What cannot be known is taken to be there: who reads it says why it cannot. */
bool file_exists(const char *path)
{
    return !access(path, F_OK) || unanswered_note("look for", path, errno);
}

bool file_is_named(const char *path)
{
    struct stat info;
    return !lstat(path, &info) || unanswered_note("look for", path, errno);
}

static bool is_found(const char *path, int failed)
{
    if (failed)
        unanswered_note("look for", path, errno);
    return !failed;
}

bool file_stat(const char *path, struct stat *info) { return is_found(path, stat(path, info)); }

bool file_stat_open(int fd, const char *path, struct stat *info)
{
    return is_found(path, fstat(fd, info));
}

bool file_is_regular(const char *path)
{
    struct stat info;
    return file_stat(path, &info) && S_ISREG(info.st_mode);
}

bool file_is_folder(const char *path)
{
    struct stat info;
    return file_stat(path, &info) && S_ISDIR(info.st_mode);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info, (void)type, (void)walk;
    return remove(path);
}

void file_remove_tree(const char *path) { nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

static bool is_link(const char *path)
{
    struct stat info;
    return is_found(path, lstat(path, &info)) && S_ISLNK(info.st_mode);
}

/* Folders of the path past its first `linked` bytes may not be links. */
static bool make_folders(Diagnostics *diags, const char *path, size_t linked, mode_t mode)
{
    char *copy = strdup(path);
    bool ok = copy != NULL;
    if (!copy)
        diag_error(diags, no_place(), "cannot make the folder %s: %s", path, strerror(ENOMEM));
    for (char *c = ok ? copy + 1 : NULL; ok; c++) {
        if (*c && *c != '/')
            continue;
        char kept = *c;
        *c = 0;
        int error = mkdir(copy, mode) ? errno : 0;
        if (error == EEXIST && (size_t)(c - copy) > linked && is_link(copy)) {
            diag_error(diags, no_place(), "cannot make the folder %s: %s", copy,
                       file_own_error(ELOOP));
            ok = false;
        } else if (error && !(error == EEXIST && file_is_folder(copy))) {
            diag_error(diags, no_place(), "cannot make the folder %s: %s", path,
                       error == EEXIST ? "a file has that name" : strerror(error));
            ok = false;
        }
        *c = kept;
        if (!kept)
            break;
    }
    free(copy);
    return ok;
}

bool file_make_folder(Diagnostics *diags, const char *path)
{
    return make_folders(diags, path, SIZE_MAX, 0777);
}

bool file_make_own_folder(Diagnostics *diags, const char *folder, const char *path)
{
    return make_folders(diags, path, strlen(folder), 0777);
}

bool file_make_private_folder(Diagnostics *diags, const char *path)
{
    return make_folders(diags, path, SIZE_MAX, 0700);
}

const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *file_folder(Arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    return !slash ? "." : slash == path ? "/" : arena_strndup(arena, path, (size_t)(slash - path));
}

const char *file_beside(Arena *arena, const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    return slash ? arena_printf(arena, "%.*s/%s", (int)(slash - path), path, name)
                 : arena_strdup(arena, name);
}

const char *file_in(Arena *arena, const char *folder, const char *name)
{
    return arena_printf(arena, "%s/%s", folder, name);
}
