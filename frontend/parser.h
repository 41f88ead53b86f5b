/* What the files of the parser share: the current token and recovery. */
#ifndef FRONTEND_PARSER_H
#define FRONTEND_PARSER_H

#include "frontend/ast.h"

enum { MAX_DEPTH = 200 };

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
    bool in_block;
} Parser;

const Token *peek_token(Parser *p);                 /* skips newlines inside parentheses */
const Token *peek_ahead(const Parser *p, size_t n); /* the n-th after it, newlines counted */
const Token *take_token(Parser *p);
bool accept_token(Parser *p, TokenKind kind);
/* Takes the token if it is of that kind; else reports and returns false. `where`: what follows the
 * name of the kind in the message. */
bool expect_token(Parser *p, TokenKind kind, const char *where);
/* Reports the error and sets `panic`. False: not reported, because another error was reported
 * in this statement or line, or there are too many. */
bool parse_error(Parser *p, Loc loc, const char *format, ...) __attribute__((format(printf, 3, 4)));
void skip_newlines(Parser *p);
bool at_word(Parser *p, const char *word);             /* whether the next is the name `word` */
const char *token_seen(Parser *p, const Token *token); /* "`x`", for messages */
/* parse_error "expected WHAT, not `x`" of the current token, with the hint of foreign_token. */
bool unexpected_token(Parser *p, const char *what);
void end_statement(Parser *p);          /* reports a token that follows in the same line */
bool assignment_ahead(const Parser *p); /* NAME {"," NAME} "=" */

Node *node_new(Parser *p, NodeKind kind, Loc loc);
Loc loc_from(const Parser *p, Loc start);   /* from start to the last token taken */
void set_node_depth(Parser *p, Node *node); /* from a, b and kids; reports if too deep */
/* Counts a level of nesting; false, and reports, past MAX_DEPTH. */
bool enter_level(Parser *p);
void leave_level(Parser *p);

Node *parse_expression(Parser *p); /* never NULL; after an error any node */
/* Takes the bracket `close` of the bracket at `open`, which was counted in `parens`; or reports. */
void close_bracket(Parser *p, TokenKind close, Loc open);
NodeList parse_list(Parser *p, TokenKind close); /* expressions before `close`, which stays */
NodeList parse_args(Parser *p);                  /* ( arguments, with or without keywords ) */
NodeList parse_body(Parser *p);                  /* { statements } */
/* Takes a name and makes a node of it; `where` as of expect_token. */
Node *named_node(Parser *p, NodeKind kind, const char *where);
/* Parses { lines }, each line by `parse_one`. */
NodeList parse_lines(Parser *p, Node *(*parse_one)(Parser *));
/* Skips to the end of the line (with bodies that it opens), or to the brace that closes the body
 * around it; ends `panic`. */
void recover(Parser *p);

typedef struct Declaration {
    const char *word;
    Node *(*parse)(Parser *); /* parses what follows the word */
    bool braces;              /* a { follows the word, not a name */
    bool many;                /* several, separated by commas, may follow the word */
    bool top_only;            /* not in bodies */
    bool named;               /* only before a name; before anything else the word is a name */
} Declaration;
/* The declaration that begins at the current token, which is not taken; NULL: none does. */
const Declaration *declaration_ahead(Parser *p);
/* A hint for the end of the message "`WORD` begins no statement"; "": none. */
const char *suggest_statement(Parser *p, const char *word);
int declaration_words(const char **words); /* returns how many; words may be NULL */

#endif
