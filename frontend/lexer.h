/* Tokens of .tfg text. The whole file is lexed at once; newlines are tokens,
 * and the parser decides where they count. */
#ifndef FRONTEND_LEXER_H
#define FRONTEND_LEXER_H

#include "base/diag.h"

/* TOKEN(name, "how it is written"): punctuation and reserved words by their text. */
/* clang-format off */
#define TOKEN_TABLE                                                            \
    TOKEN(END, "end of file")                                                  \
    TOKEN(NEWLINE, "end of line")                                              \
    TOKEN(NAME, "a name")                                                      \
    TOKEN(NUMBER, "a number")                                                  \
    TOKEN(STRING, "a string")                                                  \
    TOKEN(OPEN, "(") TOKEN(CLOSE, ")")                                         \
    TOKEN(OPEN_LIST, "[") TOKEN(CLOSE_LIST, "]")                               \
    TOKEN(OPEN_BODY, "{") TOKEN(CLOSE_BODY, "}")                               \
    TOKEN(COMMA, ",") TOKEN(SEMICOLON, ";") TOKEN(COLON, ":")                  \
    TOKEN(DOT, ".") TOKEN(TILDE, "~") TOKEN(ASSIGN, "=")                       \
    TOKEN(PLUS, "+") TOKEN(MINUS, "-") TOKEN(STAR, "*") TOKEN(SLASH, "/")      \
    TOKEN(PERCENT, "%") TOKEN(AT, "@") TOKEN(CARET, "^")                       \
    TOKEN(EQUAL, "==") TOKEN(UNEQUAL, "!=")                                    \
    TOKEN(LESS, "<") TOKEN(LESS_EQUAL, "<=")                                   \
    TOKEN(GREATER, ">") TOKEN(GREATER_EQUAL, ">=")                             \
    TOKEN(AND, "and") TOKEN(OR, "or") TOKEN(NOT, "not")                        \
    TOKEN(AS, "as") TOKEN(IF, "if") TOKEN(ELSE, "else")                        \
    TOKEN(REPEAT, "repeat") TOKEN(RETURN, "return")                            \
    TOKEN(TRUE, "true") TOKEN(FALSE, "false")

typedef enum TokenKind {
#define TOKEN(name, text) TOKEN_##name,
    TOKEN_TABLE
#undef TOKEN
    TOKEN_COUNT
} TokenKind;
/* clang-format on */

typedef struct Token {
    TokenKind kind;
    Loc loc;
    const char *text; /* of a name or reserved word; of a string, with escapes resolved */
    double number;    /* of a number */
} Token;

typedef struct TokenList {
    Token *data; /* the last is TOKEN_END */
    size_t count, capacity;
} TokenList;

const char *token_text(TokenKind kind); /* for messages and printing */
/* Lexes the source. Characters that begin no token are reported (at most 10 errors) and skipped;
 * but & and && are read as `and`, | and || as `or`, and '…' as a string. */
TokenList lex_source(Arena *arena, Diagnostics *diags, const Source *source);

#endif
