/* Programs as object code: what the JIT loads, the cache keeps and `tfc compile` links are the same
 * set of object files.
 *
 *   tables      the programs' tables as constants, with relocations to kernels and strings
 *   kernels     over files that are compiled in parallel. With a cache and without a prefix each
 *               file has one kernel, so that the cache keeps kernels one by one and programs share
 *               them; else a few. Which ones does not depend on the number of threads, so the same
 *               functions give the same bytes
 *   products    the products that the programs need and TargetOptions.gemm makes native, one file
 *               for each element type
 *
 * Code is position-independent, except for wasm32. Each program is a constant `TfcProgram` (in the
 * layout of runtime/exec/program.h, which all targets share but for arrays of pointers) under the
 * symbol "<prefix><function name>"; kernels and products are hidden symbols that begin with the
 * prefix, too, so sets with different prefixes (instruction sets, models) link into one library.
 * Besides each other's symbols the objects of a set need functions of libm, memcpy, memmove and
 * memset, and tfc_blas_f32 and tfc_blas_f64 where OpenBLAS multiplies. */
#ifndef CODEGEN_OBJECT_H
#define CODEGEN_OBJECT_H

#include "codegen/codegen.h"

typedef struct Cache Cache; /* cache.h */

typedef struct ObjectFile {
    const void *bytes; /* 16-byte aligned */
    size_t size;
} ObjectFile;

typedef struct ObjectSet {
    int n_files;
    const ObjectFile *files;
    int n_programs, n_kernels;
    int n_kept;   /* kernels that came from the cache */
    bool is_kept; /* everything came from the cache */

    /* The tables as planned, in the order of the functions: for headers and reports. They do not
     * run: their kernels' addresses are NULL. cache_get and kernels_compile leave this NULL. */
    const TfcProgram *const *programs;

    /* of each program: prefix and name; cache_get: of the first alone; kernels_compile: NULL */
    const char *const *symbols;
} ObjectSet;

/* Compiles functions (after the passes) of one module or several; a kernel that they share is
 * compiled once. (llvm/object.c)
 *   target   any that llvm/target.c knows; NULL, allowed without a cache: this machine
 *   cache    if it has the key, all objects are taken from it, without LLVM; else, if the prefix is
 *            empty, the kernels and products that it has. What was compiled is added to it. NULL:
 *            no cache
 *   key      of the objects in the cache; NULL: a key made from the functions
 * Everything in `out` lives in the arena. False after errors. */
bool object_compile(const Function *const *functions, int n, const TargetOptions *target,
                    const char *prefix, Cache *cache, const ProgramKey *key, Arena *arena,
                    ObjectSet *out, Diagnostics *diags);
/* Appends programs, kernels and products as in object_compile, as one module of LLVM bitcode, to
 * `out`. False after errors. */
bool object_bitcode(const Function *const *functions, int n, const TargetOptions *target,
                    const char *prefix, Text *out, Diagnostics *diags);

#endif
