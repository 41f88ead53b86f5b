/* Messages, and results as files or printed. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/map.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *speaker; /* errors begin with this name, and nothing else is printed; NULL: all is printed, without a name */
static int errors_told;

void cli_speak_as(const char *name) { speaker = name; }

int cli_errors_told(void) { return errors_told; }

/* Leaves out warnings that were printed before, with their notes: a model is read more than once. */
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
            const char *key = arena_printf(arena, "%s:%d:%d:%s", loc->source ? loc->source->path : "", loc->line,
                                           loc->column, diag->message);
            drops = map_has(&told, key);
            map_set(&told, key, &told);
        }
        if (!drops)
            diags->list.data[n++] = *diag;
    }
    diags->list.count = n;
}

void cli_flush(Job *job)
{
    Text text = {0};
    drop_repeated(&job->diags);
    errors_told += job->diags.errors;
    if (speaker)
        diag_render_errors(&job->diags, speaker, &text);
    else
        diag_render(&job->diags, &text);
    if (text.length)
        fwrite(text.data, 1, text.length, stderr);
    text_free(&text);
    diag_init(&job->diags, job->arena);
}

int cli_finish(Job *job, bool ok)
{
    cli_flush(job);
    return ok ? EXIT_DONE : EXIT_INPUT;
}

bool cli_write(Job *job, const char *path, const Text *text)
{
    const char *data = text->data ? text->data : "";
    if (path && strcmp(path, "-"))
        return file_write_all(&job->diags, path, data, text->length);
    fwrite(data, 1, text->length, stdout); /* whether it could be written is asked at the end (main.c) */
    return true;
}

int cli_usage_error(const char *format, ...)
{
    Text text = {0}, shown = {0};
    va_list args;
    va_start(args, format);
    text_vadd(&text, format, args);
    va_end(args);
    text_visible(&shown, text.data, text.length);
    fprintf(stderr, "tfc: %s\n", shown.data);
    text_free(&text);
    text_free(&shown);
    return EXIT_USAGE;
}
