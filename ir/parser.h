/* Inside the parser of the IR's text form: its state, and the parts of a line.
 * Functions that return bool or a pointer have reported an error when they
 * return false or NULL; nothing is consumed beyond the mistake then. */
#ifndef IR_PARSER_H
#define IR_PARSER_H

#include "ir/graph.h"
#include "ir/scan.h"

enum { MOST_ERRORS = 20, MOST_DIMS = 512, MOST_FUNCTIONS = 512, DEEPEST_REGION = 4 };

typedef struct Parser {
    Scanner scan;
    Token now;     /* the token not yet consumed */
    long consumed; /* tokens so far */
    Arena *arena;
    Diagnostics *diags;
    int errors_before; /* in diags, when this parser began */
    bool gave_up;      /* after too many errors: the rest is read as nothing */
    Module *module;
    Function *function;
    Map values;     /* "12" → Value*, of the function being read */
    Value *unknown; /* stands for operands that are not defined: only after an error */
    int depth;      /* regions around */
} Parser;

#define parse_error(p, loc, ...) \
    ((p)->gave_up ? (void)0 : diag_error((p)->diags, (loc), __VA_ARGS__))
/* The token is not what was expected; of a bad one the scanner has told already. */
#define error_here(p, ...) \
    ((p)->now.kind == TOKEN_BAD ? (void)0 : parse_error((p), (p)->now.loc, __VA_ARGS__))

void tir_advance(Parser *p);
void tir_give_up(Parser *p);
static inline int parse_errors(const Parser *p) { return p->diags->errors - p->errors_before; }
static inline bool at_mark(const Parser *p, char mark)
{
    return p->now.kind == TOKEN_MARK && p->now.mark == mark;
}
bool tir_accept(Parser *p, char mark);
bool tir_accept_word(Parser *p, const char *word);
bool tir_expect(Parser *p, char mark, const char *where);

const char *tir_name(Parser *p, const char *what);   /* bare or quoted, not empty */
const char *tir_string(Parser *p, const char *what); /* quoted */
bool tir_int(Parser *p, int64_t least, int64_t most, int64_t *result);
bool tir_float(Parser *p, double *result);
bool tir_symbol(Parser *p, int *symbol);
bool tir_type(Parser *p, Type *type);

typedef VEC(Attr) Attrs;
bool tir_attrs(Parser *p, Attrs *attrs); /* { name = value, … } or nothing */

/* "; did you mean `near`?" for messages, or "". */
const char *tir_suggestion(Parser *p, const char *name, const char *const *known, size_t n);

#endif
