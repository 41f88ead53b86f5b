/* The syntax tree of .tfg text: one node type. What its fields hold, by kind:
 *
 *   kind      name        op        a, b            kids              body, otherwise
 *   --------- ----------- --------- --------------- ----------------- ----------------
 *   NUMBER                          (number)
 *   STRING    the text
 *   BOOL                            (number 0, 1)
 *   NAME      the name
 *   LIST                                            elements
 *   UNARY                 - not     a
 *   BINARY                operator  a, b
 *   CALL      callee                                ARG…              (label, same)
 *   ARG       keyword or NULL       a: value
 *    of BLOCK the parameter         a: default or NULL
 *   INDEX                           a: table, b: index
 *   AXIS                            a, number: which axis: x.-1
 *   RAGGED                          a: the dimension before ~
 *
 *   ASSIGN                          a: value        NAME… assigned
 *   RETURN                                          values
 *   OUTPUT    the name              a: value or NULL                          (same: `predict`)
 *   EXPOSE    dotted path, also with * as a part
 *   UPDATE    the state             a: value
 *   MERGE     the param             a: value
 *   REPEAT                          a: how often                      body   (label)
 *   IF                              a: condition                      then; else
 *   EXPR                            a
 *
 *   MODEL     the name
 *   USE       the name or path      (same: a path)
 *   CONST     the name              a: value
 *   DIM       the name              a: what it is made of, or NULL
 *   INPUT     the name              a: LIST of dims; b: place of the type   (text: element type)
 *                                                   what feeds it, or none
 *   VOCAB     the input             a: its words
 *   PARAM     the name              a: LIST of dims; b: initial value or NULL   (role)
 *   BLOCK     the name                              ARG…              body
 *   TRAIN                                           SETTING…
 *   SETTING   the name              a: value or NULL (wrong)
 *   WEIGHTS                                         MAP… or IF of MAPs
 *   MAP       pattern of params     a: what they are made from
 */
#ifndef FRONTEND_AST_H
#define FRONTEND_AST_H

#include "frontend/lexer.h"
#include "ir/graph.h"

/* Messages on a model, at most: the suggestion in each is sought among all of the model's names. */
enum { MAX_MISTAKES = 20 };

/* clang-format off */
typedef enum NodeKind {
    NODE_NUMBER, NODE_STRING, NODE_BOOL, NODE_NAME, NODE_LIST, NODE_UNARY, NODE_BINARY, NODE_CALL,
    NODE_ARG, NODE_INDEX, NODE_AXIS, NODE_RAGGED,
    NODE_ASSIGN, NODE_RETURN, NODE_OUTPUT, NODE_EXPOSE, NODE_UPDATE, NODE_MERGE, NODE_REPEAT, NODE_IF,
    NODE_EXPR,
    NODE_MODEL, NODE_USE, NODE_CONST, NODE_DIM, NODE_INPUT, NODE_VOCAB, NODE_PARAM, NODE_BLOCK,
    NODE_TRAIN, NODE_SETTING, NODE_WEIGHTS, NODE_MAP
} NodeKind;
/* clang-format on */

typedef struct Node Node;
typedef struct NodeList {
    Node **data;
    size_t count, capacity;
} NodeList;

struct Node {
    NodeKind kind;
    TokenKind op;
    ParamRole role;
    /* CALL: `as same label`, with the params of that call; USE: "file"; OUTPUT: a `predict` */
    bool same;
    bool overridden; /* replaced by another file's definition of the same name */
    int depth;       /* of the expression's tree; more than MAX_DEPTH is an error (parser.h) */
    Loc loc;         /* the whole of an expression; the name or first word of a statement */
    double number;
    const char *name, *text;
    const char
        *label; /* CALL, REPEAT: the name after `as`, NULL: no `as`; "_" of a CALL adds no name */
    Node *a, *b;
    NodeList kids, body, otherwise;
};

/* A parsed file: declarations and statements in order. */
typedef struct Syntax {
    const Source *source;
    NodeList items;
} Syntax;

/* Parses a file: reports errors, several in one call, and returns what could be read, never
 * NULL. */
Syntax *parse_tfg(Arena *arena, Diagnostics *diags, const Source *source);
/* Parses one expression and nothing else (--set); NULL after an error. */
Node *parse_tfg_expression(Arena *arena, Diagnostics *diags, const Source *source);

/* Append canonical .tfg text: parsing it gives the same tree. */
void print_expression(const Node *node, Text *out);
void print_item(const Node *node, int indent, Text *out);
/* As a person would write it: 100000, 0.1, 1e-09. */
void print_number(double number, Text *out);
/* An expression for a message, cut off if its text is longer than 60 bytes; in the arena. */
const char *expression_text(Arena *arena, const Node *node);

#endif
