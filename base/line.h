/* Line: some bytes of a text that something else owns: a line, or the field of a record. */
#ifndef BASE_LINE_H
#define BASE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct Line {
    const char *text; /* not NUL-terminated */
    size_t length;
} Line;

/* Blanks between words and numbers: space, tab and what ends lines. */
static inline bool line_is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
/* The same within a line: without line breaks, but for the CR that may end one. */
static inline bool line_is_gap(char c) { return c == ' ' || c == '\t' || c == '\r'; }
/* Whether a line is this text. */
static inline bool line_is(const Line *line, const char *text, size_t length)
{
    return line->length == length && (!length || !memcmp(line->text, text, length));
}

#endif
