/* Inside codegen: loading object files into this process. */
#ifndef CODEGEN_JIT_H
#define CODEGEN_JIT_H

#include "codegen/kernels.h"
#include "codegen/object.h"

/* Loads a set of objects, separate from those loaded before, and returns their first program. The
 * Jit owns it (jit_free). NULL after errors. */
const TfcProgram *jit_load(Jit *jit, const ObjectSet *objects, Diagnostics *diags);

/* Compiles the kernel of one op, without a program: for tests. The Jit owns it. NULL after
 * errors. */
TfcKernel jit_kernel(Jit *jit, const Module *module, const Op *op, const Signature *signature,
                     Diagnostics *diags);

#endif
