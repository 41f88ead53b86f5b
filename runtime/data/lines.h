/* Text files as lines of valid UTF-8. LF and CRLF end a line, a byte order mark is
 * dropped, a last line without an end counts. Bytes that are not UTF-8 and NULs are
 * errors with file, line and column. */
#ifndef RUNTIME_DATA_LINES_H
#define RUNTIME_DATA_LINES_H

#include "base/diag.h"

#include <stdint.h>

typedef struct Line {
    const char *text; /* not NUL-terminated */
    size_t length;
} Line;

typedef struct Lines {
    const Source *source;
    int64_t n;
    Line *at;
} Lines;

/* Reads a file, a pipe, or standard input ("-"). NULL after errors. */
Lines *lines_read(Diagnostics *diags, Arena *arena, const char *path);
/* The same from text in memory, which must outlive the result. */
Lines *lines_parse(Diagnostics *diags, Arena *arena, const Source *source);
/* Line i as a place for messages (i counts from 0). */
Loc lines_place(const Lines *lines, int64_t i);

/* Length of the UTF-8 sequence at text (1–4), or 0 where there is none: overlong
 * forms, surrogates and values past U+10FFFF are none (RFC 3629). */
size_t utf8_length(const char *text, size_t available);

#endif
