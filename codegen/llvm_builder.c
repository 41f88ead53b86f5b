/* The layer over LLVM's C API; see llvm_builder.h. */
#include "codegen/llvm_builder.h"

#include <assert.h>
#include <string.h>

enum { MAX_LANES = 64 };

void ll_init(Ll *ll, LLVMContextRef context, LLVMModuleRef module)
{
    *ll =
        (Ll){.context = context, .module = module, .builder = LLVMCreateBuilderInContext(context)};
    ll->i1 = LLVMInt1TypeInContext(context);
    ll->i8 = LLVMInt8TypeInContext(context);
    ll->i16 = LLVMInt16TypeInContext(context);
    ll->i32 = LLVMInt32TypeInContext(context);
    ll->i64 = LLVMInt64TypeInContext(context);
    ll->f32 = LLVMFloatTypeInContext(context);
    ll->f64 = LLVMDoubleTypeInContext(context);
    ll->ptr = LLVMPointerTypeInContext(context, 0);
}

void ll_dispose(Ll *ll) { LLVMDisposeBuilder(ll->builder); }

void ll_begin_function(Ll *ll, LlValue function)
{
    ll->function = function;
    ll->entry = ll_new_block(ll, "entry");
    ll_at_block(ll, ll->entry);
}

/* ---- types ---- */

int ll_lanes(LlType type) { return ll_is_vector(type) ? (int)LLVMGetVectorSize(type) : 1; }

LlType ll_element(LlType type) { return ll_is_vector(type) ? LLVMGetElementType(type) : type; }

LlType ll_vector(LlType element, int lanes)
{
    return lanes == 1 ? element : LLVMVectorType(element, (unsigned)lanes);
}

LlType ll_like(LlType shape, LlType element) { return ll_vector(element, ll_lanes(shape)); }

LlType ll_of_value(LlValue value) { return LLVMTypeOf(value); }

/* ---- constants ---- */

static LlValue splat_constant(LlType type, LlValue scalar)
{
    LlValue lanes[MAX_LANES];
    int n = ll_lanes(type);
    if (!ll_is_vector(type))
        return scalar;
    assert(n <= MAX_LANES);
    for (int i = 0; i < n; i++)
        lanes[i] = scalar;
    return LLVMConstVector(lanes, (unsigned)n);
}

LlValue ll_int(LlType type, int64_t value)
{
    return splat_constant(type, LLVMConstInt(ll_element(type), (unsigned long long)value, true));
}

LlValue ll_real(LlType type, double value)
{
    return splat_constant(type, LLVMConstReal(ll_element(type), value));
}

LlValue ll_i64(Ll *ll, int64_t value)
{
    return LLVMConstInt(ll->i64, (unsigned long long)value, true);
}

LlValue ll_iota(Ll *ll, LlType element, int lanes)
{
    LlValue numbers[MAX_LANES];
    assert(lanes <= MAX_LANES);
    for (int i = 0; i < lanes; i++)
        numbers[i] = ll_int(element, i);
    return lanes == 1 ? numbers[0] : LLVMConstVector(numbers, (unsigned)lanes);
}

LlValue ll_splat(Ll *ll, LlValue scalar, int lanes)
{
    if (lanes == 1)
        return scalar;
    LlType type = ll_vector(LLVMTypeOf(scalar), lanes);
    if (LLVMIsConstant(scalar))
        return splat_constant(type, scalar);
    LlValue first =
        LLVMBuildInsertElement(ll->builder, LLVMGetPoison(type), scalar, ll_int(ll->i32, 0), "");
    return LLVMBuildShuffleVector(ll->builder, first, LLVMGetPoison(type),
                                  LLVMConstNull(ll_vector(ll->i32, lanes)), "");
}

LlValue ll_lanes_below(Ll *ll, LlValue count, int64_t first, int lanes)
{
    LlValue left = LLVMBuildTrunc(ll->builder, count, ll->i32, "");
    left = LLVMBuildSub(ll->builder, left, ll_int(ll->i32, first), "");
    return LLVMBuildICmp(ll->builder, LLVMIntSGT, ll_splat(ll, left, lanes),
                         ll_iota(ll, ll->i32, lanes), "");
}

