/* Programs as C: what object.h is for machine code. */
#ifndef CODEGEN_C_UNIT_H
#define CODEGEN_C_UNIT_H

#include "codegen/kernels.h"

/* Writes kernels, native products and tables of the functions' programs (after the passes), all of
 * them static, as C that needs runtime/exec/program.h before it. A program is the constant
 * `TfcProgram` under the symbol "<prefix><function name>". Of `out` programs and symbols are set, and
 * live in the arena. Of the target the width of vectors counts, and how many registers there are.
 * False after errors. */
bool c_programs(const Function *const *functions, int n, const TargetOptions *options,
                const char *prefix, Arena *arena, ObjectSet *out, Text *text, Diagnostics *diags);

/* "model.tfg:12, …" under the name of each kernel of the set after the prefix: where its ops stand. */
void c_note_places(const KernelSet *set, const char *prefix, Map *comments, Arena *arena);

#endif
