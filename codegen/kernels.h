/* The kernels that programs are made of, as a list: codegen/plan adds them while
 * it builds a program, and they are emitted later, by several threads.
 *
 * Two ops of one kind with the same Signature.hash get the same kernel, also across functions
 * planned with one set. Ops and modules must outlive the set. */
#ifndef CODEGEN_KERNELS_H
#define CODEGEN_KERNELS_H

#include "codegen/object.h"
#include "codegen/signature.h"

typedef struct KernelEntry {
    const char *name; /* such as "row.1f0c…" */
    const Module *module;
    const Op *op;
    Signature signature;
    VEC(const Op *) places; /* all ops that this kernel computes */
} KernelEntry;

typedef struct KernelSet {
    Arena *arena;
    VEC(KernelEntry) list;
    Map by_name; /* name → number + 1 */
} KernelSet;

void kernels_init(KernelSet *set, Arena *arena);
/* Adds the op's kernel unless it is there; returns its number in the set. */
int kernels_add(KernelSet *set, const Module *module, const Op *op, const Signature *signature);
static inline const char *kernels_name(const KernelSet *set, int kernel)
{
    return set->list.data[kernel].name;
}

/* Object files of the kernels alone, without a program or symbols (llvm/object.c). options NULL:
 * this machine. False after errors. */
bool kernels_compile(const KernelSet *set, const TargetOptions *options, const char *prefix,
                     Arena *arena, ObjectSet *out, Diagnostics *diags);
/* Appends all kernels as text, LLVM IR or assembly, with the native products of the program
 * if that is not NULL (llvm/dump.c). False after errors. */
bool kernels_dump(const KernelSet *set, const TfcProgram *program, const TargetOptions *options,
                  bool assembly, Text *out, Diagnostics *diags);

#endif
