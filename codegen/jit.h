/* Inside codegen: object files into this process. */
#ifndef CODEGEN_JIT_H
#define CODEGEN_JIT_H

#include "codegen/kernels.h"
#include "codegen/object.h"

/* Loads the objects beside the ones before, which they do not see, and gives their
 * first program; NULL after errors. */
const TfcProgram *jit_load(Jit *jit, const ObjectSet *objects, Diagnostics *diags);

/* The kernel of one op alone, compiled now: how tests come to kernels without a
 * program. NULL after errors. */
TfcKernel jit_kernel(Jit *jit, const Module *module, const Op *op, const Signature *signature,
                     Diagnostics *diags);

#endif
