/* What the two halves of the parser share: tokens in hand and recovery. */
#ifndef FRONTEND_PARSER_H
#define FRONTEND_PARSER_H

#include "frontend/ast.h"

enum { MAX_DEPTH = 200, MAX_PARSE_ERRORS = 20 };

typedef struct Parser {
    Arena *arena;
    Diagnostics *diags;
    Tokens tokens;
    size_t at;
    int parens;      /* open ( and [: newlines do not count inside */
    int depth;       /* of recursion */
    int errors;
    bool panic;      /* an error was reported in this statement: be silent until recovered */
} Parser;

const Token *peek(Parser *p);              /* skips newlines inside parentheses */
const Token *peek_at(const Parser *p, size_t n); /* the n-th after, newlines included */
const Token *take(Parser *p);
bool accept(Parser *p, TokenKind kind);
bool expect(Parser *p, TokenKind kind, const char *where); /* reports if absent */
void parse_error(Parser *p, Loc loc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void skip_newlines(Parser *p);
bool at_word(Parser *p, const char *word); /* the name token `word` */
const char *token_seen(Parser *p, const Token *token); /* "`x`", for messages */

Node *node_new(Parser *p, NodeKind kind, Loc loc);
Loc loc_from(const Parser *p, Loc start);  /* from start to the last token taken */
void set_depth(Parser *p, Node *node);     /* from its children; reports if too deep */
/* Nested constructs count; false (and a message) past MAX_DEPTH. */
bool enter(Parser *p);
void leave(Parser *p);

Node *parse_expression(Parser *p);         /* never NULL; after an error any node */
/* The opening bracket is taken and counted; takes the closing one or reports. */
void close_bracket(Parser *p, TokenKind close, Loc open);
NodeList parse_list(Parser *p, TokenKind close); /* expressions up to `close`, taken */
NodeList parse_args(Parser *p);            /* after ( up to ), both kinds of arguments */
NodeList parse_body(Parser *p);            /* { statements } */

#endif
