/* Opening files and pipes, and the bytes of them that are ahead. */
#define _GNU_SOURCE
#include "base/byte_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- opening ---- */

void byte_source_of(ByteSource *s, int fd)
{
    struct stat info = {0};
    const int error = fstat(fd, &info) ? errno : 0;
    const bool is_file = !error && S_ISREG(info.st_mode);
    *s = (ByteSource){.fd = fd,
                      .error = error,
                      .size = is_file ? (int64_t)info.st_size : -1,
                      .begin = (int64_t)lseek(fd, 0, SEEK_CUR)};
}

bool byte_source_open(ByteSource *s, const char *path)
{
    struct stat info = {0};
    const bool is_stdin = !path || !strcmp(path, "-");
    const int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    *s = (ByteSource){.fd = -1, .size = -1};
    const int why = fd < 0 || fstat(fd, &info) ? errno : S_ISDIR(info.st_mode) ? EISDIR : 0;
    if (!why) {
        byte_source_of(s, fd);
        return true;
    }
    if (fd >= 0 && !is_stdin)
        close(fd);
    errno = why;
    return false;
}

void byte_source_memory(ByteSource *s, const void *bytes, size_t n)
{
    *s = (ByteSource){
        .fd = -1, .data = bytes, .length = n, .size = (int64_t)n, .at_end = true, .memory = bytes};
}

void byte_source_close(ByteSource *s)
{
    if (s->packed)
        s->packed->free(s->packed);
    if (s->fd > STDIN_FILENO)
        close(s->fd);
    free(s->buffer);
    *s = (ByteSource){.fd = -1};
}

/* ---- reading ---- */

/* Whether bytes can be read without waiting longer than `milliseconds` for a writer; -1: waits as
 * long as it takes. */
static bool await_bytes(int fd, int milliseconds)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    return poll(&one, 1, milliseconds) > 0;
}

static ssize_t take_memory(ByteSource *s, char *to, size_t size)
{
    const size_t left = (size_t)s->size - s->taken, n = left < size ? left : size;
    if (n)
        memcpy(to, s->memory + s->taken, n);
    s->taken += n;
    return (ssize_t)n;
}

ssize_t byte_source_raw(ByteSource *s, char *to, size_t size)
{
    ssize_t n;
    if (s->fd < 0) {
        n = take_memory(s, to, size);
    } else {
        do
            n = read(s->fd, to, size);
        while (n < 0 && (errno == EINTR || (errno == EAGAIN && await_bytes(s->fd, -1))));
        if (n < 0)
            s->error = errno;
    }
    if (n > 0 && s->observe)
        s->observe(s->context, to, (size_t)n);
    return n;
}

/* The next bytes of the text. */
static ssize_t read_bytes_into(ByteSource *s, char *to, size_t size)
{
    const ssize_t n = s->packed ? s->packed->read(s, to, size) : byte_source_raw(s, to, size);
    s->at_end = n <= 0;
    return n;
}

/* Room for `most` bytes behind those that are there, which may move. False: memory ran out. */
static bool make_bytes_room(ByteSource *s, size_t most)
{
    const size_t before = s->length ? (size_t)(s->data - s->buffer) : 0;
    if (s->buffer && s->room - before - s->length >= most)
        return true;
    if (s->room < s->length + most) {
        const size_t room = s->length + s->length / 2 + most;
        char *larger = room < most ? NULL : malloc(room);
        if (!larger)
            return false;
        if (s->length)
            memcpy(larger, s->data, s->length);
        free(s->buffer);
        s->buffer = larger;
        s->room = room;
    } else if (s->length && before) {
        memmove(s->buffer, s->data, s->length);
    }
    s->data = s->buffer;
    return true;
}

bool byte_source_more(ByteSource *s, size_t most)
{
    if (s->at_end)
        return false;
    if (!make_bytes_room(s, most)) {
        s->error = ENOMEM;
        s->at_end = true;
        return false;
    }
    if (!s->length)
        s->data = s->buffer;
    const ssize_t n = read_bytes_into(s, s->buffer + (s->data - s->buffer) + s->length, most);
    s->length += n > 0 ? (size_t)n : 0;
    return n > 0;
}

size_t byte_source_look(ByteSource *s, size_t n)
{
    while (s->length < n && byte_source_more(s, n - s->length < BYTE_BLOCK ? BYTE_BLOCK : n))
        continue;
    return s->length < n ? s->length : n;
}

bool byte_source_ready(const ByteSource *s)
{
    return s->at_end || s->size >= 0 || (s->packed && s->packed->ready(s)) || await_bytes(s->fd, 0);
}

void byte_source_pass(ByteSource *s, size_t n)
{
    s->data += n;
    s->length -= n;
}

ssize_t byte_source_take(ByteSource *s, void *to, size_t size)
{
    const size_t n = s->length < size ? s->length : size;
    if (!n)
        return s->at_end ? (byte_source_problem(s) ? -1 : 0) : read_bytes_into(s, to, size);
    memcpy(to, s->data, n);
    byte_source_pass(s, n);
    return (ssize_t)n;
}

int64_t byte_source_fill(ByteSource *s, void *to, size_t size)
{
    size_t done = 0;
    ssize_t n = 1;
    while (done < size && (n = byte_source_take(s, (char *)to + done, size - done)) > 0)
        done += (size_t)n;
    return n < 0 ? -1 : (int64_t)done;
}

bool byte_source_seek(ByteSource *s, int64_t at)
{
    if (s->packed)
        s->packed->free(s->packed);
    s->packed = NULL;
    s->length = 0;
    s->at_end = false;
    return lseek(s->fd, (off_t)at, SEEK_SET) >= 0;
}

void byte_source_end(ByteSource *s)
{
    free(s->buffer);
    s->buffer = NULL;
    s->room = s->length = 0;
    s->data = NULL;
    s->at_end = true;
}

/* ---- failures ---- */

const char *byte_source_problem(const ByteSource *s)
{
    return s->error ? strerror(s->error) : s->fault;
}

bool byte_source_check(const ByteSource *s, Diagnostics *diags, const char *name)
{
    if (s->error)
        diag_errno(diags, "read", name, s->error);
    else if (s->fault)
        diag_file(diags, "read", name, "%s", s->fault);
    return !s->error && !s->fault;
}
