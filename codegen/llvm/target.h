/* The machine that kernels are written for: its name, what its processor is like, and the way
 * from an LLVM module to an object file for it. */
#ifndef CODEGEN_TARGET_H
#define CODEGEN_TARGET_H

#include "codegen/codegen.h"
#include "codegen/llvm/llvm.h"
#include "codegen/processor.h"

#include <llvm-c/TargetMachine.h>

typedef struct LlvmTarget {
    char *cpu, *features; /* LLVM's names; owned */
    CodeTarget code;
    int granule; /* see Arch */
    int opt_level;
    GemmChoice gemm;
    TfcChoice choice;
    LLVMTargetMachineRef machine;
} LlvmTarget;

/* `foreign`: the code will not run here, so any known CPU will do; otherwise one
 * that this machine cannot run is refused. False after errors. */
bool target_init(LlvmTarget *target, const TargetOptions *options, bool foreign,
                 Diagnostics *diags);
void target_dispose(LlvmTarget *target);
/* A module for this target: triple and data layout are set. */
LLVMModuleRef target_new_module(const LlvmTarget *target, LLVMContextRef context, const char *name);
/* Verifies and optimises the module (a broken one is our mistake: an assertion
 * that dumps it). */
bool target_optimise(const LlvmTarget *target, LLVMModuleRef module, Diagnostics *diags);
/* Object code or assembly text. NULL after errors; the caller disposes. */
LLVMMemoryBufferRef target_emit(const LlvmTarget *target, LLVMModuleRef module, bool assembly,
                                Diagnostics *diags);

#endif
