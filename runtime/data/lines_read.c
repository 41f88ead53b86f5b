/* Reading texts whole: a file, a pipe or standard input, unpacked if it is compressed. */
#define _GNU_SOURCE
#include "runtime/data/lines.h"

#include "base/machine.h"
#include "runtime/data/packed_text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 20 };

typedef struct Input {
    Diagnostics *diags;
    const char *name; /* for messages */
    int fd;
    int64_t line_limit, memory;
    bool is_plain;            /* never compressed */
    char begin[PACKED_BEGIN]; /* its first bytes, read before the rest; `given`: handed out */
    size_t n_begin, given;
    PackedText *packed; /* NULL: it is not compressed */
} Input;

/* Bytes of the file, as read() gives them. */
static ssize_t read_file(const Input *input, char *to, size_t size)
{
    ssize_t n;
    do
        n = read(input->fd, to, size);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        diag_errno(input->diags, "read", input->name, errno);
    return n;
}

static ssize_t read_packed(const Input *input, char *to, size_t size)
{
    int error;
    const ssize_t n = packed_text_read(input->packed, to, size);
    const char *problem = n < 0 ? packed_text_problem(input->packed, &error) : NULL;
    if (problem)
        diag_file(input->diags, "read", input->name, "%s", problem);
    else if (n < 0)
        diag_errno(input->diags, "read", input->name, error);
    return n;
}

/* The next bytes of the text, at most `size`; 0: it has ended; -1 after an error. */
static ssize_t read_text(Input *input, char *to, size_t size)
{
    size_t n = input->n_begin - input->given;
    if (input->packed)
        return read_packed(input, to, size);
    if (!n)
        return read_file(input, to, size);
    n = n < size ? n : size;
    memcpy(to, input->begin + input->given, n);
    input->given += n;
    return (ssize_t)n;
}

/* Reads the first bytes, by which a compressed text is known; false after an error. */
static bool begin_text(Input *input)
{
    ssize_t n = 1;
    for (; n > 0 && input->n_begin < PACKED_BEGIN; input->n_begin += n > 0 ? (size_t)n : 0)
        n = read_file(input, input->begin + input->n_begin, PACKED_BEGIN - input->n_begin);
    if (n >= 0 && !input->is_plain && packed_text_program(input->begin, input->n_begin))
        input->packed = packed_text_open(input->begin, input->n_begin, input->fd);
    return n >= 0;
}

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
               input->name, input->packed ? "unpacked, " : "", how, size.data, memory.data);
    text_free(&size);
    text_free(&memory);
    return false;
}

/* Reads into memory that is there for `room` bytes; false after an error. */
static bool read_known(Input *input, char *text, size_t room, size_t *length)
{
    size_t line_begin = 0;
    while (*length < room) {
        size_t chunk = room - *length < CHUNK ? room - *length : CHUNK;
        ssize_t n = read_text(input, text + *length, chunk);
        if (n <= 0)
            return n == 0;
        *length += (size_t)n;
        if (is_hopeless(input, text, *length - (size_t)n, *length, &line_begin))
            break;
    }
    return true;
}

/* Reads to the end of a pipe, a device, a terminal, or a compressed text. */
static bool read_unknown(Input *input, Text *text)
{
    static const int64_t copies = 3; /* the buffer, its larger successor, the result */
    size_t line_begin = 0;
    char buffer[1 << 16];
    for (;;) {
        ssize_t n = read_text(input, buffer, sizeof buffer);
        if (n <= 0)
            return n == 0;
        text_put(text, buffer, (size_t)n);
        if (is_hopeless(input, text->data, text->length - (size_t)n, text->length, &line_begin))
            return true;
        if ((int64_t)text->length > input->memory / copies)
            return too_large(input, "more than ", (int64_t)text->length);
    }
}

static int64_t line_limit_of(const LineLimits *limits)
{
    return limits && limits->line ? limits->line : LINE_LIMIT;
}

static const Source *read_source(Input *input, Arena *arena)
{
    struct stat info;
    Source *source = ARENA_NEW(arena, Source);
    source->path = arena_strdup(arena, input->name);
    if (fstat(input->fd, &info) || S_ISDIR(info.st_mode)) {
        diag_errno(input->diags, "read", input->name, EISDIR);
        return NULL;
    }
    if (!begin_text(input))
        return NULL;
    if (!input->packed && S_ISREG(info.st_mode) && info.st_size > 0) { /* in /proc files say 0 */
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

/* A file that a folder names has a name and is a regular one. */
static bool is_of_folder(const LineLimits *limits) { return limits && limits->reach.folder; }

/* -1 after an error. */
static int open_text(Diagnostics *diags, const char *path, const LineLimits *limits)
{
    uint64_t size;
    if (is_of_folder(limits))
        return file_open_within(diags, limits->reach, path, LARGEST_LIST, &size);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        diag_errno(diags, "read", path, errno);
    return fd;
}

const Source *text_read(Diagnostics *diags, Arena *arena, const char *path,
                        const LineLimits *limits)
{
    bool is_stdin = !strcmp(path, "-") && !is_of_folder(limits);
    Input input = {.diags = diags,
                   .name = is_stdin ? "<standard input>" : path,
                   .fd = is_stdin ? STDIN_FILENO : open_text(diags, path, limits),
                   .line_limit = line_limit_of(limits),
                   .is_plain = is_of_folder(limits),
                   .memory = limits && limits->memory ? limits->memory : machine_memory_free()};
    if (input.fd < 0)
        return NULL;
    const Source *source = read_source(&input, arena);
    packed_text_close(input.packed);
    if (!is_stdin)
        close(input.fd);
    return source;
}

Lines *lines_read(Diagnostics *diags, Arena *arena, const char *path, const LineLimits *limits)
{
    const Source *source = text_read(diags, arena, path, limits);
    return source ? lines_parse(diags, arena, source, line_limit_of(limits)) : NULL;
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
