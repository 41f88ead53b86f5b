/* Loop IR as LLVM IR. */
#ifndef CODEGEN_LLVM_RENDER_H
#define CODEGEN_LLVM_RENDER_H

#include "codegen/codegen.h"
#include "codegen/llvm/llvm.h"
#include "codegen/llvm/target.h"
#include "codegen/loop/loop.h"
#include "runtime/exec/program.h"

/* The functions and records of a module after its passes, for this target, optimised by
 * target_optimise. Kernels and records have hidden visibility, other functions are internal. The
 * caller disposes of the module. NULL after errors. */
LLVMModuleRef render_module(const LoModule *from, const LlvmTarget *target, LLVMContextRef context,
                            const char *name, Diagnostics *diags);

/* ---- tables.c ---- */

/* A program's tables as constants of an LLVM module.
 *
 * Each table is the host's own bytes (records.h) with relocations in the places of its
 * pointers. Targets with pointers of four bytes have the same records: the upper half of a
 * pointer's field is zeros. */

/* Defines for each of n programs the constant <prefix><program name> of type TfcProgram. It refers
 * to its kernels as <prefix><kernel name>, and to the native products that it needs as the forms
 * <prefix>gemm.f32, <prefix>gemm.f64 and <prefix>gemm.bf16. */
void tables_emit(LLVMContextRef context, LLVMModuleRef module, int n,
                 const TfcProgram *const *programs, const char *prefix, GemmChoice gemm);

#endif
