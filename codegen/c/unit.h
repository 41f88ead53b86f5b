/* Programs as C: what object.h makes as machine code. */
#ifndef CODEGEN_C_UNIT_H
#define CODEGEN_C_UNIT_H

#include "codegen/codegen.h"
#include "codegen/kernels.h"
#include "runtime/exec/program.h"

/* Appends kernels, native products and tables of the functions' programs (after the passes), all of
 * them static, as C that needs runtime/exec/program.h before it. A program is the constant
 * `TfcProgram` under the symbol "<prefix><function name>". *out gets the programs and symbols, in
 * the arena, and no files. The target decides sizes (of vectors, tiles, blocks); operations that
 * only some processors have are not used. False after errors. */
bool c_programs(const Function *const *functions, int n, const TargetOptions *options,
                const char *prefix, Arena *arena, ObjectSet *out, Text *text, Diagnostics *diags);

/* Adds a comment for each kernel of the set to `comments`, under the prefix and the kernel's name:
 * the lines of the model from which its ops come, "model.tfg:12, …", at most 8 of them. */
void c_note_places(const KernelSet *set, const char *prefix, Map *comments, Arena *arena);

/* ---- tables.c ---- */

/* A program's tables as C constants: the records of records.h, field by field. */

/* Appends the definition of <prefix><program name>, a TfcProgram, and of what it points to, all
 * static. Kernels and products must be defined before, as c_name of <prefix><their name>. */
void c_tables(const TfcProgram *program, const char *prefix, GemmChoice gemm, Text *out);

#endif
