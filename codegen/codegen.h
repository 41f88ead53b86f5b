/* The interface of codegen: from a function of fused regions to a program. */
#ifndef CODEGEN_CODEGEN_H
#define CODEGEN_CODEGEN_H

#include "ir/graph.h"
#include "runtime/exec/program.h"

/* What multiplies matrices (TfcProducts). */
typedef enum GemmChoice {
    GEMM_BLAS,   /* OpenBLAS; products of bf16 are native */
    GEMM_NATIVE, /* kernels in the program's own code: OpenBLAS is not needed */
    GEMM_AUTO    /* in programs that train one of the two for each shape (TfcChoice), else native */
} GemmChoice;

/* The machine to compile for. */
typedef struct TargetOptions {
    /* a CPU of targets.def, by LLVM's name, or "native"; NULL: this machine, or with a triple the
     * general processor of its architecture */
    const char *cpu;
    bool scalar;        /* the reference: width 1, the C library's functions, no optimisation */
    bool emulates_fma;  /* a·b + c is rounded once where the processor has no fused multiply-add */
    int opt_level;      /* 0 or 2 */
    const char *triple; /* such as aarch64-linux-gnu; NULL: this system. The JIT ignores it */
    GemmChoice gemm;
    /* for GEMM_AUTO in programs that train; other programs use native products, so that a
     * sentence's result does not depend on its batch */
    TfcChoice choice;
} TargetOptions;

/* The plan of a function after the passes: a program that lives in the arena and has no addresses
 * of kernels yet. Sets *origins, unless `origins` is NULL, to a list: for each step the op that the
 * step was made for. NULL after errors. */
const TfcProgram *codegen_plan(const Function *function, Arena *arena, const Op *const **origins,
                               Diagnostics *diags);

/* ---- the JIT ---- */

/* Jit: compiles programs for this process and owns them. One thread at a time may use it. */
typedef struct Jit Jit;
/* options NULL: this machine, opt_level 2. options->triple is ignored. NULL after errors. */
Jit *jit_new(const TargetOptions *options, Diagnostics *diags);
void jit_free(Jit *jit); /* unloads its programs: they must not run again; NULL is allowed */

/* ProgramKey: the key of a program in the cache: a hash of everything that its code depends on. */
typedef struct ProgramKey {
    unsigned char hash[32];
} ProgramKey;
/* Sets the folder of the cache; NULL: the first that is set of $TFC_CACHE, $XDG_CACHE_HOME/tfc and
 * ~/.cache/tfc (TFC_CACHE=off: no cache). A folder that cannot be used is no error
 * (JitStats.cache_note). Without a call the Jit has no cache. */
void jit_use_cache(Jit *jit, const char *folder);
/* The key of a program. `function`: before the passes; `pipeline`: a text that names the passes. */
ProgramKey jit_key(const Jit *jit, const Function *function, const char *pipeline);
/* The cached program of a key, owned by the Jit; NULL: there is none, or it cannot be loaded. */
const TfcProgram *jit_recall(Jit *jit, const ProgramKey *key);
/* Takes the program of a function (after the passes) from the cache, or else compiles the program
 * and adds it to the cache under the key. key NULL: a key made from this function. The Jit owns the
 * program; NULL after errors. */
const TfcProgram *jit_compile(Jit *jit, const Function *function, const ProgramKey *key,
                              Diagnostics *diags);

/* The key that was given when this Jit compiled or recalled the program; NULL: none was. */
const ProgramKey *jit_key_of(const Jit *jit, const TfcProgram *program);

typedef struct JitStats {
    int programs_compiled, kernels_compiled;
    int programs_cached, kernels_cached; /* found in the cache */
    double seconds;                      /* in jit_compile and jit_recall */
    const char *cache_note;              /* why the cache could not be used or written, or NULL */
} JitStats;
JitStats jit_stats(const Jit *jit);

/* The target of code that runs here, as a text for people and for comparison: LLVM's name of the
 * processor, the bits of its vectors, its instruction for pairs of bf16 if it has one. In the
 * arena, from the user's cache or else from LLVM, which is then loaded. NULL after errors. */
const char *codegen_processor(const TargetOptions *options, Arena *arena, Diagnostics *diags);
/* The row of targets.def for code that runs here; likewise from the cache or from LLVM. NULL after
 * errors. */
const struct Processor *codegen_kind(const TargetOptions *options, Arena *arena,
                                     Diagnostics *diags);
/* Of the form that a target's products of a type have: columns, kept, joined and whole, which say
 * how product_pack makes panels; other fields are 0. From the user's cache or else from LLVM. False
 * after errors. */
bool codegen_panels(const TargetOptions *options, TfcProductType type, Arena *arena,
                    TfcFormSizes *out, Diagnostics *diags);
/* LLVM's version, such as "19.1.7"; in the arena, from the user's cache or else from LLVM. NULL
 * after errors. */
const char *codegen_llvm(Arena *arena, Diagnostics *diags);
/* Whether code can be generated for the triple's architecture and this machine has it. */
bool codegen_is_here(const char *triple);

/* The loop IR of a function's kernels (dump --stage loops), in the arena. `after`: the last pass
 * that runs (codegen/loop/passes/passes.def); NULL: all run; "built": strip alone. The loop IR's
 * origins point into the function's ops. NULL after errors. */
struct LoModule *codegen_loops(const Function *function, const TargetOptions *options,
                               const char *after, Arena *arena, Diagnostics *diags);
/* Runs passes over loop IR, given as text, and appends the resulting module to `out`; with `each`,
 * in its place, the module after each pass, below a line that names the pass. `passes`: names,
 * separated by commas. False after errors. */
bool codegen_opt_loops(const Source *source, const char *passes, const TargetOptions *options,
                       bool each, Text *out, Diagnostics *diags);
/* Appends the kernels and native products of a function as text: LLVM IR or assembly
 * (dump --stage llvm|asm). False after errors. */
bool codegen_dump(const Function *function, const TargetOptions *options, bool assembly, Text *out,
                  Diagnostics *diags);
/* Appends the plan as text: buffers with lifetimes, steps (dump --stage plan). */
void plan_print(const TfcProgram *program, Text *out);
/* Appends the plan for Graphviz's dot: steps as nodes, buffers on the edges. */
void plan_print_dot(const TfcProgram *program, Text *out);

#endif