/* ---- arithmetic ---- */

/* a·b + c may become one fused operation; no sum is reordered. */
static LlValue contract(LlValue value)
{
    if (LLVMIsAInstruction(value) && LLVMCanValueUseFastMathFlags(value))
        LLVMSetFastMathFlags(value, LLVMFastMathAllowContract);
    return value;
}

LlValue ll_fadd(Ll *ll, LlValue a, LlValue b)
{
    return contract(LLVMBuildFAdd(ll->builder, a, b, ""));
}
LlValue ll_fsub(Ll *ll, LlValue a, LlValue b)
{
    return contract(LLVMBuildFSub(ll->builder, a, b, ""));
}
LlValue ll_fmul(Ll *ll, LlValue a, LlValue b)
{
    return contract(LLVMBuildFMul(ll->builder, a, b, ""));
}
LlValue ll_fdiv(Ll *ll, LlValue a, LlValue b) { return LLVMBuildFDiv(ll->builder, a, b, ""); }

LlValue ll_min(Ll *ll, LlValue a, LlValue b)
{
    return LLVMBuildSelect(ll->builder, LLVMBuildICmp(ll->builder, LLVMIntSLT, a, b, ""), a, b, "");
}

LlValue ll_max(Ll *ll, LlValue a, LlValue b)
{
    return LLVMBuildSelect(ll->builder, LLVMBuildICmp(ll->builder, LLVMIntSGT, a, b, ""), a, b, "");
}

LlValue ll_intrinsic(Ll *ll, const char *name, int n_types, LlType *types, int n_args,
                     LlValue *args)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    assert(id && "no such intrinsic");
    LlValue callee = LLVMGetIntrinsicDeclaration(ll->module, id, types, (size_t)n_types);
    LlType type = LLVMIntrinsicGetType(ll->context, id, types, (size_t)n_types);
    return LLVMBuildCall2(ll->builder, type, callee, args, (unsigned)n_args, "");
}

LlValue ll_unary(Ll *ll, const char *name, LlValue x)
{
    LlType type = LLVMTypeOf(x);
    return ll_intrinsic(ll, name, 1, &type, 1, &x);
}

LlValue ll_muladd(Ll *ll, LlValue a, LlValue b, LlValue c)
{
    LlType type = LLVMTypeOf(a);
    return ll_intrinsic(ll, "llvm.fmuladd", 1, &type, 3, (LlValue[]){a, b, c});
}

static bool is_constant(LlValue v, int64_t number)
{
    return LLVMIsAConstantInt(v) && LLVMConstIntGetSExtValue(v) == number;
}

LlValue ll_index_add(Ll *ll, LlValue a, LlValue b)
{
    if (!a || is_constant(a, 0))
        return b && !is_constant(b, 0) ? b : NULL;
    if (!b || is_constant(b, 0))
        return a;
    return LLVMBuildNSWAdd(ll->builder, a, b, "");
}

LlValue ll_index_mul(Ll *ll, LlValue a, LlValue b)
{
    if (!a || !b || is_constant(a, 0) || is_constant(b, 0))
        return NULL;
    if (is_constant(a, 1))
        return b;
    if (is_constant(b, 1))
        return a;
    return LLVMBuildNSWMul(ll->builder, a, b, "");
}

/* ---- bf16 ---- */

/* What is cut off decides by being added to, with half an ulp and the last bit that
 * stays. A NaN is made quiet instead: the bits that say so might be all cut off. */
LlValue ll_bf16_round(Ll *ll, LlValue x)
{
    LlType type = LLVMTypeOf(x), word = ll_like(type, ll->i32);
    LlValue bits = LLVMBuildBitCast(ll->builder, x, word, "");
    LlValue last = LLVMBuildAnd(ll->builder, LLVMBuildLShr(ll->builder, bits, ll_int(word, 16), ""),
                                ll_int(word, 1), "");
    LlValue half = LLVMBuildAdd(ll->builder, last, ll_int(word, 0x7FFF), "");
    LlValue nearest = LLVMBuildAdd(ll->builder, bits, half, "");
    LlValue quiet = LLVMBuildOr(ll->builder, bits, ll_int(word, 0x400000), "");
    LlValue is_nan = LLVMBuildFCmp(ll->builder, LLVMRealUNO, x, x, "");
    LlValue rounded = LLVMBuildSelect(ll->builder, is_nan, quiet, nearest, "");
    rounded = LLVMBuildAnd(ll->builder, rounded, ll_int(word, -0x10000), "");
    return LLVMBuildBitCast(ll->builder, rounded, type, "");
}

