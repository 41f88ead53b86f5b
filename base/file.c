/* Reading whole files and replacing them atomically. */
#define _GNU_SOURCE
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static Loc no_place(void) { return (Loc){0}; }

const Source *file_read(Diagnostics *diags, Arena *arena, const char *path, size_t max_bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (fd < 0 || fstat(fd, &info)) {
        diag_error(diags, no_place(), "cannot read %s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    if (!S_ISREG(info.st_mode) || (size_t)info.st_size > max_bytes) {
        diag_error(diags, no_place(), "cannot read %s: %s", path,
                   S_ISREG(info.st_mode) ? "the file is too large" : "not a regular file");
        close(fd);
        return NULL;
    }
    Source *source = ARENA_NEW(arena, Source);
    char *text = arena_alloc(arena, (size_t)info.st_size + 1);
    size_t length = 0;
    while (length < (size_t)info.st_size) {
        ssize_t n = read(fd, text + length, (size_t)info.st_size - length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            diag_error(diags, no_place(), "cannot read %s: %s", path, strerror(errno));
            close(fd);
            return NULL;
        }
        if (n == 0)
            break;
        length += (size_t)n;
    }
    close(fd);
    *source = (Source){arena_strdup(arena, path), text, length};
    return source;
}

enum { BUFFER_BYTES = 1 << 20 };

struct FileWriter {
    char *path, *temporary;
    int fd, error; /* error: the first errno seen, 0 while all is well */
    size_t used;
    char buffer[BUFFER_BYTES];
};

FileWriter *file_create(Diagnostics *diags, const char *path)
{
    FileWriter *file = malloc(sizeof *file);
    if (!file)
        abort();
    file->error = 0;
    file->used = 0;
    if (asprintf(&file->temporary, "%s.tmp-%ld", path, (long)getpid()) < 0)
        abort();
    file->path = strdup(path);
    file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file->fd < 0) {
        diag_error(diags, no_place(), "cannot write %s: %s", path, strerror(errno));
        free(file->temporary);
        free(file->path);
        free(file);
        return NULL;
    }
    return file;
}

static void write_out(FileWriter *file, const char *data, size_t size)
{
    while (size && !file->error) {
        ssize_t n = write(file->fd, data, size);
        if (n < 0 && errno != EINTR)
            file->error = errno;
        else if (n > 0) {
            data += n;
            size -= (size_t)n;
        }
    }
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
    memcpy(file->buffer + file->used, data, size);
    file->used += size;
}

static void destroy(FileWriter *file)
{
    free(file->temporary);
    free(file->path);
    free(file);
}

static void flush_folder(const char *path)
{
    char *copy = strdup(path);
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(copy);
}

bool file_commit(FileWriter *file, Diagnostics *diags)
{
    write_out(file, file->buffer, file->used);
    if (!file->error && fsync(file->fd) && errno != EINVAL && errno != EROFS)
        file->error = errno;
    if (close(file->fd) && !file->error)
        file->error = errno;
    if (!file->error && rename(file->temporary, file->path))
        file->error = errno;
    bool ok = !file->error;
    if (ok)
        flush_folder(file->path);
    else {
        unlink(file->temporary);
        diag_error(diags, no_place(), "cannot write %s: %s", file->path, strerror(file->error));
    }
    destroy(file);
    return ok;
}

void file_discard(FileWriter *file)
{
    close(file->fd);
    unlink(file->temporary);
    destroy(file);
}

bool file_write_all(Diagnostics *diags, const char *path, const void *data, size_t size)
{
    FileWriter *file = file_create(diags, path);
    if (!file)
        return false;
    file_write(file, data, size);
    return file_commit(file, diags);
}

bool file_exists(const char *path) { return access(path, F_OK) == 0; }

bool file_make_folder(Diagnostics *diags, const char *path)
{
    char *copy = strdup(path);
    bool ok = true;
    for (char *c = copy + 1; ok; c++) {
        if (*c && *c != '/')
            continue;
        char kept = *c;
        *c = 0;
        if (mkdir(copy, 0777) && errno != EEXIST) {
            diag_error(diags, no_place(), "cannot make the folder %s: %s", path, strerror(errno));
            ok = false;
        }
        *c = kept;
        if (!kept)
            break;
    }
    free(copy);
    return ok;
}

const char *file_beside(Arena *arena, const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    return slash ? arena_printf(arena, "%.*s/%s", (int)(slash - path), path, name)
                 : arena_strdup(arena, name);
}
