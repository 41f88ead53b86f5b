/* The kernels of a Jit: what codegen/plan asks for while it builds a program.
 *
 *   int k = jit_add(jit, module, op, &signature, diags);   // once an op
 *   …
 *   jit_finish(jit, diags);                                // compiles what is new, at once
 *   program->kernels[i] = jit_address(jit, k);
 *
 * Two ops with the same Signature.hash get the same kernel, also across calls of
 * jit_compile on one Jit. */
#ifndef CODEGEN_JIT_H
#define CODEGEN_JIT_H

#include "codegen/codegen.h"
#include "codegen/signature.h"

/* The number of the op's kernel in this Jit, or -1 after an error (an element
 * type that kernels do not have yet, …). The IR is emitted now, compiled later. */
int jit_add(Jit *jit, const Module *module, const Op *op, const Signature *signature,
            Diagnostics *diags);
/* Compiles and loads every kernel added since the last call; false after errors. */
bool jit_finish(Jit *jit, Diagnostics *diags);
/* After jit_finish. NULL in a Jit that only dumps text. */
TfcKernel jit_address(const Jit *jit, int kernel);
/* Such as "row.1f0c…"; lives as long as the Jit. */
const char *jit_kernel_name(const Jit *jit, int kernel);

/* A Jit that keeps the text of what it compiles and loads nothing (codegen_dump). */
Jit *jit_new_dump(const TargetOptions *options, bool assembly, Text *out, Diagnostics *diags);

#endif