LlValue ll_bf16_bits(Ll *ll, LlValue rounded)
{
    LlType type = LLVMTypeOf(rounded), word = ll_like(type, ll->i32);
    LlValue bits = LLVMBuildBitCast(ll->builder, rounded, word, "");
    bits = LLVMBuildLShr(ll->builder, bits, ll_int(word, 16), "");
    return LLVMBuildTrunc(ll->builder, bits, ll_like(type, ll->i16), "");
}

LlValue ll_bf16_value(Ll *ll, LlValue bits)
{
    LlType type = LLVMTypeOf(bits), word = ll_like(type, ll->i32);
    LlValue wide = LLVMBuildZExt(ll->builder, bits, word, "");
    wide = LLVMBuildShl(ll->builder, wide, ll_int(word, 16), "");
    return LLVMBuildBitCast(ll->builder, wide, ll_like(type, ll->f32), "");
}

/* ---- memory ---- */

LlValue ll_alloca(Ll *ll, LlType type, const char *name)
{
    LlValue first = LLVMGetFirstInstruction(ll->entry);
    if (first)
        LLVMPositionBuilderBefore(ll->builder, first);
    else
        LLVMPositionBuilderAtEnd(ll->builder, ll->entry);
    LlValue slot = LLVMBuildAlloca(ll->builder, type, name);
    ll_resume(ll);
    return slot;
}

LlValue ll_gep(Ll *ll, LlType element, LlValue pointer, LlValue index)
{
    return index ? LLVMBuildGEP2(ll->builder, element, pointer, &index, 1, "") : pointer;
}

LlValue ll_load(Ll *ll, LlType type, LlValue pointer, unsigned align)
{
    LlValue value = LLVMBuildLoad2(ll->builder, type, pointer, "");
    LLVMSetAlignment(value, align);
    return value;
}

LlValue ll_load_pointer(Ll *ll, LlValue pointers, int64_t i)
{
    return LLVMBuildLoad2(ll->builder, ll->ptr, ll_gep(ll, ll->ptr, pointers, ll_i64(ll, i)), "");
}

void ll_store(Ll *ll, LlValue value, LlValue pointer, unsigned align)
{
    LLVMSetAlignment(LLVMBuildStore(ll->builder, value, pointer), align);
}

LlValue ll_masked_load(Ll *ll, LlType type, LlValue pointer, LlValue mask, unsigned align)
{
    return ll_intrinsic(ll, "llvm.masked.load", 2, (LlType[]){type, ll->ptr}, 4,
                        (LlValue[]){pointer, ll_int(ll->i32, align), mask, LLVMConstNull(type)});
}

void ll_masked_store(Ll *ll, LlValue value, LlValue pointer, LlValue mask, unsigned align)
{
    ll_intrinsic(ll, "llvm.masked.store", 2, (LlType[]){LLVMTypeOf(value), ll->ptr}, 4,
                 (LlValue[]){value, pointer, ll_int(ll->i32, align), mask});
}

void ll_prefetch(Ll *ll, LlValue pointer)
{
    enum { READ, LOCALITY = 2, DATA = 1 };
    ll_intrinsic(ll, "llvm.prefetch", 1, &ll->ptr, 4,
                 (LlValue[]){pointer, ll_int(ll->i32, READ), ll_int(ll->i32, LOCALITY),
                             ll_int(ll->i32, DATA)});
}

LlValue ll_gather(Ll *ll, LlType type, LlValue pointers, LlValue mask, unsigned align)
{
    return ll_intrinsic(ll, "llvm.masked.gather", 2, (LlType[]){type, LLVMTypeOf(pointers)}, 4,
                        (LlValue[]){pointers, ll_int(ll->i32, align), mask, LLVMConstNull(type)});
}

