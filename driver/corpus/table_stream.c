/* Reading tables a part at a time: whole records, a few megabytes or what a pipe has. */
#define _GNU_SOURCE
#include "driver/corpus/table_stream.h"

#include "runtime/data/packed_text.h"
#include "runtime/data/table.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PART_BYTES = 8 << 20, READ_BYTES = 1 << 20 };

/* TableStream
 *   fds        of the files; -1: not one of text, or read
 *   file       number of the file that is being read
 *   packed     it is compressed
 *   has_head   its head is found; at_end: all of it is read
 *   data       what is read and in no part yet, which begins behind `lines` lines of the file
 *   seen, whole, in_quotes   how far data is searched for ends of records; where the last one is
 *   records    of the file
 *   part       of the records that were given last */
struct TableStream {
    Job *job;
    const TextList *paths;
    const TableFields *fields;
    LineLimits limits;
    int *fds;
    size_t file;
    PackedText *packed;
    bool has_begun, has_head, at_end;
    TableHead head;
    TableFormat format;
    char *data;
    size_t length, room, seen, whole;
    bool in_quotes;
    int64_t lines, records;
    Arena *part;
};

static bool is_stdin(const char *path) { return !strcmp(path, "-"); }

static const char *path_of(const TableStream *s) { return s->paths->data[s->file]; }

static const char *name_of(const TableStream *s)
{
    return is_stdin(path_of(s)) ? "<standard input>" : path_of(s);
}

TableStream *table_stream_open(Job *job, const TextList *paths, const TableFields *fields,
                               int64_t line_limit)
{
    int stdins = 0;
    if (!table_files_check(job, paths, fields))
        return NULL;
    TableStream *s = memory_zeroed(1, sizeof *s);
    *s = (TableStream){.job = job,
                       .paths = paths,
                       .fields = fields,
                       .limits = {.line = line_limit},
                       .fds = memory_zeroed(paths->count + 1, sizeof *s->fds)};
    for (size_t i = 0; i < paths->count; i++)
        s->fds[i] = -1;
    bool ok = true;
    for (size_t i = 0; ok && i < paths->count; i++) {
        const char *path = paths->data[i];
        stdins += is_stdin(path);
        if (stdins > 1)
            ok =
                job_error(job, "standard input (-) stands twice among the files, and is read once");
        else if (!table_file_is_tensors(path)) {
            s->fds[i] = is_stdin(path) ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
            ok = s->fds[i] >= 0;
            if (!ok)
                diag_errno(&job->diags, "read", path, errno);
        }
    }
    if (ok)
        return s;
    table_stream_close(s);
    return NULL;
}

static void end_file(TableStream *s)
{
    if (s->fds[s->file] >= 0)
        close(s->fds[s->file]);
    s->fds[s->file] = -1;
    packed_text_close(s->packed);
    s->packed = NULL;
    s->has_begun = s->has_head = s->at_end = s->in_quotes = false;
    s->length = s->seen = s->whole = 0;
    s->lines = s->records = 0;
    s->file++;
}

void table_stream_keep(TableStream *s)
{
    if (s->part)
        arena_own(s->job->arena, s->part, (void (*)(void *))arena_free);
    s->part = NULL;
}

void table_stream_close(TableStream *s)
{
    if (!s)
        return;
    while (s->file < s->paths->count)
        end_file(s);
    table_stream_keep(s);
    free(s->fds);
    free(s->data);
    free(s);
}

/* ---- bytes ---- */

static bool reading_failed(const TableStream *s)
{
    int error = errno;
    const char *problem = s->packed ? packed_text_problem(s->packed, &error) : NULL;
    if (problem)
        diag_file(&s->job->diags, "read", path_of(s), "%s", problem);
    else
        diag_errno(&s->job->diags, "read", path_of(s), error);
    return false;
}

static ssize_t read_some(TableStream *s, char *out, size_t size)
{
    ssize_t n;
    if (s->packed)
        return packed_text_read(s->packed, out, size);
    do
        n = read(s->fds[s->file], out, size);
    while (n < 0 && errno == EINTR);
    return n;
}

/* Appends what is read at once. */
static bool read_block(TableStream *s)
{
    if (s->room < s->length + READ_BYTES + 1) {
        s->room = 2 * s->room + READ_BYTES + 1;
        s->data = memory_resized(s->data, s->room);
    }
    const ssize_t n = read_some(s, s->data + s->length, READ_BYTES);
    if (n < 0)
        return reading_failed(s);
    s->at_end = n == 0;
    s->length += (size_t)n;
    return true;
}

