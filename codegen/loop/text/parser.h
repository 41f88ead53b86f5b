/* Inside the parser of loop IR's text form: its state, and the parts of a line. Functions
 * lo_parse_… have reported an error when they return false or NULL. */
#ifndef CODEGEN_LOOP_TEXT_PARSER_H
#define CODEGEN_LOOP_TEXT_PARSER_H

#include "base/map.h"
#include "base/scan.h"
#include "codegen/loop/build.h"

enum { DEEPEST_BLOCK = 64, MOST_LANES = 4095 /* that a LoType holds */ };

typedef VEC(LoValue) LoParserValues;
typedef VEC(LoType) LoParserTypes;
typedef VEC(ScanToken) LoParserTokens;
typedef VEC(int64_t) LoParserNumbers;

/* The name of a function, which may be defined later, and where to put the function. */
typedef struct LoParserLink {
    LoFunction **to;
    const char *name;
    Loc loc;
} LoParserLink;

typedef struct LoParser {
    Reader in;
    Arena *arena;
    LoModule *module;
    Lo lo;         /* of the function being read */
    Map values;    /* "12" → LoOp*, of this function */
    Map functions; /* name → LoFunction* */
    LoOp *unknown; /* stands for operands that are not defined, which were reported */
    int depth;     /* number of blocks around the current place */
    VEC(LoParserLink) links;
} LoParser;

bool lo_is_type_word(const char *word);
bool lo_parse_type(LoParser *p, LoType *type);
bool lo_parse_operand(LoParser *p, LoParserValues *values);  /* %12 or TYPE constant */
bool lo_parse_operands(LoParser *p, LoParserValues *values); /* one or several */
bool lo_parse_order(LoParser *p, LoOp *op);                  /* [0, 1] */
const char *lo_parse_name(LoParser *p);                      /* @NAME */
/* Adds a LoParserLink; the links are resolved at the end of the text. */
void lo_parser_link(LoParser *p, LoFunction **to, const char *name, Loc loc);

#endif
