/* Diagnostics: collecting and rendering. */
#include "base/diag.h"

#include "base/unanswered.h" /* each other: a read that fails is such a question */

#include <errno.h>
#include <string.h>
#include <unistd.h>

static bool trail_holds(const Trail *trail, const Trail *place)
{
    for (; trail; trail = trail->up)
        if (trail->source == place->source && trail->line == place->line)
            return true;
    return false;
}

Loc loc_join(Arena *arena, Loc a, Loc b)
{
    const Trail alone_a = {a.source, a.line, NULL}, alone_b = {b.source, b.line, NULL};
    const Trail *all = a.trail ? a.trail : &alone_a;
    for (const Trail *from = b.trail ? b.trail : &alone_b; from; from = from->up)
        if (from->source && !trail_holds(all, from)) {
            Trail *added = ARENA_NEW(arena, Trail);
            *added = (Trail){from->source, from->line,
                             all == &alone_a ? arena_copy(arena, all, sizeof *all) : all};
            all = added;
        }
    if (all != &alone_a)
        a.trail = all;
    return a;
}

void diag_init(Diagnostics *diags, Arena *arena) { *diags = (Diagnostics){.arena = arena}; }

const Source *diag_source(Arena *arena, const char *path, const char *text, size_t length)
{
    Source *source = ARENA_NEW(arena, Source);
    if (source)
        *source = (Source){.path = arena_strdup(arena, path),
                           .text = arena_strndup(arena, text, length),
                           .length = length};
    return source && source->path && source->text ? source : NULL;
}

static void push_diag(Diagnostics *diags, Severity severity, Loc loc, const char *format,
                      va_list args)
{
    const char *message = arena_vprintf(diags->arena, format, args);
    Diag diag = {.severity = severity, .loc = loc, .message = message ? message : "out of memory"};
    vec_push(diags->arena, diags->list, diag);
    diags->errors += severity == DIAG_ERROR;
    diags->out_of_memory |= arena_failed(diags->arena);
}

#define DEFINE_DIAG(name, severity)                                 \
    void name(Diagnostics *diags, Loc loc, const char *format, ...) \
    {                                                               \
        va_list args;                                               \
        va_start(args, format);                                     \
        push_diag(diags, severity, loc, format, args);              \
        va_end(args);                                               \
    }
DEFINE_DIAG(diag_error, DIAG_ERROR)
DEFINE_DIAG(diag_warning, DIAG_WARNING)
DEFINE_DIAG(diag_note, DIAG_NOTE)
DEFINE_DIAG(diag_remark, DIAG_REMARK)

void diag_add(Diagnostics *diags, Severity severity, Loc loc, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    push_diag(diags, severity, loc, format, args);
    va_end(args);
}

void diag_add_warnings(Diagnostics *diags, const Diagnostics *found)
{
    for (size_t i = 0; i < found->list.count; i++) {
        const Diag *diag = &found->list.data[i];
        const Severity severity = diag->severity == DIAG_ERROR ? DIAG_WARNING : diag->severity;
        diag_add(diags, severity, diag->loc, "%s", diag->message);
    }
}

/* The folder that a file is to be written into, where it is missing; else NULL. Only words of a
 * message depend on it. */
static const char *missing_folder(Arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *folder =
        slash && slash > path ? arena_strndup(arena, path, (size_t)(slash - path)) : NULL;
    return folder && access(folder, F_OK) && errno == ENOENT ? folder : NULL;
}

/* The last message is about the file, whose name ends at `behind`. */
static void note_path(Diagnostics *diags, const char *path, size_t behind)
{
    if (arena_failed(diags->arena))
        return;
    Diag *diag = &diags->list.data[diags->list.count - 1];
    diag->path = arena_strdup(diags->arena, path);
    diag->behind_path = behind;
}

void diag_about(Diagnostics *diags, Severity severity, const char *path, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *what = arena_vprintf(diags->arena, format, args);
    va_end(args);
    diag_add(diags, severity, (Loc){0}, "%s%s", path, what ? what : ": out of memory");
    note_path(diags, path, strlen(path));
}

void diag_file(Diagnostics *diags, const char *what, const char *path, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *why = arena_vprintf(diags->arena, format, args);
    va_end(args);
    diag_error(diags, (Loc){0}, "cannot %s %s: %s", what, path, why ? why : "out of memory");
    note_path(diags, path, strlen("cannot ") + strlen(what) + 1 + strlen(path));
}

