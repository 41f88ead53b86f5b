/* Codegen's face to the rest: from a function of fused regions to a program. */
#ifndef CODEGEN_CODEGEN_H
#define CODEGEN_CODEGEN_H

#include "ir/graph.h"
#include "runtime/exec/program.h"

/* The machine to compile for. */
typedef struct TargetOptions {
    const char *cpu;     /* NULL: this machine; else an LLVM CPU name, x86-64-v2/-v3/-v4 … */
    bool scalar;         /* the reference: width 1, the C library's functions, no optimisation */
    int opt_level;       /* 0 or 2 */
    const char *triple;  /* NULL: this system; else such as aarch64-linux-gnu (object code only) */
} TargetOptions;

typedef struct Jit Jit;
Jit *jit_new(const TargetOptions *options, Diagnostics *diags); /* NULL after errors */
void jit_free(Jit *jit); /* unloads the kernels: programs compiled with it must not run again */

/* Compiles a function all of whose ops are regions, dots, shape ops or their own
 * kernels. Kernels already in the JIT are found by hash. The program lives in
 * `arena`; the kernels as long as the Jit. */
const TfcProgram *jit_compile(Jit *jit, const Function *function, Arena *arena, Diagnostics *diags);

typedef struct JitStats {
    int kernels_compiled, kernels_reused;
    double seconds;
} JitStats;
JitStats jit_stats(const Jit *jit);

/* Text of the kernels of a function: LLVM IR or assembly (dump --stage llvm|asm). */
bool codegen_dump(const Function *function, const TargetOptions *options, bool assembly, Text *out,
                  Diagnostics *diags);
/* Text of the plan: buffers with lifetimes, steps (dump --stage plan). */
void plan_print(const TfcProgram *program, Text *out);

#endif
