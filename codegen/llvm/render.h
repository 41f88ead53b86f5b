/* Loop IR as LLVM IR. */
#ifndef CODEGEN_LLVM_RENDER_H
#define CODEGEN_LLVM_RENDER_H

#include "codegen/loop/loop.h"
#include "codegen/llvm/target.h"

/* Finishes the module, and gives its functions and records for this target, optimised. Kernels and
 * records have hidden visibility, other functions are internal. NULL after errors. */
LLVMModuleRef render_module(LoModule *from, const Target *target, LLVMContextRef context,
                            const char *name, Diagnostics *diags);

#endif
