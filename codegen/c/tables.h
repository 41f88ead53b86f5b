/* A program's tables as C constants: the records of records.h, field by field. */
#ifndef CODEGEN_C_TABLES_H
#define CODEGEN_C_TABLES_H

#include "codegen/codegen.h"
#include "runtime/exec/program.h"

/* Appends the definition of <prefix><program name>, a TfcProgram, and of what it points to, all
 * static. Kernels and products must be defined before, as c_name of <prefix><their name>. */
void c_tables(const TfcProgram *program, const char *prefix, GemmChoice gemm, Text *out);

#endif
