/* Diagnostics: collected, located, with notes; printed by the caller.
 *
 * Nothing below cli/ prints or exits. A function that can fail on a user's
 * input takes a Diagnostics and returns false (or NULL) after adding at least
 * one error to it. A mistake of ours is an assertion instead. */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include "base/arena.h"
#include "base/text.h"
#include "base/vec.h"

#include <stdbool.h>

/* A file whose text messages can quote. Owned by the Diagnostics' arena. */
typedef struct Source {
    const char *path; /* as the user wrote it */
    const char *text; /* NUL-terminated; may hold further NULs before length. NULL: not kept */
    size_t length;
} Source;

/* A place in a Source; {0} means "no place". Line and column count from 1,
 * columns in bytes. */
typedef struct Loc {
    const Source *source;
    int line, column, length; /* length: bytes to underline, at least 1 */

    /* the place and the calls of blocks around it; NULL: the place alone */
    const struct Trail *trail;
} Loc;

/* Where something came from, from the inside out: the place itself, the call of
 * the block around it, the call around that … */
typedef struct Trail {
    const Source *source;
    int line;
    const struct Trail *up; /* NULL at the outermost */
} Trail;

typedef enum Severity { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE } Severity;

typedef struct Diag {
    Severity severity;
    Loc loc;
    const char *message; /* one sentence, no final stop */
    const char *path;    /* the file that it is about, of diag_errno; else NULL */
    size_t behind_path;  /* where the message goes on behind the file's name */
} Diag;

/* The place of an op made from ops at `a` and `b`: `a`, with the trails of both. */
Loc loc_join(Arena *arena, Loc a, Loc b);

typedef struct Diagnostics {
    Arena *arena;
    VEC(Diag) list; /* a note belongs to the error or warning before it */
    int errors;
    bool out_of_memory; /* one of the errors; the list may then lack others */
} Diagnostics;

void diag_init(Diagnostics *diags, Arena *arena);
void diag_error(Diagnostics *diags, Loc loc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void diag_warning(Diagnostics *diags, Loc loc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void diag_note(Diagnostics *diags, Loc loc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "cannot DO PATH: why"; the diagnostic is about that file. */
void diag_file(Diagnostics *diags, const char *what, const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* "PATH…", about that file, with `format` right behind its name: " has no lines". */
void diag_about(Diagnostics *diags, Severity severity, const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* diag_file for an errno; ENOMEM counts as out of memory. */
void diag_errno(Diagnostics *diags, const char *what, const char *path, int error);
const Source *diag_source(Arena *arena, const char *path, const char *text, size_t length);
/* Where the text begins: after a byte order mark, which is no part of the first line. */
const char *source_start(const Source *source);

/* "path:line:column: error: message", the line, and a caret under the place. */
void diag_render(const Diagnostics *diags, Text *out);
/* Errors alone, each after the speaker's name: "rank 1 on HOST: error: …". */
void diag_render_errors(const Diagnostics *diags, const char *speaker, Text *out);

#endif
