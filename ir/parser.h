/* Inside the parser of the IR's text form: its state, and the parts of a line.
 * Functions that return bool or a pointer have reported an error when they
 * return false or NULL; what follows the wrong token is not consumed then. */
#ifndef IR_PARSER_H
#define IR_PARSER_H

#include "base/scan.h"
#include "ir/graph.h"

enum { MOST_FUNCTIONS = 512, DEEPEST_REGION = 4 };

typedef struct TirParser {
    Reader in;
    Arena *arena;
    Diagnostics *diags;
    Module *module;
    Function *function;
    Map values;     /* "12" → Value*, of the function being read */
    Value *unknown; /* stands for operands that are not defined: only after an error */
    int depth;      /* how many regions are around the line being read */
} TirParser;

bool tir_symbol(TirParser *p, int *symbol);
bool tir_type(TirParser *p, Type *type);

typedef VEC(Attr) Attrs;
bool tir_attrs(TirParser *p, Attrs *attrs); /* { name = value, … } or nothing */

#endif
