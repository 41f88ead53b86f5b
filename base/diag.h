/* Diagnostics: collected, located, with notes; printed by the caller.
 *
 * Only cli/ prints them. A function that can fail on a user's input takes
 * a Diagnostics and returns false (or NULL) after adding at least one error to
 * it (none if memory runs out: out_of_memory). A bug of tfc itself fails an
 * assertion instead. */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include "base/arena.h"
#include "base/text.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* A file whose text messages can quote; in an arena that outlives the Diagnostics. */
typedef struct Source {
    const char *path; /* as the user wrote it */
    const char *text; /* NUL-terminated; may hold further NULs before length. NULL: not kept */
    size_t length;
    int64_t lines_before; /* of the file before `text`, which is then a part of it */
} Source;

/* A place in a Source; {0} means "no place". Line and column count from 1,
 * columns in bytes. */
typedef struct Loc {
    const Source *source;
    int line, column, length; /* length: bytes to underline, at least 1 */

    /* the place and the calls of blocks around it; NULL: the place alone */
    const struct Trail *trail;
} Loc;

/* Where something came from, as a list from the inside out: the place itself, the call
 * of the block around the place, the call around that call … */
typedef struct Trail {
    const Source *source;
    int line;
    const struct Trail *up; /* NULL at the outermost */
} Trail;

/* Both a note and a remark are printed as "note". A note belongs to the diagnostic before it, which
 * it explains, and is left out where that is; a remark stands alone. */
typedef enum Severity { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE, DIAG_REMARK } Severity;

typedef struct Diag {
    Severity severity;
    Loc loc;
    const char *message; /* one sentence, no final stop */
    const char *path;    /* of diag_file, diag_about, diag_errno: the file; else NULL */
    size_t behind_path;  /* offset in the message just after the name of the file `path` */
} Diag;

/* The place of an op made from ops at `a` and `b`: the place `a`, with the trails of both. */
Loc loc_join(Arena *arena, Loc a, Loc b);

typedef struct Diagnostics {
    Arena *arena;
    VEC(Diag) list; /* in the order in which they are printed: a note behind what it explains */
    int errors;
    bool out_of_memory; /* memory ran out: the list may lack diagnostics */
} Diagnostics;

void diag_init(Diagnostics *diags, Arena *arena);
void diag_error(Diagnostics *diags, Loc loc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void diag_warning(Diagnostics *diags, Loc loc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void diag_note(Diagnostics *diags, Loc loc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void diag_remark(Diagnostics *diags, Loc loc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with any severity. */
void diag_add(Diagnostics *diags, Severity severity, Loc loc, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds what `found` has, its errors as warnings. */
void diag_add_warnings(Diagnostics *diags, const Diagnostics *found);
/* Adds the error "cannot WHAT PATH: FORMAT…". */
void diag_file(Diagnostics *diags, const char *what, const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds the message "PATH" with `format`, such as " has no lines", directly after it. */
void diag_about(Diagnostics *diags, Severity severity, const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* diag_file whose reason is that of the errno `error`; ENOMEM sets out_of_memory. */
void diag_errno(Diagnostics *diags, const char *what, const char *path, int error);
/* A Source with copies of path and text; NULL: memory ran out. */
const Source *diag_source(Arena *arena, const char *path, const char *text, size_t length);
/* Where the text begins: after a byte order mark, which is no part of the file's first line. */
const char *source_start(const Source *source);

/* Appends each diagnostic: "path:line:column: error: message" and, if the text of the place is
 * kept, its line (of at most 400 bytes) with a caret under the column. Without a place only
 * "error: message". Long lines of a message are shortened in the middle. */
void diag_render(const Diagnostics *diags, Text *out);
/* A piece of the text that diag_render appends: the word "error:", or a caret with its line. */
typedef struct DiagSpan {
    size_t from, to; /* in bytes of the text */
    Severity severity;
} DiagSpan;
typedef VEC(DiagSpan) DiagSpans;
/* diag_render, which also adds the pieces, for a terminal with colours; in the arena of `diags`. */
void diag_render_spans(const Diagnostics *diags, Text *out, DiagSpans *spans);
/* Appends the errors alone, each as diag_render does and after `speaker`: "rank 1 on HOST: error:
 * message". */
void diag_render_errors(const Diagnostics *diags, const char *speaker, Text *out);

#endif
