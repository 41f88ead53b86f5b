/* The lines of a LineBuffer, checked. */
#define _GNU_SOURCE
#include "runtime/data/line_reader.h"

#include "base/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct LineReader {
    LineBuffer buffer;
    char *name;
    Arena *messages; /* of the last call */
};

LineReader *line_reader_open(Diagnostics *diags, const char *path, int64_t line_limit)
{
    bool is_stdin = !strcmp(path, "-");
    LineBuffer buffer;
    if (!line_buffer_open(&buffer, is_stdin ? NULL : path, line_limit ? line_limit : LINE_LIMIT)) {
        diag_errno(diags, "read", path, errno);
        return NULL;
    }
    LineReader *reader = memory_zeroed(1, sizeof *reader);
    char *name = strdup(is_stdin ? "<standard input>" : path);
    memory_need(name);
    *reader = (LineReader){.buffer = buffer, .name = name, .messages = arena_new()};
    return reader;
}

void line_reader_close(LineReader *reader)
{
    if (!reader)
        return;
    line_buffer_close(&reader->buffer);
    arena_free(reader->messages);
    free(reader->name);
    free(reader);
}

bool line_reader_seek(LineReader *reader, int64_t bytes, int64_t lines)
{
    return line_buffer_seek(&reader->buffer, bytes, lines);
}

const char *line_reader_name(const LineReader *reader) { return reader->name; }

bool line_reader_ready(LineReader *reader) { return line_buffer_ready(&reader->buffer); }

static LineResult failed(LineReader *r, const char *message)
{
    line_buffer_end(&r->buffer);
    return (LineResult){.status = LINE_FAILED, .number = r->buffer.number, .message = message};
}

static LineResult check_line(LineReader *r, Line line)
{
    const int64_t number = r->buffer.number;
    const char *foreign = number == 1 ? text_foreign(line.text, line.length) : NULL;
    if (foreign)
        return failed(r, arena_printf(r->messages, "the file %s", foreign));
    LineResult result = {.status = LINE_READ, .number = number, .line = line};
    result.message = line_fault(r->messages, &line, r->buffer.limit, &result.column);
    if (result.message)
        result.status = LINE_BAD;
    return result;
}

LineResult line_reader_next(LineReader *r)
{
    arena_free(r->messages);
    r->messages = arena_new();
    Line line;
    const LineStatus status = line_buffer_next(&r->buffer, &line);
    const int64_t number = r->buffer.number;
    if (status == LINE_READ)
        return check_line(r, line);
    if (status == LINE_END)
        return (LineResult){.status = LINE_END, .number = number};
    return failed(r, r->buffer.error ? strerror(r->buffer.error)
                                     : arena_printf(r->messages,
                                                    "line %lld has no end: this is not a text file",
                                                    (long long)number));
}
