/* Intrinsics, and the C library's functions lane by lane. */
#include "codegen/llvm/render_state.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

LlValue render_intrinsic(Render *r, const char *name, int n_types, LlType *types, int n_args,
                         LlValue *args)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    assert(id && "no such intrinsic");
    LlValue callee = LLVMGetIntrinsicDeclaration(r->module, id, types, (size_t)n_types);
    LlType type = LLVMIntrinsicGetType(r->context, id, types, (size_t)n_types);
    return LLVMBuildCall2(r->builder, type, callee, args, (unsigned)n_args, "");
}

/* ---- the C library ---- */

enum { MAX_MATH_ARGS = 2 };

/* A function of so many operands of one type, which is the result's, too. */
static LlValue find_or_add(Render *r, const char *symbol, LlType type, int n, bool *is_new)
{
    LlType types[MAX_MATH_ARGS] = {type, type};
    LlValue function = LLVMGetNamedFunction(r->module, symbol);
    assert(n <= MAX_MATH_ARGS);
    *is_new = !function;
    if (function)
        return function;
    return LLVMAddFunction(r->module, symbol, LLVMFunctionType(type, types, (unsigned)n, false));
}

static LlValue library_function(Render *r, const char *name, LoType element, int n)
{
    char symbol[32];
    bool is_new;
    snprintf(symbol, sizeof symbol, "%s%s", name, element == lo_f32 ? "f" : "");
    return find_or_add(r, symbol, render_type(r, element), n, &is_new);
}

/* As it stands: LLVM would make exp2 of a power of 2, and the JIT offers no other function than
 * those that are called here. */
static LlValue call(Render *r, LLVMBuilderRef builder, LlValue function, LlValue *args, int n)
{
    static const char nobuiltin[] = "nobuiltin";
    LlType type = LLVMGlobalGetValueType(function);
    LlValue result = LLVMBuildCall2(builder, type, function, args, (unsigned)n, "");
    unsigned kind = LLVMGetEnumAttributeKindForName(nobuiltin, sizeof nobuiltin - 1);
    LLVMAddCallSiteAttribute(result, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(r->context, kind, 0));
    return result;
}

static void define_lanes(Render *r, LlValue function, LlValue library, LoType type, int n)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(r->context);
    LlValue result = LLVMGetPoison(render_type(r, type)), x[MAX_MATH_ARGS];
    LLVMSetLinkage(function, LLVMInternalLinkage);
    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(r->context, function, "entry"));
    for (int i = 0; i < lo_lanes(type); i++) {
        LlValue lane = LLVMConstInt(render_type(r, lo_i32), (unsigned long long)i, false);
        for (int j = 0; j < n; j++)
            x[j] = LLVMBuildExtractElement(builder, LLVMGetParam(function, (unsigned)j), lane, "");
        LlValue one = call(r, builder, library, x, n);
        result = LLVMBuildInsertElement(builder, result, one, lane, "");
    }
    LLVMBuildRet(builder, result);
    LLVMDisposeBuilder(builder);
}

/* A function of the module that calls the library once a lane. */
static LlValue lane_function(Render *r, LlValue library, const char *name, LoType type, int n)
{
    char symbol[48];
    bool is_new;
    snprintf(symbol, sizeof symbol, "lanes.%s.%d.%d", name, lo_lanes(type),
             lo_element(type) == lo_f64);
    LlValue function = find_or_add(r, symbol, render_type(r, type), n, &is_new);
    if (is_new)
        define_lanes(r, function, library, type, n);
    return function;
}

LlValue render_math(Render *r, const LoOp *op)
{
    LlValue x[MAX_MATH_ARGS],
        function = library_function(r, op->name, lo_element(op->type), op->n_args);
    for (int i = 0; i < op->n_args; i++)
        x[i] = render_arg(r, op, i);
    if (lo_is_vector(op->type))
        function = lane_function(r, function, op->name, op->type, op->n_args);
    return call(r, r->builder, function, x, op->n_args);
}
