/* Loop IR as LLVM IR. */
#ifndef CODEGEN_LLVM_RENDER_H
#define CODEGEN_LLVM_RENDER_H

#include "codegen/llvm/target.h"
#include "codegen/loop/loop.h"

/* The functions and records of a module after its passes, for this target, optimised by
 * target_optimise. Kernels and records have hidden visibility, other functions are internal. The
 * caller disposes of the module. NULL after errors. */
LLVMModuleRef render_module(const LoModule *from, const LlvmTarget *target, LLVMContextRef context,
                            const char *name, Diagnostics *diags);

#endif
