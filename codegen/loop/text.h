/* The text form of loop IR: printing a module and parsing it back gives the same module, and
 * printing that the same bytes. docs/loop-ir.md describes it. */
#ifndef CODEGEN_LOOP_TEXT_H
#define CODEGEN_LOOP_TEXT_H

#include "codegen/loop/loop.h"

/* Printers take wrong modules, too: messages quote them. */
void lo_print_module(LoModule *module, Text *out);       /* numbers values first */
void lo_print_function(LoFunction *function, Text *out); /* the same */
void lo_print_op(const LoOp *op, Text *out);             /* its line alone, without its blocks */
void lo_print_type(LoType type, Text *out);
const char *lo_type_text(LoType type, Arena *arena);

/* NULL after errors, which name line and column. What the text says, right or not: verify.h. */
LoModule *lo_parse(Arena *arena, Diagnostics *diags, const Source *source);

#endif
