/* The lines of a RecordCutter, checked. */
#define _GNU_SOURCE
#include "runtime/data/line_reader.h"

#include "base/arena.h"
#include "base/record_cutter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct LineReader {
    RecordCutter cutter;
    char *name;
    Arena *messages; /* of the last call */
};

LineReader *line_reader_open(Diagnostics *diags, const char *path, int64_t line_limit)
{
    const RecordRule rule = {.longest = (size_t)line_limit_of(line_limit)};
    RecordCutter cutter;
    if (!record_cutter_open(&cutter, path, rule)) {
        diag_errno(diags, "read", path, errno);
        return NULL;
    }
    byte_source_unpack(&cutter.source);
    LineReader *reader = memory_zeroed(1, sizeof *reader);
    char *name = strdup(text_name(path));
    memory_need(name);
    *reader = (LineReader){.cutter = cutter, .name = name, .messages = arena_new()};
    return reader;
}

void line_reader_close(LineReader *reader)
{
    if (!reader)
        return;
    record_cutter_close(&reader->cutter);
    arena_free(reader->messages);
    free(reader->name);
    free(reader);
}

bool line_reader_seek(LineReader *reader, int64_t bytes, int64_t lines)
{
    return record_cutter_seek(&reader->cutter, bytes, lines);
}

const char *line_reader_name(const LineReader *reader) { return reader->name; }

bool line_reader_ready(LineReader *reader) { return record_ready(&reader->cutter); }

static LineResult fail_reader(LineReader *r, const char *message)
{
    record_cutter_end(&r->cutter);
    return (LineResult){.status = LINE_FAILED, .number = r->cutter.line, .message = message};
}

static LineResult check_line(LineReader *r, const Record *record)
{
    const int64_t number = r->cutter.line;
    const Line line = {record->text, record->length};
    const char *foreign = number == 1 ? text_foreign(line.text, line.length) : NULL;
    if (foreign)
        return fail_reader(r, arena_printf(r->messages, "the file %s", foreign));
    LineResult result = {.status = LINE_READ, .number = number, .line = line};
    result.message =
        line_fault(r->messages, &line, (int64_t)r->cutter.rule.longest, &result.column);
    if (result.message)
        result.status = LINE_BAD;
    return result;
}

LineResult line_reader_next(LineReader *r)
{
    Record record;
    arena_free(r->messages);
    r->messages = arena_new();
    const RecordStatus status = record_next(&r->cutter, &record);
    if (status == RECORD_READ)
        return check_line(r, &record);
    if (status == RECORD_END)
        return (LineResult){.status = LINE_END, .number = r->cutter.line};
    const char *problem = byte_source_problem(&r->cutter.source);
    return fail_reader(r, problem ? problem
                                  : arena_printf(r->messages,
                                                 "line %lld has no end: this is not a text file",
                                                 (long long)r->cutter.line));
}
