/* A program's tables as C constants: the records of records.h, field by field. */
#ifndef CODEGEN_C_TABLES_H
#define CODEGEN_C_TABLES_H

#include "codegen/codegen.h"
#include "runtime/exec/program.h"

/* Defines <prefix><program name> of type TfcProgram and what it points to, all static. Kernels and
 * products were defined before, under their names after the prefix. */
void c_tables(const TfcProgram *program, const char *prefix, GemmChoice gemm, Text *out);

#endif
