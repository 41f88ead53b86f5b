/* Reading text, checking UTF-8 and cutting it into lines. */
#define _GNU_SOURCE
#include "runtime/data/lines.h"

#include "base/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_PLACES = 3 }; /* bad lines told one by one; the rest are counted */

/* Byte offset of the first thing that is not UTF-8, or length. */
static size_t find_bad_byte(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length) {
        size_t n = utf8_length(text + i, length - i);
        if (n == 0)
            break;
        i += n;
    }
    return i;
}

const char *text_foreign(const char *text, size_t length)
{
    static const struct {
        const char *begin, *what;
    } rows[] = {
        {"\x1f\x8b", "is compressed by gzip; decompress it first"},
        {"\xff\xfe", "is UTF-16: convert it first (iconv -f UTF-16 -t UTF-8)"},
        {"\xfe\xff", "is UTF-16: convert it first (iconv -f UTF-16 -t UTF-8)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (length >= 2 && !memcmp(text, rows[i].begin, 2))
            return rows[i].what;
    return NULL;
}

bool text_has_cr_lines(const char *text, size_t length)
{
    const char *first = length && !memchr(text, '\n', length) ? memchr(text, '\r', length) : NULL;
    return first && first + 1 < text + length;
}

const char *line_fault(Arena *arena, const Line *line, int64_t line_limit, int *column)
{
    *column = 1;
    if (line->length > (size_t)line_limit)
        return arena_printf(arena,
                            "the line is longer than %lld bytes; --line-limit allows longer ones",
                            (long long)line_limit);
    /* tells most: other bad bytes are its company */
    const char *nul = line->length ? memchr(line->text, 0, line->length) : NULL;
    size_t at = nul ? (size_t)(nul - line->text) : find_bad_byte(line->text, line->length);
    if (at == line->length)
        return NULL;
    *column = (int)at + 1;
    return !nul ? arena_printf(
                      arena,
                      "invalid UTF-8: byte 0x%02x (iconv converts a text of another encoding)",
                      (unsigned char)line->text[at])
                : "a NUL byte: this is not a text file";
}

/* Adds the error of a file that is no text: a NUL near its beginning says so, and other bad bytes
 * there say no more. */
static bool is_binary(Diagnostics *diags, const Lines *lines)
{
    enum { BEGINNING = 8000 };
    const Source *source = lines->source;
    const char *nul =
        source->length
            ? memchr(source->text, 0, source->length < BEGINNING ? source->length : BEGINNING)
            : NULL;
    for (int64_t i = 0; nul && i < lines->n; i++)
        if (nul < lines->at[i].text + lines->at[i].length) {
            Loc loc = lines_place(lines, i);
            const char *fault = line_fault(diags->arena, &lines->at[i], INT64_MAX, &loc.column);
            diag_error(diags, loc, "%s", fault);
            return true;
        }
    return false;
}

static bool check_text(Diagnostics *diags, const Lines *lines, int64_t line_limit)
{
    const char *foreign = text_foreign(lines->source->text, lines->source->length);
    if (foreign) {
        diag_error(diags, (Loc){.source = lines->source}, "the file %s", foreign);
        return false;
    }
    if (is_binary(diags, lines))
        return false;
    if (text_has_cr_lines(lines->source->text, lines->source->length)) {
        diag_error(diags, (Loc){.source = lines->source}, CR_LINES_ADVICE);
        return false;
    }
    int64_t bad = 0;
    for (int64_t i = 0; i < lines->n; i++) {
        Loc loc = lines_place(lines, i);
        const char *fault = line_fault(diags->arena, &lines->at[i], line_limit, &loc.column);
        if (fault && ++bad <= MAX_PLACES)
            diag_error(diags, loc, "%s", fault);
    }
    if (bad > MAX_PLACES)
        diag_error(diags, (Loc){.source = lines->source}, "%lld more lines are no text",
                   (long long)(bad - MAX_PLACES));
    return bad == 0;
}

/* The file that line *i is of; *i becomes its number there. */
static const Lines *file_of_line(const Lines *lines, int64_t *i)
{
    const Lines *file = lines;
    for (int k = 0; k < lines->n_parts; k++) {
        file = lines->parts[k];
        if (*i < file->n || k + 1 == lines->n_parts)
            break;
        *i -= file->n;
    }
    if (file->line && *i < file->n)
        *i = file->line[*i];
    return file;
}

const char *lines_where(Arena *arena, const Lines *lines, int64_t i)
{
    const Lines *file = file_of_line(lines, &i);
    return file == lines
               ? arena_printf(arena, "line %lld", (long long)i + 1)
               : arena_printf(arena, "line %lld of %s", (long long)i + 1, file->source->path);
}

Loc lines_place(const Lines *lines, int64_t i)
{
    lines = file_of_line(lines, &i);
    return (Loc){.source = lines->source,
                 .line = (int)(i < INT32_MAX ? i + 1 : INT32_MAX),
                 .column = 1,
                 .length = 1};
}

Lines *lines_parse(Diagnostics *diags, Arena *arena, const Source *source, int64_t line_limit)
{
    Lines *lines = ARENA_NEW(arena, Lines);
    lines->source = source;
    const char *text = source->text, *end = text + source->length;
    if (source->length >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3))
        text += 3;
    for (const char *c = text; c < end && (c = memchr(c, '\n', (size_t)(end - c))); c++)
        lines->n++;
    lines->n += end > text && end[-1] != '\n';
    lines->at = ARENA_ARRAY(arena, Line, lines->n + 1);
    for (int64_t i = 0; i < lines->n; i++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        if (!stop)
            stop = end;
        size_t length = (size_t)(stop - text);
        if (length && text[length - 1] == '\r')
            length--;
        lines->at[i] = (Line){text, length};
        text = stop + 1;
    }
    return check_text(diags, lines, line_limit ? line_limit : LINE_LIMIT) ? lines : NULL;
}

Lines *lines_join(Arena *arena, Lines *const *parts, int n)
{
    enum { MOST_NAMED = 3 };
    if (n == 1)
        return parts[0];
    Lines *all = ARENA_NEW(arena, Lines);
    const char *names = parts[0]->source->path;
    int64_t lines = 0;
    for (int k = 0; k < n; k++) {
        lines += parts[k]->n;
        if (k && k < MOST_NAMED)
            names = arena_printf(arena, "%s, %s", names, parts[k]->source->path);
    }
    if (n > MOST_NAMED)
        names = arena_printf(arena, "%s and %d more", names, n - MOST_NAMED);
    *all = (Lines){.source = diag_source(arena, names, "", 0),
                   .at = ARENA_ARRAY(arena, Line, lines + 1),
                   .parts = arena_copy(arena, parts, sizeof *parts * (size_t)n),
                   .n_parts = n};
    for (int k = 0; k < n; k++)
        for (int64_t i = 0; i < parts[k]->n; i++)
            all->at[all->n++] = parts[k]->at[i];
    return all;
}

bool line_columns(const Line *line, Line sides[2])
{
    const char *text = line->text, *end = text + line->length,
               *tab = memchr(text, '\t', line->length);
    if (!tab)
        return false;
    const char *next = memchr(tab + 1, '\t', (size_t)(end - tab - 1));
    sides[0] = (Line){text, (size_t)(tab - text)};
    sides[1] = (Line){tab + 1, (size_t)((next ? next : end) - tab - 1)};
    return true;
}

Lines *lines_columns(Diagnostics *diags, Arena *arena, const Lines *lines, Lines **second)
{
    Lines *sides = ARENA_ARRAY(arena, Lines, 2);
    int64_t bad = 0;
    for (int k = 0; k < 2; k++) {
        sides[k] = (Lines){.source = lines->source, .n = lines->n, .line = lines->line};
        sides[k].at = ARENA_ARRAY(arena, Line, lines->n + 1);
    }
    for (int64_t i = 0; i < lines->n; i++) {
        Line pair[2] = {{0}};
        if (!line_columns(&lines->at[i], pair) && ++bad <= MAX_PLACES)
            diag_error(diags, lines_place(lines, i),
                       "no tab: expected a source, a tab and its target");
        sides[0].at[i] = pair[0];
        sides[1].at[i] = pair[1];
    }
    if (bad > MAX_PLACES)
        diag_error(diags, (Loc){.source = lines->source}, "%lld more lines have no tab",
                   (long long)(bad - MAX_PLACES));
    *second = &sides[1];
    return bad ? NULL : &sides[0];
}

/* ---- reading ---- */

enum { CHUNK = 1 << 20 };

typedef struct Input {
    Diagnostics *diags;
    const char *path, *name; /* name: for messages */
    int fd;
    int64_t line_limit, memory;
} Input;

/* The end of what was read, which began at `from`, is no text, so that reading on would be
 * in vain: it may be endless. lines_parse finds the same and tells it. */
static bool is_hopeless(const Input *input, const char *text, size_t from, size_t length,
                        size_t *line_begin)
{
    const char *last = memrchr(text + from, '\n', length - from);
    if (memchr(text + from, 0, length - from))
        return true;
    if (last)
        *line_begin = (size_t)(last + 1 - text);
    return length - *line_begin > (size_t)input->line_limit + 1; /* with a CR */
}

static bool too_large(const Input *input, const char *how, int64_t bytes)
{
    Text size = {0}, memory = {0};
    text_bytes(&size, bytes);
    text_bytes(&memory, input->memory);
    diag_error(input->diags, (Loc){0},
               "cannot read %s: it has %s%s, and %s of memory are free; give a part of it",
               input->name, how, size.data, memory.data);
    text_free(&size);
    text_free(&memory);
    return false;
}

/* Reads into memory that is there for `room` bytes; false after an error. */
static bool read_known(const Input *input, char *text, size_t room, size_t *length)
{
    size_t line_begin = 0;
    while (*length < room) {
        size_t chunk = room - *length < CHUNK ? room - *length : CHUNK;
        ssize_t n = read(input->fd, text + *length, chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            diag_errno(input->diags, "read", input->name, errno);
        if (n <= 0)
            return n == 0;
        *length += (size_t)n;
        if (is_hopeless(input, text, *length - (size_t)n, *length, &line_begin))
            break;
    }
    return true;
}

/* Reads to the end of a pipe, a device or a terminal. */
static bool read_unknown(const Input *input, Text *text)
{
    static const int64_t copies = 3; /* the buffer, its larger successor, the result */
    size_t line_begin = 0;
    char buffer[1 << 16];
    for (;;) {
        ssize_t n = read(input->fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            diag_errno(input->diags, "read", input->name, errno);
        if (n <= 0)
            return n == 0;
        text_put(text, buffer, (size_t)n);
        if (is_hopeless(input, text->data, text->length - (size_t)n, text->length, &line_begin))
            return true;
        if ((int64_t)text->length > input->memory / copies)
            return too_large(input, "more than ", (int64_t)text->length);
    }
}

static const Source *read_source(const Input *input, Arena *arena)
{
    struct stat info;
    Source *source = ARENA_NEW(arena, Source);
    source->path = arena_strdup(arena, input->name);
    if (fstat(input->fd, &info) || S_ISDIR(info.st_mode)) {
        diag_errno(input->diags, "read", input->name, EISDIR);
        return NULL;
    }
    if (S_ISREG(info.st_mode) && info.st_size > 0) { /* /proc has files that say 0 */
        if (info.st_size > input->memory)
            return too_large(input, "", info.st_size), NULL;
        char *text = arena_alloc(arena, (size_t)info.st_size + 1);
        source->text = text;
        return read_known(input, text, (size_t)info.st_size, &source->length) ? source : NULL;
    }
    Text text = {0};
    bool ok = read_unknown(input, &text);
    source->text = ok ? arena_strndup(arena, text.data ? text.data : "", text.length) : "";
    source->length = text.length;
    text_free(&text);
    return ok ? source : NULL;
}

Lines *lines_read(Diagnostics *diags, Arena *arena, const char *path, const LineLimits *limits)
{
    bool is_stdin = !strcmp(path, "-");
    Input input = {diags,
                   path,
                   is_stdin ? "<standard input>" : path,
                   STDIN_FILENO,
                   limits && limits->line ? limits->line : LINE_LIMIT,
                   limits && limits->memory ? limits->memory : machine_memory_free()};
    if (!is_stdin && (input.fd = open(path, O_RDONLY | O_CLOEXEC)) < 0) {
        diag_errno(diags, "read", path, errno);
        return NULL;
    }
    const Source *source = read_source(&input, arena);
    if (!is_stdin)
        close(input.fd);
    return source ? lines_parse(diags, arena, source, input.line_limit) : NULL;
}

Lines *lines_read_all(Diagnostics *diags, Arena *arena, const char *const *paths, size_t n,
                      const LineLimits *limits)
{
    Lines **parts = ARENA_ARRAY(arena, Lines *, n + 1);
    bool has_stdin = false;
    for (size_t k = 0; k < n; k++) {
        bool is_stdin = !strcmp(paths[k], "-");
        if (is_stdin && has_stdin) {
            diag_error(diags, (Loc){0},
                       "standard input (-) stands twice among the files, and is read once");
            return NULL;
        }
        has_stdin = has_stdin || is_stdin;
        parts[k] = lines_read(diags, arena, paths[k], limits);
        if (!parts[k])
            return NULL;
    }
    return lines_join(arena, parts, (int)n);
}
