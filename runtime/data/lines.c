/* Reading text, checking UTF-8 and cutting it into lines. */
#define _GNU_SOURCE
#include "runtime/data/lines.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_PLACES = 3 }; /* bad lines told one by one; the rest are counted */

size_t utf8_length(const char *text, size_t available)
{
    const unsigned char *t = (const unsigned char *)text;
    if (available == 0)
        return 0;
    if (t[0] < 0x80)
        return 1;
    size_t n = t[0] >= 0xC2 && t[0] <= 0xDF   ? 2
               : (t[0] & 0xF0) == 0xE0        ? 3
               : t[0] >= 0xF0 && t[0] <= 0xF4 ? 4
                                              : 0;
    if (n == 0 || available < n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((t[i] & 0xC0) != 0x80)
            return 0;
    bool overlong = (t[0] == 0xE0 && t[1] < 0xA0) || (t[0] == 0xF0 && t[1] < 0x90);
    bool beyond = (t[0] == 0xED && t[1] > 0x9F) || (t[0] == 0xF4 && t[1] > 0x8F);
    return overlong || beyond ? 0 : n;
}

/* Byte offset of the first thing that is not text, or length. */
static size_t find_bad_byte(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length && text[i]) {
        size_t n = utf8_length(text + i, length - i);
        if (n == 0)
            break;
        i += n;
    }
    return i;
}

static bool is_gzip(const Source *source)
{
    return source->length > 2 && !memcmp(source->text, "\x1f\x8b", 2);
}

static bool check_text(Diagnostics *diags, const Lines *lines)
{
    if (is_gzip(lines->source)) {
        diag_error(diags, (Loc){.source = lines->source},
                   "the file is compressed by gzip; decompress it first");
        return false;
    }
    int64_t bad = 0;
    for (int64_t i = 0; i < lines->n; i++) {
        const Line *line = &lines->at[i];
        size_t at = find_bad_byte(line->text, line->length);
        if (at == line->length || ++bad > MAX_PLACES)
            continue;
        Loc loc = lines_place(lines, i);
        loc.column += (int)at;
        if (line->text[at])
            diag_error(diags, loc, "invalid UTF-8: byte 0x%02x", (unsigned char)line->text[at]);
        else
            diag_error(diags, loc, "a NUL byte: this is not a text file");
    }
    if (bad > MAX_PLACES)
        diag_error(diags, (Loc){.source = lines->source}, "%lld more lines are not valid UTF-8",
                   (long long)(bad - MAX_PLACES));
    return bad == 0;
}

Loc lines_place(const Lines *lines, int64_t i)
{
    return (Loc){.source = lines->source,
                 .line = (int)(i < INT32_MAX ? i + 1 : INT32_MAX),
                 .column = 1,
                 .length = 1};
}

Lines *lines_parse(Diagnostics *diags, Arena *arena, const Source *source)
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
    return check_text(diags, lines) ? lines : NULL;
}

static bool drain(int fd, Text *text)
{
    char buffer[1 << 16];
    for (;;) {
        ssize_t n = read(fd, buffer, sizeof buffer);
        if (n == 0)
            return true;
        if (n > 0)
            text_put(text, buffer, (size_t)n);
        else if (errno != EINTR)
            return false;
    }
}

/* All of a pipe or a terminal. */
static const Source *read_stream(Diagnostics *diags, Arena *arena, const char *path, int fd)
{
    Text text = {0};
    Source *source = NULL;
    if (drain(fd, &text)) {
        char *copy = arena_alloc(arena, text.length + 1);
        if (text.length)
            memcpy(copy, text.data, text.length);
        source = ARENA_NEW(arena, Source);
        *source = (Source){arena_strdup(arena, path), copy, text.length};
    } else {
        diag_error(diags, (Loc){0}, "cannot read %s: %s", path, strerror(errno));
    }
    text_free(&text);
    return source;
}

Lines *lines_read(Diagnostics *diags, Arena *arena, const char *path)
{
    const Source *source;
    struct stat info;
    if (!strcmp(path, "-")) {
        source = read_stream(diags, arena, "<standard input>", STDIN_FILENO);
    } else if (!stat(path, &info) && (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode))) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0) {
            diag_error(diags, (Loc){0}, "cannot read %s: %s", path, strerror(errno));
            return NULL;
        }
        source = read_stream(diags, arena, path, fd);
        close(fd);
    } else {
        source = file_read(diags, arena, path, SIZE_MAX / 4);
    }
    return source ? lines_parse(diags, arena, source) : NULL;
}
