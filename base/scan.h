/* Tokens of the texts of graphs and of loops (ir/text.h, codegen/loop/text/text.h), and what a
 * parser does with one token. Comments go from # to the end of the line.
 *
 * read_expect, read_name, read_string, read_int and read_float consume the current token. If it is
 * not what was asked for, they report an error (unless it is a TOKEN_BAD, which was reported
 * already), consume nothing, and return false or NULL. read_accept and read_accept_word do the same
 * without an error. */
#ifndef BASE_SCAN_H
#define BASE_SCAN_H

#include "base/diag.h"

#include <stdint.h>
#include <string.h>

typedef enum ScanKind {
    TOKEN_END,
    TOKEN_WORD,   /* f32, encoder.layer.0, inf */
    TOKEN_STRING, /* text: the contents, unescaped */
    TOKEN_NUMBER, /* 12, -0.5, 1e-09, -inf */
    TOKEN_VALUE,  /* %12: number */
    TOKEN_MARK,   /* a byte of the scanner's marks */
    TOKEN_BAD     /* not valid: the scanner has reported why */
} ScanKind;

typedef struct ScanToken {
    ScanKind kind;
    char mark;        /* TOKEN_MARK */
    const char *text; /* as written; of a STRING its contents. NUL-terminated; "" of END */
    int64_t number;   /* VALUE */
    bool starts_line;
    Loc loc;
} ScanToken;

typedef struct Scanner {
    Arena *arena;
    Diagnostics *diags;
    const Source *source;
    const char *marks; /* the bytes that are tokens by themselves */
    const char *at, *end, *line_start;
    int line;
    bool starts_line;
} Scanner;

Scanner scan_begin(Arena *arena, Diagnostics *diags, const Source *source, const char *marks);
ScanToken scan_next(Scanner *scan);

/* ---- words ---- */

static inline bool word_starts(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static inline bool word_goes_on(int c)
{
    return word_starts(c) || (c >= '0' && c <= '9') || c == '.';
}
/* Whether a name needs no quotes: [A-Za-z_][A-Za-z0-9_.]* */
bool word_is_bare(const char *name);
/* Appends the name, in quotes where it needs them. */
void text_word(Text *text, const char *name);

/* ---- reading: one token ahead ---- */

enum { MOST_ERRORS = 20 }; /* of one Reader; parsers then give up */

typedef struct Reader {
    Scanner scan;
    ScanToken now;     /* the token not yet consumed */
    long consumed;     /* tokens scanned so far, `now` included */
    int errors_before; /* errors in diags when the reader began */
    bool gave_up;      /* after read_give_up: no further messages */
} Reader;

Reader read_begin(Arena *arena, Diagnostics *diags, const Source *source, const char *marks);
void read_advance(Reader *r);
/* Skips the rest of the text: the current token becomes TOKEN_END. */
void read_give_up(Reader *r);
static inline int read_errors(const Reader *r) { return r->scan.diags->errors - r->errors_before; }

#define read_error(r, loc, ...) \
    ((r)->gave_up ? (void)0 : diag_error((r)->scan.diags, (loc), __VA_ARGS__))
/* Reports an error at the current token; nothing if that is a TOKEN_BAD, which the scanner has
 * reported. */
#define read_error_here(r, ...) \
    ((r)->now.kind == TOKEN_BAD ? (void)0 : read_error((r), (r)->now.loc, __VA_ARGS__))

static inline bool read_at(const Reader *r, char mark)
{
    return r->now.kind == TOKEN_MARK && r->now.mark == mark;
}
static inline bool read_at_word(const Reader *r, const char *word)
{
    return r->now.kind == TOKEN_WORD && !strcmp(r->now.text, word);
}
bool read_accept(Reader *r, char mark);
bool read_accept_word(Reader *r, const char *word);
bool read_expect(Reader *r, char mark, const char *where);
const char *read_name(Reader *r, const char *what);   /* bare or quoted, not empty */
const char *read_string(Reader *r, const char *what); /* quoted */
bool read_int(Reader *r, int64_t least, int64_t most, int64_t *result);
bool read_float(Reader *r, double *result);
/* "; did you mean `near`?" for messages, or "". */
const char *read_suggestion(Reader *r, const char *name, const char *const *known, size_t n);
/* After an error: skips the rest of the line whose first token was current when `consumed` was
 * `start`. Returns whether the last token skipped is "{", which opens a block. */
bool read_skip_line(Reader *r, long start);

#endif
