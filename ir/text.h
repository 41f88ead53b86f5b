/* The IR's text form (.tir). Printing a module and parsing it back gives the
 * same graph; docs/ir.md describes the format. */
#ifndef IR_TEXT_H
#define IR_TEXT_H

#include "ir/graph.h"

void ir_print_module(const Module *module, Text *out);
void ir_print_function(const Function *function, Text *out);
/* One line; of a region also the lines of its body. */
void ir_print_op(const Function *function, const Op *op, Text *out);
void ir_print_type(const Module *module, const Type *type, Text *out);
/* " {name = …}": the attributes of an op; nothing if the op has none. */
void ir_print_attrs(const Module *module, const Op *op, Text *out);
/* The function for Graphviz's dot: regions as clusters, types on the edges. */
void ir_print_dot(const Function *function, Text *out);
const char *ir_type_text(const Module *module, const Type *type, Arena *arena);
/* dim_formula_text, of symbols. */
const char *ir_formula_text(const Module *module, const DimFormula *formula, Arena *arena);

/* The module, in the arena; NULL after errors, which name line and column. */
Module *ir_parse(Arena *arena, Diagnostics *diags, const Source *source);

/* Checks the rules of the IR that docs/ir.md lists, such as: operands are defined before they are
 * used, types are those that the rules infer. False after errors, which name the op and what is
 * wrong. */
bool ir_verify(const Module *module, Diagnostics *diags);

/* The words for ParamInfo's role. */
extern const char *const tir_roles[PARAM_ROLES];

/* The word for ParamInfo's init. numbers: how many of ParamInfo's a and b follow the word in
 * parentheses. */
typedef struct InitWord {
    const char *name;
    int numbers;
} InitWord;
extern const InitWord tir_inits[INIT_COUNT];

#endif
