/* The text form of loop IR: printing a module and parsing it back gives the same module but for
 * origins, and printing that gives the same bytes. docs/loop-ir.md describes the form. */
#ifndef CODEGEN_LOOP_TEXT_TEXT_H
#define CODEGEN_LOOP_TEXT_TEXT_H

#include "codegen/loop/loop.h"

/* Printers append to `out`. They also take modules that break rules, since messages quote such
 * ops. */
void lo_print_module(LoModule *module, Text *out); /* numbers values first (lo_number) */
/* Called at the end of each line of a function, with the origin of the line's op; may append a
 * comment. */
typedef void LoLines(void *data, const LoFunction *function, int origin, Text *out);
void lo_print_lines(LoModule *module, LoLines *lines, void *data, Text *out);
/* Numbers values first. `lines` NULL: no callback. */
void lo_print_function(LoFunction *function, LoLines *lines, void *data, Text *out);
void lo_print_op(const LoOp *op, Text *out); /* its line alone, without its blocks */
void lo_print_type(LoType type, Text *out);
const char *lo_type_text(LoType type, Arena *arena);

/* The module of a text, in the arena, not verified (verify.h). NULL after errors, which name line
 * and column. */
LoModule *lo_parse(Arena *arena, Diagnostics *diags, const Source *source);

#endif
