/* The bytes that were read, and the lines in them. */
#define _GNU_SOURCE
#include "runtime/data/line_buffer.h"

#include "base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 16, MOST_SKIPPED = 1000 /* times the limit */ };

bool line_buffer_open(LineBuffer *buffer, const char *path, int64_t limit)
{
    struct stat info = {0};
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    bool is_open = fd >= 0 && !fstat(fd, &info);
    if (!is_open || S_ISDIR(info.st_mode)) {
        int why = is_open ? EISDIR : errno;
        if (path && fd >= 0)
            close(fd);
        errno = why;
        return false;
    }
    *buffer =
        (LineBuffer){.fd = fd, .limit = limit, .is_file = S_ISREG(info.st_mode), .skipped = -1};
    return true;
}

void line_buffer_close(LineBuffer *buffer)
{
    if (buffer->fd != STDIN_FILENO)
        close(buffer->fd);
    free(buffer->data);
}

bool line_buffer_seek(LineBuffer *buffer, int64_t bytes, int64_t lines)
{
    buffer->number = lines;
    buffer->has_begun = bytes > 0;
    return lseek(buffer->fd, (off_t)bytes, SEEK_SET) >= 0;
}

static void make_room(LineBuffer *b)
{
    if (b->begin && (b->begin == b->end || b->capacity - b->end < CHUNK)) {
        memmove(b->data, b->data + b->begin, b->end - b->begin);
        b->end -= b->begin;
        b->searched -= b->begin;
        b->begin = 0;
    }
    if (b->capacity - b->end >= CHUNK)
        return;
    b->capacity = 2 * b->capacity + CHUNK;
    b->data = memory_resized(b->data, b->capacity);
}

/* Waits for a writer, at most `milliseconds` (-1: as long as it takes). False: nothing came. */
static bool wait_for_bytes(const LineBuffer *b, int milliseconds)
{
    struct pollfd one = {.fd = b->fd, .events = POLLIN};
    return poll(&one, 1, milliseconds) > 0;
}

/* Reads what is there; waits where nothing is, also at a file that is set not to block. */
static void read_available(LineBuffer *b)
{
    make_room(b);
    ssize_t n = read(b->fd, b->data + b->end, CHUNK);
    if (n > 0)
        b->end += (size_t)n;
    else if (n == 0)
        b->at_end = true;
    else if (errno == EAGAIN)
        wait_for_bytes(b, -1);
    else if (errno != EINTR) {
        b->error = errno;
        b->at_end = true;
    }
}

/* The end of the line at begin, or NULL where it is not in the buffer. */
static char *find_newline(LineBuffer *b)
{
    char *found =
        b->end > b->searched ? memchr(b->data + b->searched, '\n', b->end - b->searched) : NULL;
    b->searched = found ? (size_t)(found - b->data) : b->end;
    return found;
}

/* Drops what has come of a line that is skipped; true when all of it has. */
static bool skip_line(LineBuffer *b)
{
    if (b->skipped < 0)
        return true;
    char *newline = find_newline(b);
    size_t stop = newline ? (size_t)(newline + 1 - b->data) : b->end;
    b->skipped += (int64_t)(stop - b->begin);
    b->begin = b->searched = stop;
    if (newline)
        b->skipped = -1;
    return newline || b->at_end || b->skipped / MOST_SKIPPED > b->limit;
}

static bool is_over(const LineBuffer *b) { return (int64_t)(b->end - b->begin) > b->limit + 1; }

static void drop_mark(LineBuffer *b)
{
    if (b->has_begun || b->end - b->begin < 3)
        return;
    b->has_begun = true;
    if (!memcmp(b->data + b->begin, "\xEF\xBB\xBF", 3))
        b->begin = b->searched = b->begin + 3;
}

/* Whether what has been read decides the next result: a line, or the end. */
static bool next_is_decided(LineBuffer *b)
{
    drop_mark(b);
    return skip_line(b) && (b->skipped >= 0 || b->at_end || find_newline(b) || is_over(b));
}

bool line_buffer_ready(LineBuffer *b)
{
    while (!next_is_decided(b)) {
        if (!b->is_file && !wait_for_bytes(b, 0))
            return false;
        read_available(b);
    }
    return true;
}

void line_buffer_end(LineBuffer *b)
{
    b->at_end = true;
    b->begin = b->end = b->searched = 0;
}

static LineStatus failed(LineBuffer *b)
{
    line_buffer_end(b);
    return LINE_FAILED;
}

LineStatus line_buffer_next(LineBuffer *b, Line *line)
{
    while (!next_is_decided(b))
        read_available(b);
    if (b->skipped >= 0 && !b->at_end)
        return failed(b);
    char *newline = find_newline(b);
    if (!newline && b->at_end && b->begin == b->end)
        return b->error ? failed(b) : LINE_END;
    *line = (Line){b->data + b->begin, (newline ? (size_t)(newline - b->data) : b->end) - b->begin};
    b->begin = b->searched = newline ? (size_t)(newline + 1 - b->data) : b->end;
    if (!newline && !b->at_end)
        b->skipped = 0; /* the rest of a line that is too long */
    b->number++;
    line->length -= line->length && line->text[line->length - 1] == '\r';
    return LINE_READ;
}
