/* Shared by the files of the renderer: the function being written. */
#ifndef CODEGEN_LLVM_RENDER_STATE_H
#define CODEGEN_LLVM_RENDER_STATE_H

#include "codegen/llvm/render.h"

typedef struct Render {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LlValue function;
    LlValue *values; /* by id */
    LlValue spare;   /* memory that loads whose mask is off read; NULL: none yet */
} Render;

/* ---- render_value.c ---- */
LlType render_type(const Render *r, LoType type);
LlValue render_value(const Render *r,
                     const LoOp *x); /* of an op that was rendered, or a constant */
static inline LlValue render_arg(const Render *r, const LoOp *op, int i)
{
    return render_value(r, op->args[i]);
}

/* ---- render_ops.c ---- */
/* Every op but control; NULL if the op has no value. */
LlValue render_op(Render *r, const LoOp *op);
/* ---- render_call.c ---- */
LlValue render_intrinsic(Render *r, const char *name, int n_types, LlType *types, int n_args,
                         LlValue *args);
LlValue render_math(Render *r, const LoOp *op);

#endif
