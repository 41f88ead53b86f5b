/* Inside codegen: loading object files into this process. */
#ifndef CODEGEN_JIT_H
#define CODEGEN_JIT_H

#include "codegen/kernels.h"
#include "codegen/object.h"

/* Loads a set of objects, apart from sets loaded before, and returns its first program, which the
 * Jit owns (jit_free). NULL after errors. */
const TfcProgram *jit_load(Jit *jit, const ObjectSet *objects, Diagnostics *diags);

/* Compiles the kernel of one op, without a program; for tests. The Jit owns the kernel. NULL after
 * errors. */
TfcKernel jit_kernel(Jit *jit, const Module *module, const Op *op, const Signature *signature,
                     Diagnostics *diags);

#endif
