/* A program's tables as constants of an LLVM module.
 *
 * Each table is the host's own bytes with relocations in the places of its pointers
 * (tables.c lists them by offsetof), so that the layout is that of program.h by
 * construction: a field that is no pointer needs nothing here. */
#ifndef CODEGEN_TABLES_H
#define CODEGEN_TABLES_H

#include "codegen/llvm_builder.h"
#include "runtime/exec/program.h"

/* Defines the constant <prefix><program name> of type TfcProgram. Kernels are the
 * symbols <prefix><kernel name>. */
void tables_emit(LLVMContextRef context, LLVMModuleRef module, const TfcProgram *program,
                 const char *prefix);

#endif
