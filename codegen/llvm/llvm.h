/* LLVM's C API as this project uses it: calls that would use LLVM's global context do not compile
 * after this header. */
#ifndef CODEGEN_LLVM_LLVM_H
#define CODEGEN_LLVM_LLVM_H

#include <llvm-c/Core.h>

#pragma GCC poison LLVMGetGlobalContext LLVMInt1Type LLVMInt8Type LLVMInt16Type LLVMInt32Type
#pragma GCC poison LLVMInt64Type LLVMFloatType LLVMDoubleType LLVMVoidType LLVMCreateBuilder
#pragma GCC poison LLVMModuleCreateWithName LLVMAppendBasicBlock LLVMConstString LLVMConstStruct

typedef LLVMValueRef LlValue;
typedef LLVMTypeRef LlType;
typedef LLVMBasicBlockRef LlBlock;

#endif