/* In words that say what to do where that is known. */
void diag_errno(Diagnostics *diags, const char *what, const char *path, int error)
{
    const bool writes = !strncmp(what, "write", strlen("write"));
    const char *folder = error == ENOENT && writes ? missing_folder(diags->arena, path) : NULL;
    const char *why = error == ENOENT && !writes ? "there is no such file"
                      : error == EISDIR          ? "it is a folder, not a file"
                                                 : strerror(error);
    if (folder)
        diag_file(diags, what, path, "there is no folder %s: make it first", folder);
    else
        diag_file(diags, what, path, "%s", why);
    diags->out_of_memory |= error == ENOMEM;
    if (!writes)
        unanswered_note(what, path, error);
}

const char *source_start(const Source *source)
{
    bool marked =
        !source->lines_before && source->length >= 3 && !memcmp(source->text, "\xEF\xBB\xBF", 3);
    return source->text + (marked ? 3 : 0);
}

/* Notes what was appended from `from` on; nothing without spans. */
static void note_span(const Diagnostics *diags, DiagSpans *spans, const Text *out, size_t from,
                      Severity severity)
{
    if (spans)
        vec_push(diags->arena, *spans, ((DiagSpan){from, out->length, severity}));
}

/* Appends the line of the place, and below it a caret; returns where that begins in `out`, or its
 * length: there is none. */
static size_t render_line(Loc loc, Text *out)
{
    const char *text = source_start(loc.source), *end = loc.source->text + loc.source->length;
    for (int64_t line = loc.source->lines_before + 1; line < loc.line && text < end; text++)
        line += *text == '\n';
    const char *stop = memchr(text, '\n', (size_t)(end - text));
    if (!stop)
        stop = end;
    stop -= stop > text && stop[-1] == '\r'; /* of CRLF */
    if (stop - text > 400)                   /* a line nobody wrote by hand */
        return out->length;
    text_add(out, "%5d | ", loc.line);
    for (const char *c = text; c < stop;) {
        const size_t visible = text_visible_length(c, (size_t)(stop - c));
        const size_t size = visible ? visible : utf8_length(c, (size_t)(stop - c));
        text_put(out, visible ? c : "?", visible ? visible : 1);
        c += size ? size : 1;
    }
    text_add(out, "\n      | ");
    for (int i = 1; i < loc.column && text + i - 1 < stop; i++)
        if (((unsigned char)text[i - 1] & 0xC0) != 0x80)
            text_put(out, text[i - 1] == '\t' ? "\t" : " ", 1);
    const size_t caret = out->length;
    text_add(out, "^");
    for (int i = 1; i < loc.length && text + loc.column - 1 + i < stop; i++)
        text_add(out, "~");
    text_add(out, "\n");
    return caret;
}

static void render_message(const char *message, Text *out)
{
    for (size_t n; *message; message += n) {
        n = strcspn(message + 1, "\n") + 1; /* with the line break before it */
        text_visible_cut(out, message, n);
    }
}

static void render_one(const Diagnostics *diags, const Diag *diag, Text *out, DiagSpans *spans)
{
    static const char *const words[] = {"error", "warning", "note", "note"};
    if (diag->loc.source)
        text_visible(out, diag->loc.source->path, strlen(diag->loc.source->path));
    if (diag->loc.source && diag->loc.line)
        text_add(out, ":%d:%d", diag->loc.line, diag->loc.column);
    text_string(out, diag->loc.source ? ": " : "");
    const size_t word = out->length;
    text_add(out, "%s:", words[diag->severity]);
    note_span(diags, spans, out, word, diag->severity);
    text_string(out, " ");
    render_message(diag->message, out);
    text_string(out, "\n");
    if (diag->loc.source && diag->loc.line && diag->loc.source->text)
        note_span(diags, spans, out, render_line(diag->loc, out), diag->severity);
}

void diag_render_spans(const Diagnostics *diags, Text *out, DiagSpans *spans)
{
    for (size_t i = 0; i < diags->list.count; i++)
        render_one(diags, &diags->list.data[i], out, spans);
}

void diag_render(const Diagnostics *diags, Text *out) { diag_render_spans(diags, out, NULL); }

void diag_render_errors(const Diagnostics *diags, const char *speaker, Text *out)
{
    for (size_t i = 0; i < diags->list.count; i++) {
        if (diags->list.data[i].severity != DIAG_ERROR)
            continue;
        text_add(out, "%s: ", speaker);
        render_one(diags, &diags->list.data[i], out, NULL);
    }
}
