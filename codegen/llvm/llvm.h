/* LLVM's C API as this project uses it: calls of the functions below that would use LLVM's global
 * context do not compile after this header.
 *
 * The functions are those of functions.def. None may be called before llvm_load has succeeded;
 * target_init calls it. */
#ifndef CODEGEN_LLVM_LLVM_H
#define CODEGEN_LLVM_LLVM_H

#include "base/diag.h"
#include "base/sha256.h"

#include <llvm-c/Core.h>

#pragma GCC poison LLVMGetGlobalContext LLVMInt1Type LLVMInt8Type LLVMInt16Type LLVMInt32Type
#pragma GCC poison LLVMInt64Type LLVMFloatType LLVMDoubleType LLVMVoidType LLVMCreateBuilder
#pragma GCC poison LLVMModuleCreateWithName LLVMAppendBasicBlock LLVMConstString LLVMConstStruct

typedef LLVMValueRef LlValue;
typedef LLVMTypeRef LlType;
typedef LLVMBasicBlockRef LlBlock;

/* Loads the library unless it is loaded; any thread may call. False after errors. */
bool llvm_load(Diagnostics *diags);
/* Adds the identity of the build of LLVM that llvm_load takes. It comes from the library's file;
 * the library is loaded only if that is no longer where it was when tfc was built. */
void llvm_add_build(Sha256 *sha);

#endif
