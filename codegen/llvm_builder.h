/* A thin layer over LLVM's C API: one function being written, in one context.
 * Every helper takes scalars or vectors alike and adds the flags this project
 * wants (contraction of a·b + c; nothing that reorders sums).
 *
 * Calls that would use LLVM's global context do not compile after this header. */
#ifndef CODEGEN_LLVM_BUILDER_H
#define CODEGEN_LLVM_BUILDER_H

#include <llvm-c/Core.h>

#include <stdbool.h>
#include <stdint.h>

#pragma GCC poison LLVMGetGlobalContext LLVMInt1Type LLVMInt8Type LLVMInt16Type LLVMInt32Type
#pragma GCC poison LLVMInt64Type LLVMFloatType LLVMDoubleType LLVMVoidType LLVMCreateBuilder
#pragma GCC poison LLVMModuleCreateWithName LLVMAppendBasicBlock LLVMConstString LLVMConstStruct

typedef LLVMValueRef LlValue;
typedef LLVMTypeRef LlType;
typedef LLVMBasicBlockRef LlBlock;

typedef struct Ll {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LlValue function;
    LlBlock entry; /* allocas go to its beginning */
    LlBlock block; /* where straight-line code goes on */
    LlType i1, i8, i16, i32, i64, f32, f64, ptr;
} Ll;

void ll_init(Ll *ll, LLVMContextRef context, LLVMModuleRef module);
void ll_dispose(Ll *ll);
/* Opens a function; the builder stands at the end of its entry block. */
void ll_begin_function(Ll *ll, LlValue function);

/* ---- types ---- */
static inline bool ll_is_vector(LlType type) { return LLVMGetTypeKind(type) == LLVMVectorTypeKind; }
int ll_lanes(LlType type);                    /* 1 for a scalar */
LlType ll_element(LlType type);               /* of a vector; a scalar's own */
LlType ll_vector(LlType element, int lanes);  /* the element itself for one lane */
LlType ll_like(LlType shape, LlType element); /* element with the lanes of `shape` */
LlType ll_of_value(LlValue value);

/* ---- constants: splats of the given scalar or vector type ---- */
LlValue ll_int(LlType type, int64_t value);
LlValue ll_real(LlType type, double value);
LlValue ll_i64(Ll *ll, int64_t value);
LlValue ll_iota(Ll *ll, LlType element, int lanes); /* 0, 1, 2, … */
LlValue ll_splat(Ll *ll, LlValue scalar, int lanes);
/* The mask of lanes l with first + l < count, an i64 that an i32 holds. */
LlValue ll_lanes_below(Ll *ll, LlValue count, int64_t first, int lanes);

/* ---- arithmetic ---- */
LlValue ll_fadd(Ll *ll, LlValue a, LlValue b);
LlValue ll_fsub(Ll *ll, LlValue a, LlValue b);
LlValue ll_fmul(Ll *ll, LlValue a, LlValue b);
LlValue ll_fdiv(Ll *ll, LlValue a, LlValue b);
LlValue ll_muladd(Ll *ll, LlValue a, LlValue b,
                  LlValue c); /* a·b + c, one rounding where the target can */
/* Index arithmetic, no signed wrap; NULL stands for zero, and zero is given as NULL. */
LlValue ll_index_add(Ll *ll, LlValue a, LlValue b);
LlValue ll_index_mul(Ll *ll, LlValue a, LlValue b);
LlValue ll_min(Ll *ll, LlValue a, LlValue b); /* of signed integers */
LlValue ll_max(Ll *ll, LlValue a, LlValue b);
/* A call of an overloaded intrinsic, such as llvm.sqrt. */
LlValue ll_intrinsic(Ll *ll, const char *name, int n_types, LlType *types, int n_args,
                     LlValue *args);
LlValue ll_unary(Ll *ll, const char *name, LlValue x); /* intrinsic overloaded on its one operand */

/* ---- bf16: in memory the upper half of an f32 as i16, in registers an f32 ----
 *
 * Integer arithmetic on every target: vcvtneps2bf16 takes denormals for zero, so
 * that a machine that has it would give other bits than one that has not. */
LlValue ll_bf16_round(Ll *ll, LlValue x);      /* f32: to nearest, ties to even; NaN stays NaN */
LlValue ll_bf16_bits(Ll *ll, LlValue rounded); /* f32 that bf16 holds → i16 */
LlValue ll_bf16_value(Ll *ll, LlValue bits);   /* i16 → f32 */

/* ---- memory ---- */
LlValue ll_alloca(Ll *ll, LlType type, const char *name);
LlValue ll_gep(Ll *ll, LlType element, LlValue pointer,
               LlValue index); /* index NULL: the pointer */
LlValue ll_load(Ll *ll, LlType type, LlValue pointer, unsigned align);
LlValue ll_load_pointer(Ll *ll, LlValue pointers, int64_t i); /* of an array of them */
void ll_store(Ll *ll, LlValue value, LlValue pointer, unsigned align);
/* Lanes whose mask is off are neither read nor written; read ones are zero. */
LlValue ll_masked_load(Ll *ll, LlType type, LlValue pointer, LlValue mask, unsigned align);
void ll_masked_store(Ll *ll, LlValue value, LlValue pointer, LlValue mask, unsigned align);
/* Asks for the line of memory; an address that does not exist does no harm. */
void ll_prefetch(Ll *ll, LlValue pointer);
LlValue ll_gather(Ll *ll, LlType type, LlValue pointers, LlValue mask, unsigned align);
void ll_scatter(Ll *ll, LlValue value, LlValue pointers, LlValue mask, unsigned align);

/* ---- control ---- */
LlBlock ll_new_block(Ll *ll, const char *name);
void ll_at_block(Ll *ll, LlBlock block); /* straight-line code goes on at its end */
void ll_resume(Ll *ll);                  /* the builder back to the end of ll->block */
/* Ends the current block with a jump to a fresh one and gives the jump: code that
 * must come before what follows is put before it. */
LlValue ll_seam(Ll *ll, const char *name);

/* for (index = start; index < end; index += step) */
typedef struct LlLoop {
    LlBlock head, done;
    LlValue index, step;
} LlLoop;
LlLoop ll_loop_open(Ll *ll, LlValue start, LlValue end, int64_t step, const char *name);
void ll_loop_close(Ll *ll, LlLoop *loop);
/* while (*left >= step): every value is at the head what it was before or at the end of the body, and
 * after the loop what it was last. The caller gives n values; `left` becomes one more. */
enum { LL_MAX_CARRIED = 72 };
typedef struct LlWhile {
    LlValue *values[LL_MAX_CARRIED], phis[LL_MAX_CARRIED];
    int n;
    LlBlock head, done;
} LlWhile;
void ll_while_open(Ll *ll, LlWhile *loop, LlValue *left, LlValue step);
void ll_while_close(Ll *ll, LlWhile *loop);
/* if (condition) { … } */
typedef struct LlIf {
    LlBlock done;
} LlIf;
LlIf ll_if_open(Ll *ll, LlValue condition);
void ll_if_close(Ll *ll, LlIf *branch);

#endif
