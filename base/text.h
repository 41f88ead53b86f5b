/* A growing piece of text (malloc-backed), for printers and messages. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Text {
    char *data; /* NUL-terminated once anything was added; NULL before */
    size_t length, capacity;
} Text;

void text_add(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vadd(Text *text, const char *format, va_list args);
void text_put(Text *text, const char *bytes, size_t length);
void text_string(Text *text, const char *string);
void text_integer(Text *text, int64_t value);
/* "…" with \", \\, \n, \t and \xNN escapes. */
void text_quote(Text *text, const char *bytes);
/* The shortest decimal that reads back as the same double ("1", "0.1", "inf"). */
void text_number(Text *text, double value);
void text_free(Text *text);

/* Edit distance (insert, delete, replace, swap), for "did you mean". */
size_t text_distance(const char *a, const char *b);
/* The closest of n candidates, or NULL when none is close. */
const char *text_nearest(const char *name, const char *const *candidates, size_t n);

#endif
