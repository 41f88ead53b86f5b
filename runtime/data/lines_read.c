/* Reading texts whole: a file, a pipe or standard input, unpacked if it is compressed. */
#define _GNU_SOURCE
#include "runtime/data/lines.h"

#include "base/byte_source.h"
#include "base/machine.h"

#include <errno.h>
#include <string.h>

enum { CHUNK = 1 << 20 };

typedef struct Input {
    Diagnostics *diags;
    const char *name; /* for messages */
    int64_t line_limit, memory;
    ByteSource source;
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
               "cannot read %s: %sit has %s%s, and %s of memory are free; give a part of it",
               input->name, input->source.is_packed ? "unpacked, " : "", how, size.data,
               memory.data);
    text_free(&size);
    text_free(&memory);
    return false;
}

/* Reads into memory that is there for `room` bytes; false after an error. */
static bool read_known(Input *input, char *text, size_t room, size_t *length)
{
    size_t line_begin = 0;
    while (*length < room) {
        const size_t chunk = room - *length < CHUNK ? room - *length : CHUNK;
        const ssize_t n = byte_source_take(&input->source, text + *length, chunk);
        if (n <= 0)
            return byte_source_check(&input->source, input->diags, input->name);
        *length += (size_t)n;
        if (is_hopeless(input, text, *length - (size_t)n, *length, &line_begin))
            break;
    }
    return true;
}

/* Reads to the end of a pipe, a device, a terminal, or a compressed text. */
static bool read_unknown(Input *input)
{
    static const int64_t copies = 3; /* the buffer, its larger successor, the result */
    ByteSource *s = &input->source;
    size_t line_begin = 0, before = 0;
    do {
        if (is_hopeless(input, s->data, before, s->length, &line_begin))
            return true;
        if ((int64_t)s->length > input->memory / copies)
            return too_large(input, "more than ", (int64_t)s->length);
        before = s->length;
    } while (byte_source_more(s, BYTE_BLOCK));
    return byte_source_check(s, input->diags, input->name);
}

static const Source *read_source(Input *input, Arena *arena)
{
    ByteSource *s = &input->source;
    Source *source = ARENA_NEW(arena, Source);
    source->path = arena_strdup(arena, input->name);
    if (!byte_source_look(s, 1) && !byte_source_check(s, input->diags, input->name))
        return NULL;
    if (!s->is_packed && s->size > 0) { /* in /proc files say 0 */
        if (s->size > input->memory)
            return too_large(input, "", s->size), NULL;
        char *text = arena_alloc(arena, (size_t)s->size + 1);
        source->text = text;
        return read_known(input, text, (size_t)s->size, &source->length) ? source : NULL;
    }
    if (!read_unknown(input))
        return NULL;
    source->text = arena_strndup(arena, s->length ? s->data : "", s->length);
    source->length = s->length;
    return source;
}

/* A file that a folder names has a name, is a regular one, and is not compressed. False after an
 * error. */
static bool open_text(Diagnostics *diags, const char *path, const LineLimits *limits,
                      ByteSource *source)
{
    uint64_t size;
    if (limits && limits->reach.folder) {
        const int fd = file_open_within(diags, limits->reach, path, LARGEST_LIST, &size);
        if (fd >= 0)
            byte_source_of(source, fd);
        return fd >= 0;
    }
    if (!byte_source_open(source, path)) {
        diag_errno(diags, "read", path, errno);
        return false;
    }
    byte_source_unpack(source);
    return true;
}

const Source *text_read(Diagnostics *diags, Arena *arena, const char *path,
                        const LineLimits *limits)
{
    Input input = {.diags = diags,
                   .name = limits && limits->reach.folder ? path : text_name(path),
                   .line_limit = line_limit_of(limits ? limits->line : 0),
                   .memory = limits && limits->memory ? limits->memory : machine_memory_free()};
    if (!open_text(diags, path, limits, &input.source))
        return NULL;
    const Source *source = read_source(&input, arena);
    byte_source_close(&input.source);
    return source;
}

Lines *lines_read(Diagnostics *diags, Arena *arena, const char *path, const LineLimits *limits)
{
    const Source *source = text_read(diags, arena, path, limits);
    return source ? lines_parse(diags, arena, source, limits ? limits->line : 0) : NULL;
}

bool text_paths_check(Diagnostics *diags, const char *const *paths, size_t n)
{
    size_t from_stdin = 0;
    for (size_t k = 0; k < n; k++)
        from_stdin += !strcmp(paths[k], "-");
    if (from_stdin > 1)
        diag_error(diags, (Loc){0},
                   "standard input (-) stands twice among the files, and is read once");
    return from_stdin <= 1;
}

Lines *lines_read_all(Diagnostics *diags, Arena *arena, const char *const *paths, size_t n,
                      const LineLimits *limits)
{
    Lines **parts = ARENA_ARRAY(arena, Lines *, n + 1);
    bool ok = text_paths_check(diags, paths, n);
    for (size_t k = 0; ok && k < n; k++)
        ok = (parts[k] = lines_read(diags, arena, paths[k], limits)) != NULL;
    return ok ? lines_join(arena, parts, (int)n) : NULL;
}
