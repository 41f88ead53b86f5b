/* What the files of the parser share: tokens in hand and recovery. */
#ifndef FRONTEND_PARSER_H
#define FRONTEND_PARSER_H

#include "frontend/ast.h"

enum { MAX_DEPTH = 200, MAX_PARSE_ERRORS = 20 };

typedef struct Parser {
    Arena *arena;
    Diagnostics *diags;
    size_t first_message; /* of this text, in diags */
    TokenList tokens;
    size_t at;
    int parens; /* open ( and [: newlines do not count inside */
    int depth;  /* of recursion */
    int errors;
    bool panic; /* an error was reported in this statement: be silent until recovered */
} Parser;

const Token *peek_token(Parser *p);                 /* skips newlines inside parentheses */
const Token *peek_ahead(const Parser *p, size_t n); /* the n-th after, newlines included */
const Token *take_token(Parser *p);
bool accept_token(Parser *p, TokenKind kind);
bool expect_token(Parser *p, TokenKind kind, const char *where); /* reports if absent */
/* Reports the error. False: nothing is said, because the mistake was reported before or there are
 * too many. */
bool parse_error(Parser *p, Loc loc, const char *format, ...) __attribute__((format(printf, 3, 4)));
void skip_newlines(Parser *p);
bool at_word(Parser *p, const char *word);             /* the name token `word` */
const char *token_seen(Parser *p, const Token *token); /* "`x`", for messages */
/* Reports "expected WHAT, not `x`" of the current token, and what is written here for it. */
bool unexpected_token(Parser *p, const char *what);
void end_statement(Parser *p);          /* reports what else stands behind a statement */
bool assignment_ahead(const Parser *p); /* NAME {"," NAME} "=" */

Node *node_new(Parser *p, NodeKind kind, Loc loc);
Loc loc_from(const Parser *p, Loc start);   /* from start to the last token taken */
void set_node_depth(Parser *p, Node *node); /* from its children; reports if too deep */
/* Nested constructs count; false (and a message) past MAX_DEPTH. */
bool enter_level(Parser *p);
void leave_level(Parser *p);

Node *parse_expression(Parser *p); /* never NULL; after an error any node */
/* The opening bracket is taken and counted; takes the closing one or reports. */
void close_bracket(Parser *p, TokenKind close, Loc open);
NodeList parse_list(Parser *p, TokenKind close); /* expressions up to `close`, taken */
NodeList parse_args(Parser *p);                  /* after ( up to ), both kinds of arguments */
NodeList parse_body(Parser *p);                  /* { statements } */
Node *named_node(Parser *p, NodeKind kind, const char *where); /* takes its name */
/* { one line after another }, each by `parse_one`. */
NodeList parse_lines(Parser *p, Node *(*parse_one)(Parser *));
/* To the end of the line, or before a brace that closes a body. */
void recover(Parser *p);

typedef struct Declaration {
    const char *word;
    Node *(*parse)(Parser *); /* what follows the word */
    bool braces;              /* begins with { and not a name */
    bool many;                /* several after one word, separated by commas */
    bool top_only;            /* not in blocks */
} Declaration;
/* The declaration that begins here, its word not taken; NULL: none does. */
const Declaration *declaration_ahead(Parser *p);
/* What a message says behind "begins no statement" */
const char *suggest_statement(Parser *p, const char *word);
int declaration_words(const char **words); /* NULL: how many */

#endif
