/* The buffer of a LineReader and the lines in it. */
#define _GNU_SOURCE
#include "runtime/data/line_reader.h"

#include "base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 16, MOST_SKIPPED = 1000 /* times the limit */ };

struct LineReader {
    int fd;
    char *name;
    int64_t limit, number;
    bool is_file, at_end;
    bool has_begun;  /* a byte order mark would be behind it */
    int error;       /* errno of a read, or 0 */
    int64_t skipped; /* bytes of the line that is being passed over; -1: none is */
    char *data;      /* from begin to end: read, not yet given */
    size_t begin, end, searched, capacity; /* no newline from begin to searched */
    Arena *messages;                       /* of the last call */
};

LineReader *line_reader_open(Diagnostics *diags, const char *path, int64_t line_limit)
{
    bool is_stdin = !strcmp(path, "-");
    struct stat info = {0};
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) || S_ISDIR(info.st_mode)) {
        diag_errno(diags, "read", path, fd >= 0 && S_ISDIR(info.st_mode) ? EISDIR : errno);
        if (fd > STDIN_FILENO)
            close(fd);
        return NULL;
    }
    LineReader *reader = memory_zeroed(1, sizeof *reader);
    char *name = strdup(is_stdin ? "<standard input>" : path);
    memory_need(name);
    *reader = (LineReader){.fd = fd,
                           .name = name,
                           .limit = line_limit ? line_limit : LINE_LIMIT,
                           .is_file = S_ISREG(info.st_mode),
                           .skipped = -1,
                           .messages = arena_new()};
    return reader;
}

void line_reader_close(LineReader *reader)
{
    if (!reader)
        return;
    if (reader->fd != STDIN_FILENO)
        close(reader->fd);
    arena_free(reader->messages);
    free(reader->name);
    free(reader->data);
    free(reader);
}

bool line_reader_seek(LineReader *reader, int64_t bytes, int64_t lines)
{
    reader->number = lines;
    reader->has_begun = bytes > 0;
    return lseek(reader->fd, (off_t)bytes, SEEK_SET) >= 0;
}

const char *line_reader_name(const LineReader *reader) { return reader->name; }

/* ---- the buffer ---- */

static void make_room(LineReader *r)
{
    if (r->begin && (r->begin == r->end || r->capacity - r->end < CHUNK)) {
        memmove(r->data, r->data + r->begin, r->end - r->begin);
        r->end -= r->begin;
        r->searched -= r->begin;
        r->begin = 0;
    }
    if (r->capacity - r->end >= CHUNK)
        return;
    r->capacity = 2 * r->capacity + CHUNK;
    r->data = memory_resized(r->data, r->capacity);
}

/* Reads what is there; waits where nothing is. */
static void fill(LineReader *r)
{
    make_room(r);
    ssize_t n = read(r->fd, r->data + r->end, CHUNK);
    if (n > 0)
        r->end += (size_t)n;
    else if (n == 0)
        r->at_end = true;
    else if (errno != EINTR) {
        r->error = errno;
        r->at_end = true;
    }
}

/* The end of the line at begin, or NULL where it is not in the buffer. */
static char *find_newline(LineReader *r)
{
    char *found =
        r->end > r->searched ? memchr(r->data + r->searched, '\n', r->end - r->searched) : NULL;
    r->searched = found ? (size_t)(found - r->data) : r->end;
    return found;
}

/* Drops what has come of a line that is passed over; true when all of it has. */
static bool skip_line(LineReader *r)
{
    if (r->skipped < 0)
        return true;
    char *newline = find_newline(r);
    size_t stop = newline ? (size_t)(newline + 1 - r->data) : r->end;
    r->skipped += (int64_t)(stop - r->begin);
    r->begin = r->searched = stop;
    if (newline)
        r->skipped = -1;
    return newline || r->at_end || r->skipped / MOST_SKIPPED > r->limit;
}

static bool is_over(const LineReader *r) { return (int64_t)(r->end - r->begin) > r->limit + 1; }

static void drop_mark(LineReader *r)
{
    if (r->has_begun || r->end - r->begin < 3)
        return;
    r->has_begun = true;
    if (!memcmp(r->data + r->begin, "\xEF\xBB\xBF", 3))
        r->begin = r->searched = r->begin + 3;
}

/* Whether the next result can be told from what has been read. */
static bool is_decided(LineReader *r)
{
    drop_mark(r);
    return skip_line(r) && (r->skipped >= 0 || r->at_end || find_newline(r) || is_over(r));
}

/* Whether reading would not wait. */
static bool is_readable(const LineReader *r)
{
    struct pollfd one = {.fd = r->fd, .events = POLLIN};
    return r->is_file || poll(&one, 1, 0) > 0;
}

bool line_reader_ready(LineReader *reader)
{
    while (!is_decided(reader)) {
        if (!is_readable(reader))
            return false;
        fill(reader);
    }
    return true;
}

/* ---- lines ---- */

static LineResult failed(LineReader *r, const char *message)
{
    r->at_end = true;
    r->begin = r->end = r->searched = 0;
    return (LineResult){.status = LINE_FAILED, .number = r->number, .message = message};
}

static LineResult check_line(LineReader *r, Line line)
{
    r->number++;
    const char *foreign = r->number == 1 ? text_foreign(line.text, line.length) : NULL;
    if (foreign)
        return failed(r, arena_printf(r->messages, "the file %s", foreign));
    if (line.length && line.text[line.length - 1] == '\r')
        line.length--;
    LineResult result = {.status = LINE_READ, .number = r->number, .line = line};
    result.message = line_fault(r->messages, &line, r->limit, &result.column);
    if (result.message)
        result.status = LINE_BAD;
    return result;
}

LineResult line_reader_next(LineReader *r)
{
    arena_free(r->messages);
    r->messages = arena_new();
    while (!is_decided(r))
        fill(r);
    if (r->skipped >= 0 && !r->at_end)
        return failed(r, arena_printf(r->messages, "line %lld goes on and on: this is no text",
                                      (long long)r->number));
    char *newline = find_newline(r);
    if (!newline && r->at_end && r->begin == r->end) {
        if (r->error)
            return failed(r, strerror(r->error));
        return (LineResult){.status = LINE_END, .number = r->number};
    }
    Line line = {r->data + r->begin, (newline ? (size_t)(newline - r->data) : r->end) - r->begin};
    r->begin = r->searched = newline ? (size_t)(newline + 1 - r->data) : r->end;
    if (!newline && !r->at_end)
        r->skipped = 0; /* the rest of a line that is too long */
    return check_line(r, line);
}
