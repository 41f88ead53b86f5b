/* The machine that kernels are written for: its name, what its processor is like, and how an LLVM
 * module becomes an object file for it. */
#ifndef CODEGEN_TARGET_H
#define CODEGEN_TARGET_H

#include "codegen/codegen.h"
#include "codegen/llvm/llvm.h"
#include "codegen/processor.h"

#include <llvm-c/TargetMachine.h>

typedef struct LlvmTarget {
    char *cpu, *features; /* LLVM's names; owned */
    CodeTarget code;
    int granule; /* see Arch in target.c */
    int opt_level;
    GemmChoice gemm;
    TfcChoice choice;
    LLVMTargetMachineRef machine;
} LlvmTarget;

/* options NULL: this machine, opt_level 2, OpenBLAS. `foreign`: any CPU of targets.def is accepted;
 * pass true if the code is for another machine, or if target_settle has checked the options. If
 * false, a CPU whose code this machine cannot run is refused. False after errors. target_dispose is
 * needed in either case. */
bool target_init(LlvmTarget *target, const TargetOptions *options, bool foreign,
                 Diagnostics *diags);
void target_dispose(LlvmTarget *target);
/* An empty module for this target, with triple and data layout; the caller disposes of it. */
LLVMModuleRef target_new_module(const LlvmTarget *target, LLVMContextRef context, const char *name);
/* Optimises the module, unless opt_level is 0 or the code is scalar. False after errors. Debug
 * builds verify the module first: a broken module is our mistake, and is dumped before the process
 * aborts. */
bool target_optimise(const LlvmTarget *target, LLVMModuleRef module, Diagnostics *diags);
/* Object code or assembly text. The caller disposes of the buffer. NULL after errors. */
LLVMMemoryBufferRef target_emit(const LlvmTarget *target, LLVMModuleRef module, bool assembly,
                                Diagnostics *diags);

#endif
