/* Messages, and results as files or printed. */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "base/file.h"
#include "base/map.h"
#include "base/printing.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* errors begin with this name, and nothing else is printed; NULL: all is printed, without a name */
static const char *speaker;
static int errors_told;
static const char *command_name; /* NULL: no command runs yet */
static bool usage_was_wrong;
static CliFileNote *file_note; /* NULL: no command has been read yet */
static const void *file_note_with;

void cli_speak_as(const char *name) { speaker = name; }

void cli_begin(const char *command) { command_name = command; }

void cli_note_files(CliFileNote *note, const void *with)
{
    file_note = note;
    file_note_with = with;
}

int cli_errors_told(void) { return errors_told; }

/* Leaves out warnings that were printed before, with the notes that explain them: a model is read
 * more than once. */
static void drop_repeated(Diagnostics *diags)
{
    static Map told;
    static Arena *arena;
    if (!arena)
        map_init(&told, arena = arena_new());
    bool drops = false;
    size_t n = 0;
    for (size_t i = 0; i < diags->list.count; i++) {
        const Diag *diag = &diags->list.data[i];
        if (diag->severity != DIAG_NOTE)
            drops = false;
        if (diag->severity == DIAG_WARNING) {
            const Loc *loc = &diag->loc;
            const char *key =
                arena_printf(arena, "%s:%d:%d:%s", loc->source ? loc->source->path : "", loc->line,
                             loc->column, diag->message);
            drops = map_has(&told, key);
            map_set(&told, key, &told);
        }
        if (!drops)
            diags->list.data[n++] = *diag;
    }
    diags->list.count = n;
}

/* Puts the option that has named a file behind the file's name. */
static void note_files(Diagnostics *diags)
{
    for (size_t i = 0; file_note && i < diags->list.count; i++) {
        Diag *diag = &diags->list.data[i];
        if (diag->path)
            diag->message =
                arena_printf(diags->arena, "%.*s%s%s", (int)diag->behind_path, diag->message,
                             file_note(file_note_with, diags->arena, diag->path),
                             diag->message + diag->behind_path);
    }
}

/* Bold; in the colours of gcc. */
static const char *const severity_colours[] = {
    [DIAG_ERROR] = "1;31", [DIAG_WARNING] = "1;35", [DIAG_NOTE] = "1;36", [DIAG_REMARK] = "1;36"};

static void print_coloured(const char *colour, const char *text, size_t length)
{
    printing_colour(colour);
    fwrite(text, 1, length, stderr);
    printing_colour("");
}

static void print_spans(const Text *text, const DiagSpans *spans)
{
    size_t at = 0;
    for (size_t i = 0; i < spans->count; i++) {
        const DiagSpan *span = &spans->data[i];
        fwrite(text->data + at, 1, span->from - at, stderr);
        print_coloured(severity_colours[span->severity], text->data + span->from,
                       span->to - span->from);
        at = span->to;
    }
    fwrite(text->data + at, 1, text->length - at, stderr);
}

void cli_flush(Job *job)
{
    Text text = {0};
    DiagSpans spans = {0};
    drop_repeated(&job->diags);
    note_files(&job->diags);
    errors_told += job->diags.errors;
    if (speaker)
        diag_render_errors(&job->diags, speaker, &text);
    else
        diag_render_spans(&job->diags, &text, printing_has_colours() ? &spans : NULL);
    if (text.length)
        print_spans(&text, &spans);
    text_free(&text);
    diag_init(&job->diags, job->arena);
}

int cli_finish(Job *job, bool ok)
{
    cli_flush(job);
    return ok ? EXIT_DONE : usage_was_wrong ? EXIT_USAGE : EXIT_INPUT;
}

bool cli_write(Job *job, const char *path, const Text *text)
{
    const char *data = text->data ? text->data : "";
    if (path && strcmp(path, "-"))
        return file_write_all(&job->diags, path, data, text->length);
    /* whether it could be written is asked at the end (main.c) */
    fwrite(data, 1, text->length, stdout);
    return true;
}

size_t cli_columns(int fd)
{
    struct winsize size;
    return isatty(fd) && !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col > 1 ? size.ws_col : 80;
}

const char *cli_name(Arena *arena, const char *name)
{
    Text cut = {0};
    const char *shown = text_visible_name(arena, name);
    const size_t length = strlen(shown);
    if (length <= TEXT_WHOLE || !isatty(STDOUT_FILENO))
        return shown;
    text_visible_cut(&cut, shown, length);
    return text_keep(arena, &cut);
}

static void print_usage_error(const char *format, va_list args)
{
    Text name = {0}, text = {0}, shown = {0};
    text_vadd(&text, format, args);
    text_visible(&shown, text.data, text.length);
    text_add(&name, "%s%stfc: %s%s", speaker ? speaker : "", speaker ? ": " : "",
             command_name ? command_name : "", command_name ? ": " : "");
    if (printing_has_colours())
        print_coloured(severity_colours[DIAG_ERROR], name.data, name.length);
    else
        fputs(name.data, stderr);
    fprintf(stderr, "%s\n", shown.data);
    usage_was_wrong = true;
    errors_told++;
    text_free(&name);
    text_free(&text);
    text_free(&shown);
}

int cli_usage_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_usage_error(format, args);
    va_end(args);
    return EXIT_USAGE;
}

bool cli_refuse(Job *job, const char *format, ...)
{
    va_list args;
    cli_flush(job);
    va_start(args, format);
    print_usage_error(format, args);
    va_end(args);
    return false;
}
