/* A program's tables as constants of an LLVM module.
 *
 * Each table is the host's own bytes (records.h) with relocations in the places of its
 * pointers. Targets with pointers of four bytes have the same records: the upper half of a
 * pointer's field is zeros. */
#ifndef CODEGEN_TABLES_H
#define CODEGEN_TABLES_H

#include "codegen/codegen.h"
#include "codegen/llvm/llvm.h"
#include "runtime/exec/program.h"

/* Defines for each of n programs the constant <prefix><program name> of type TfcProgram. It refers
 * to its kernels as <prefix><kernel name>, and to the native products that it needs as the forms
 * <prefix>gemm.f32, <prefix>gemm.f64 and <prefix>gemm.bf16. */
void tables_emit(LLVMContextRef context, LLVMModuleRef module, int n,
                 const TfcProgram *const *programs, const char *prefix, GemmChoice gemm);

#endif
