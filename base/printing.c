/* stdout and stderr as streams whose bytes pass through TerminalText. */
#define _GNU_SOURCE
#include "base/printing.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__GLIBC__)

/* Printer: a terminal, and what it is being shown. */
typedef struct Printer {
    int fd;
    bool is_terminal;
    TerminalText text;
} Printer;

static Printer out = {.fd = STDOUT_FILENO}, err = {.fd = STDERR_FILENO};

static void print_rest(Printer *printer)
{
    char rest[TERMINAL_ROOM(0)];
    file_put(printer->fd, rest, terminal_rest(&printer->text, rest));
}

/* cookie_write_function_t: 0 after an error. */
static ssize_t print_shown(void *printer, const char *data, size_t size)
{
    Printer *p = printer;
    return file_show(p->fd, &p->text, data, size) ? (ssize_t)size : 0;
}

static bool guard_stream(Printer *printer, FILE **stream, int buffering)
{
    printer->is_terminal = isatty(printer->fd);
    if (!printer->is_terminal)
        return true;
    FILE *file = fopencookie(printer, "w", (cookie_io_functions_t){.write = print_shown});
    if (!file || setvbuf(file, NULL, buffering, BUFSIZ))
        return false;
    *stream = file;
    return true;
}

static void end_printing(void)
{
    fflush(stdout);
    print_rest(&out);
    print_rest(&err);
}

bool printing_guard(void)
{
    return guard_stream(&out, &stdout, _IOLBF) && guard_stream(&err, &stderr, _IONBF) &&
           (!(out.is_terminal || err.is_terminal) || !atexit(end_printing));
}

/* A control sequence of this program's own goes past the stream. */
static void print_control(const char *sequence)
{
    fflush(stderr);
    print_rest(&err);
    file_put(err.fd, sequence, strlen(sequence));
}

void printing_status(const char *line)
{
    flockfile(stderr);
    print_control("\r\033[K");
    fputs(line, stderr);
    fflush(stderr);
    funlockfile(stderr);
}

bool printing_has_colours(void)
{
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
    return err.is_terminal && !(none && *none) && term && *term && strcmp(term, "dumb") != 0;
}

void printing_colour(const char *colour)
{
    char sequence[16];
    snprintf(sequence, sizeof sequence, "\033[%sm", colour);
    print_control(sequence);
}

#else /* stdout is a constant of this C library: a compiled model's program prints as it is */

bool printing_guard(void) { return true; }

void printing_status(const char *line) { fputs(line, stderr); }

bool printing_has_colours(void) { return false; }

void printing_colour(const char *colour) { (void)colour; }

#endif