void ll_scatter(Ll *ll, LlValue value, LlValue pointers, LlValue mask, unsigned align)
{
    ll_intrinsic(ll, "llvm.masked.scatter", 2, (LlType[]){LLVMTypeOf(value), LLVMTypeOf(pointers)},
                 4, (LlValue[]){value, pointers, ll_int(ll->i32, align), mask});
}

/* ---- control ---- */

LlBlock ll_new_block(Ll *ll, const char *name)
{
    return LLVMAppendBasicBlockInContext(ll->context, ll->function, name);
}

void ll_at_block(Ll *ll, LlBlock block)
{
    ll->block = block;
    LLVMPositionBuilderAtEnd(ll->builder, block);
}

void ll_resume(Ll *ll) { LLVMPositionBuilderAtEnd(ll->builder, ll->block); }

LlValue ll_seam(Ll *ll, const char *name)
{
    ll_resume(ll);
    LlBlock next = ll_new_block(ll, name);
    LlValue jump = LLVMBuildBr(ll->builder, next);
    ll_at_block(ll, next);
    return jump;
}

LlLoop ll_loop_open(Ll *ll, LlValue start, LlValue end, int64_t step, const char *name)
{
    LlLoop loop = {.head = ll_new_block(ll, name), .step = ll_i64(ll, step)};
    LlBlock before = ll->block, body = ll_new_block(ll, "");
    loop.done = ll_new_block(ll, "");
    ll_resume(ll);
    LLVMBuildBr(ll->builder, loop.head);
    ll_at_block(ll, loop.head);
    loop.index = LLVMBuildPhi(ll->builder, ll->i64, "");
    LLVMAddIncoming(loop.index, &start, &before, 1);
    LLVMBuildCondBr(ll->builder, LLVMBuildICmp(ll->builder, LLVMIntSLT, loop.index, end, ""), body,
                    loop.done);
    ll_at_block(ll, body);
    return loop;
}

void ll_loop_close(Ll *ll, LlLoop *loop)
{
    ll_resume(ll);
    LlValue next = LLVMBuildNSWAdd(ll->builder, loop->index, loop->step, "");
    LLVMAddIncoming(loop->index, &next, &ll->block, 1);
    LLVMBuildBr(ll->builder, loop->head);
    ll_at_block(ll, loop->done);
}

void ll_while_open(Ll *ll, LlWhile *loop, LlValue *left, LlValue step)
{
    LlBlock before = ll->block, body = ll_new_block(ll, "");
    loop->head = ll_new_block(ll, "while");
    loop->done = ll_new_block(ll, "");
    LLVMBuildBr(ll->builder, loop->head);
    ll_at_block(ll, loop->head);
    loop->values[loop->n++] = left;
    for (int i = 0; i < loop->n; i++) {
        LlValue start = *loop->values[i];
        loop->phis[i] = LLVMBuildPhi(ll->builder, LLVMTypeOf(start), "");
        LLVMAddIncoming(loop->phis[i], &start, &before, 1);
        *loop->values[i] = loop->phis[i];
    }
    LlValue more = LLVMBuildICmp(ll->builder, LLVMIntSGE, *left, step, "");
    LLVMBuildCondBr(ll->builder, more, body, loop->done);
    ll_at_block(ll, body);
}

void ll_while_close(Ll *ll, LlWhile *loop)
{
    for (int i = 0; i < loop->n; i++) {
        LLVMAddIncoming(loop->phis[i], loop->values[i], &ll->block, 1);
        *loop->values[i] = loop->phis[i];
    }
    LLVMBuildBr(ll->builder, loop->head);
    ll_at_block(ll, loop->done);
}

LlIf ll_if_open(Ll *ll, LlValue condition)
{
    LlIf branch = {ll_new_block(ll, "")};
    LlBlock then = ll_new_block(ll, "");
    ll_resume(ll);
    LLVMBuildCondBr(ll->builder, condition, then, branch.done);
    ll_at_block(ll, then);
    return branch;
}

void ll_if_close(Ll *ll, LlIf *branch)
{
    ll_resume(ll);
    LLVMBuildBr(ll->builder, branch->done);
    ll_at_block(ll, branch->done);
}
