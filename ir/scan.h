/* Tokens of the IR's text form. */
#ifndef IR_SCAN_H
#define IR_SCAN_H

#include "base/diag.h"

#include <stdint.h>

typedef enum TokenKind {
    TOKEN_END,
    TOKEN_WORD,   /* f32, encoder.layer.0, inf */
    TOKEN_STRING, /* text: the contents, unescaped */
    TOKEN_NUMBER, /* 12, -0.5, 1e-09 */
    TOKEN_VALUE,  /* %12: number */
    TOKEN_MARK,   /* one of = : , { } ( ) [ ] @ ~ */
    TOKEN_BAD     /* none of these: the scanner has reported why */
} TokenKind;

typedef struct Token {
    TokenKind kind;
    char mark;        /* TOKEN_MARK */
    const char *text; /* WORD, NUMBER: as written; STRING: contents. NUL-terminated, in the arena */
    int64_t number;   /* VALUE */
    bool starts_line;
    Loc loc;
} Token;

typedef struct Scanner {
    Arena *arena;
    Diagnostics *diags;
    const Source *source;
    const char *at, *end, *line_start;
    int line;
    bool starts_line;
} Scanner;

Scanner tir_scan_begin(Arena *arena, Diagnostics *diags, const Source *source);
Token tir_scan_next(Scanner *scan);

#endif