/* The first bytes, which say whether the file is compressed. */
static bool begin_file(TableStream *s)
{
    while (!s->at_end && s->length < PACKED_BEGIN)
        if (!read_block(s))
            return false;
    s->has_begun = true;
    if (!packed_text_program(s->data, s->length))
        return true;
    s->packed = packed_text_open(s->data, s->length, s->fds[s->file]);
    s->length = 0;
    s->at_end = false;
    return read_block(s);
}

/* Whether there is more that can be read without waiting for a writer. */
static bool is_ready(const TableStream *s)
{
    struct pollfd file = {.fd = s->fds[s->file], .events = POLLIN};
    return s->packed || poll(&file, 1, 0) > 0;
}

/* Goes on searching for ends of records; the first one ends the search with `first`. */
static void find_ends(TableStream *s, bool first)
{
    for (; s->seen < s->length && !(first && s->whole); s->seen++) {
        const char c = s->data[s->seen];
        s->in_quotes ^= s->format == TABLE_CSV && c == '"';
        if (c == '\n' && !s->in_quotes)
            s->whole = s->seen + 1;
    }
}

/* Reads until a record is whole, and more if that is there. The bytes of whole records; of a file
 * that has ended, all. A record that is far too long is for the parser to refuse. */
static bool read_records(TableStream *s, bool first, size_t *bytes)
{
    const size_t longest = 2 * (size_t)(s->limits.line ? s->limits.line : LINE_LIMIT) + PART_BYTES;
    for (find_ends(s, first); !s->at_end; find_ends(s, first)) {
        const bool has_some = s->whole && (first || s->length >= PART_BYTES || !is_ready(s));
        if (has_some || s->length - s->whole > longest)
            break;
        if (!read_block(s))
            return false;
    }
    *bytes = s->whole && !(s->at_end && !first) ? s->whole : s->length;
    return true;
}

/* Leaves out the first bytes. */
static void drop_bytes(TableStream *s, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        s->lines += s->data[i] == '\n';
    memmove(s->data, s->data + bytes, s->length - bytes);
    s->length -= bytes;
    s->seen = s->whole = 0;
    s->in_quotes = false;
}

/* ---- records ---- */

/* A copy of the first bytes, in the arena. */
static Source *copy_source(const TableStream *s, Arena *arena, size_t bytes)
{
    Source *source = ARENA_NEW(arena, Source);
    *source = (Source){.path = name_of(s),
                       .text = arena_strndup(arena, s->length ? s->data : "", bytes),
                       .length = bytes,
                       .lines_before = s->lines};
    return source;
}

static bool find_head(TableStream *s)
{
    size_t bytes;
    Job *job = s->job;
    if (!begin_file(s))
        return false;
    s->format =
        table_format(path_of(s), copy_source(s, job->arena, s->length < 64 ? s->length : 64));
    if (!read_records(s, true, &bytes))
        return false;
    const Source *beginning = copy_source(s, job->arena, bytes);
    if (!table_find_head(&job->diags, job->arena, beginning, s->format, s->fields->names,
                         (size_t)s->fields->n, &s->limits, &s->head))
        return false;
    s->has_head = true;
    drop_bytes(s, s->head.lines ? bytes : 0);
    return true;
}

/* The next records of a file of text; *n 0: it has ended. */
static bool read_part(TableStream *s, CorpusText *text, int64_t *n)
{
    size_t bytes;
    if ((!s->has_head && !find_head(s)) || !read_records(s, false, &bytes))
        return false;
    if (!bytes) {
        if (!s->records)
            diag_error(&s->job->diags, (Loc){.source = copy_source(s, s->job->arena, 0)},
                       TABLE_HAS_NO_RECORDS);
        return s->records > 0;
    }
    s->part = arena_new();
    const Table *table = table_parse_part(&s->job->diags, s->part, copy_source(s, s->part, bytes),
                                          &s->head, &s->limits);
    drop_bytes(s, bytes);
    if (!table)
        return false;
    *text = table_fields_text(s->part, s->fields, table->columns);
    *n = table->n;
    s->records += *n;
    return true;
}

static bool map_tensors(TableStream *s, CorpusText *text, int64_t *n)
{
    Lines **columns = table_file_tensors(s->job, path_of(s), s->fields);
    if (!columns)
        return false;
    *text = table_fields_text(s->job->arena, s->fields, columns);
    *n = columns[0]->n;
    return true;
}

bool table_stream_next(TableStream *s, CorpusText *text, int64_t *n)
{
    arena_free(s->part);
    s->part = NULL;
    *n = 0;
    while (!*n && s->file < s->paths->count) {
        const bool is_text = s->fds[s->file] >= 0;
        if (!(is_text ? read_part : map_tensors)(s, text, n))
            return false;
        if (!*n || !is_text)
            end_file(s);
    }
    return true;
}
