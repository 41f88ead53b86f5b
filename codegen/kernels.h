/* KernelSet: the list of the kernels of programs. codegen/plan adds kernels while it builds a
 * program; they are emitted later, by several threads.
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
    VEC(const Op *) places; /* the ops that were added with this kernel */
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

/* Object files of the kernels alone (llvm/object.c): *out has no programs and no symbols. options
 * NULL: this machine. False after errors. */
bool kernels_compile(const KernelSet *set, const TargetOptions *options, const char *prefix,
                     Arena *arena, ObjectSet *out, Diagnostics *diags);
/* Appends all kernels as text, LLVM IR or assembly, and the native products that the program needs
 * (NULL: none) (llvm/dump.c). False after errors. */
bool kernels_dump(const KernelSet *set, const TfcProgram *program, const TargetOptions *options,
                  bool assembly, Text *out, Diagnostics *diags);

#endif
