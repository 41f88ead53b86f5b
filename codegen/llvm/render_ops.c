/* Ops of loop IR except control, as LLVM instructions and intrinsics. */
#include "codegen/llvm/render_state.h"

#include "codegen/loop/build.h"

#include <assert.h>
#include <math.h>

/* ---- arithmetic: each op rounds by itself, but for muladd ---- */

/* Of floats and of integers. */
typedef struct Binary {
    LLVMOpcode real, integer;
} Binary;

static const Binary binaries[LO_KINDS] = {
    [LO_add] = {LLVMFAdd, LLVMAdd},  [LO_sub] = {LLVMFSub, LLVMSub}, [LO_mul] = {LLVMFMul, LLVMMul},
    [LO_div] = {LLVMFDiv, LLVMSDiv}, [LO_rem] = {0, LLVMSRem},       [LO_udiv] = {0, LLVMUDiv},
    [LO_urem] = {0, LLVMURem},       [LO_and] = {0, LLVMAnd},        [LO_or] = {0, LLVMOr},
    [LO_xor] = {0, LLVMXor},         [LO_shl] = {0, LLVMShl},        [LO_lshr] = {0, LLVMLShr},
    [LO_ashr] = {0, LLVMAShr},
};

static LlValue render_binary(Render *r, const LoOp *op)
{
    LlValue a = render_arg(r, op, 0), b = render_arg(r, op, 1);
    const Binary *by = &binaries[op->kind];
    return LLVMBuildBinOp(r->builder, lo_is_float(op->type) ? by->real : by->integer, a, b, "");
}

static LlValue render_index(Render *r, const LoOp *op)
{
    LlValue a = render_arg(r, op, 0), b = render_arg(r, op, 1);
    return (op->kind == LO_iadd   ? LLVMBuildNSWAdd
            : op->kind == LO_isub ? LLVMBuildNSWSub
                                  : LLVMBuildNSWMul)(r->builder, a, b, "");
}

typedef struct Comparison {
    LLVMRealPredicate real;
    LLVMIntPredicate integer;
} Comparison;

static const Comparison comparisons[LO_KINDS] = {
    [LO_lt] = {LLVMRealOLT, LLVMIntSLT}, [LO_le] = {LLVMRealOLE, LLVMIntSLE},
    [LO_gt] = {LLVMRealOGT, LLVMIntSGT}, [LO_ge] = {LLVMRealOGE, LLVMIntSGE},
    [LO_eq] = {LLVMRealOEQ, LLVMIntEQ},  [LO_ne] = {LLVMRealUNE, LLVMIntNE},
    [LO_ult] = {0, LLVMIntULT},          [LO_ule] = {0, LLVMIntULE},
    [LO_uge] = {0, LLVMIntUGE},          [LO_unordered] = {LLVMRealUNO, 0},
};

static LlValue render_comparison(Render *r, const LoOp *op)
{
    LlValue a = render_arg(r, op, 0), b = render_arg(r, op, 1);
    const Comparison *by = &comparisons[op->kind];
    return lo_is_float(op->args[0]->type) ? LLVMBuildFCmp(r->builder, by->real, a, b, "")
                                          : LLVMBuildICmp(r->builder, by->integer, a, b, "");
}

/* An intrinsic that is overloaded on its result's type. */
static LlValue overloaded(Render *r, const LoOp *op, const char *name)
{
    LlType type = render_type(r, op->type);
    LlValue args[3];
    for (int i = 0; i < op->n_args; i++)
        args[i] = render_arg(r, op, i);
    return render_intrinsic(r, name, 1, &type, op->n_args, args);
}

static LlValue render_neg(Render *r, const LoOp *op)
{
    LlValue x = render_arg(r, op, 0);
    return lo_is_float(op->type) ? LLVMBuildFNeg(r->builder, x, "")
                                 : LLVMBuildNeg(r->builder, x, "");
}

static LlValue render_abs(Render *r, const LoOp *op)
{
    LlType type = render_type(r, op->type);
    LlValue least_is_poison = LLVMConstInt(render_type(r, lo_i1), 0, false);
    if (lo_is_float(op->type))
        return overloaded(r, op, "llvm.fabs");
    return render_intrinsic(r, "llvm.abs", 1, &type, 2,
                            (LlValue[]){render_arg(r, op, 0), least_is_poison});
}

/* By the one instruction that AVX-512 has for it. */
static LlValue render_scale2(Render *r, const LoOp *op)
{
    enum { ROUND_AS_SET = 4, LANES = 16 };
    assert(op->type == lo_vector(lo_f32, LANES));
    LlValue all = LLVMConstAllOnes(LLVMIntTypeInContext(r->context, LANES));
    LlValue x = render_arg(r, op, 0),
            how = LLVMConstInt(render_type(r, lo_i32), ROUND_AS_SET, false);
    return render_intrinsic(r, "llvm.x86.avx512.mask.scalef.ps.512", 0, NULL, 5,
                            (LlValue[]){x, render_arg(r, op, 1), x, all, how});
}

static LlValue render_pair_dot(Render *r, const LoOp *op)
{
    LlType bf16 = LLVMBFloatTypeInContext(r->context);
    LlType pairs = LLVMVectorType(bf16, 2 * (unsigned)lo_lanes(op->type));
    LlValue a = LLVMBuildBitCast(r->builder, render_arg(r, op, 1), pairs, "");
    LlValue b = LLVMBuildBitCast(r->builder, render_arg(r, op, 2), pairs, "");
    return render_intrinsic(r, "llvm.x86.avx512bf16.dpbf16ps.512", 0, NULL, 3,
                            (LlValue[]){render_arg(r, op, 0), a, b});
}

/* The value itself. LLVM does not see that, and so does not form sums of sums in another order, for
 * which a tile has no registers: its loop would keep values in memory. */
static LlValue render_opaque(Render *r, LlValue x)
{
    static char none[] = "", same[] = "=v,0";
    LlType type = LLVMTypeOf(x), function = LLVMFunctionType(type, &type, 1, false);
    LlValue code = LLVMGetInlineAsm(function, none, 0, same, sizeof same - 1, false, false,
                                    LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(r->builder, function, code, &x, 1, "");
}

static LlValue render_word_dot(Render *r, const LoOp *op)
{
    const bool wasm = strstr(LLVMGetTarget(r->module), "wasm");
    const unsigned lanes = (unsigned)lo_lanes(op->type);
    const char *name = wasm         ? "llvm.wasm.dot"
                       : lanes == 4 ? "llvm.x86.sse2.pmadd.wd"
                       : lanes == 8 ? "llvm.x86.avx2.pmadd.wd"
                                    : "llvm.x86.avx512.pmaddw.d.512";
    LlType words = LLVMVectorType(LLVMInt16TypeInContext(r->context), 2 * lanes);
    LlValue a = LLVMBuildBitCast(r->builder, render_arg(r, op, 1), words, "");
    LlValue b = LLVMBuildBitCast(r->builder, render_arg(r, op, 2), words, "");
    LlValue pair = render_intrinsic(r, name, 0, NULL, 2, (LlValue[]){a, b});
    LlValue sum = LLVMBuildAdd(r->builder, render_arg(r, op, 0), pair, "");
    return wasm ? sum : render_opaque(r, sum);
}

static LlValue render_byte_dot(Render *r, const LoOp *op)
{
    const char *name =
        lo_lanes(op->type) == 8 ? "llvm.x86.avx512.vpdpbusd.256" : "llvm.x86.avx512.vpdpbusd.512";
    LlValue args[] = {render_arg(r, op, 0), render_arg(r, op, 1), render_arg(r, op, 2)};
    return render_intrinsic(r, name, 0, NULL, 3, args);
}

static LlValue render_byte_pairs(Render *r, const LoOp *op)
{
    const unsigned lanes = (unsigned)lo_lanes(op->type);
    const char *name = lanes == 4   ? "llvm.x86.ssse3.pmadd.ub.sw.128"
                       : lanes == 8 ? "llvm.x86.avx2.pmadd.ub.sw"
                                    : "llvm.x86.avx512.pmaddubs.w.512";
    LlType bytes = LLVMVectorType(LLVMInt8TypeInContext(r->context), 4 * lanes),
           words = LLVMVectorType(LLVMInt16TypeInContext(r->context), 2 * lanes);
    LlValue args[] = {LLVMBuildBitCast(r->builder, render_arg(r, op, 1), bytes, ""),
                      LLVMBuildBitCast(r->builder, render_arg(r, op, 2), bytes, "")};
    LlValue pairs = render_intrinsic(r, name, 0, NULL, 2, args);
    LlValue sum = LLVMBuildBitCast(r->builder, render_arg(r, op, 0), words, "");
    return LLVMBuildBitCast(r->builder, LLVMBuildAdd(r->builder, sum, pairs, ""),
                            render_type(r, op->type), "");
}

/* Of four lanes. */
static LlValue render_signed_dot(Render *r, const LoOp *op)
{
    enum { LANES = 4, BYTES = 16 };
    assert(lo_lanes(op->type) == LANES);
    LlType bytes = LLVMVectorType(LLVMInt8TypeInContext(r->context), BYTES);
    LlType types[] = {render_type(r, op->type), bytes};
    LlValue args[] = {render_arg(r, op, 0),
                      LLVMBuildBitCast(r->builder, render_arg(r, op, 1), bytes, ""),
                      LLVMBuildBitCast(r->builder, render_arg(r, op, 2), bytes, "")};
    return render_intrinsic(r, "llvm.aarch64.neon.sdot", 2, types, 3, args);
}

/* ---- types and lanes ---- */

static const LLVMOpcode casts[LO_KINDS] = {
    [LO_trunc] = LLVMTrunc,     [LO_zext] = LLVMZExt,        [LO_sext] = LLVMSExt,
    [LO_from_int] = LLVMSIToFP, [LO_from_uint] = LLVMUIToFP, [LO_bitcast] = LLVMBitCast,
};

static LlValue render_cast(Render *r, const LoOp *op)
{
    LlType type = render_type(r, op->type);
    LlValue x = render_arg(r, op, 0);
    return op->kind == LO_fcast ? LLVMBuildFPCast(r->builder, x, type, "")
                                : LLVMBuildCast(r->builder, casts[op->kind], x, type, "");
}

static LlValue render_to_int(Render *r, const LoOp *op)
{
    LlType types[] = {render_type(r, op->type), render_type(r, op->args[0]->type)};
    LlValue x = render_arg(r, op, 0);
    return render_intrinsic(r, "llvm.fptosi.sat", 2, types, 1, &x);
}

static LlValue lane_number(const Render *r, int lane)
{
    return LLVMConstInt(render_type(r, lo_i32), (unsigned long long)lane, false);
}

static LlValue render_splat(Render *r, const LoOp *op)
{
    LlValue none = LLVMGetPoison(render_type(r, op->type));
    LlValue first =
        LLVMBuildInsertElement(r->builder, none, render_arg(r, op, 0), lane_number(r, 0), "");
    LlType order = render_type(r, lo_like(op->type, lo_i32));
    return LLVMBuildShuffleVector(r->builder, first, none, LLVMConstNull(order), "");
}

static LlValue render_shuffle(Render *r, const LoOp *op)
{
    LlValue order[LO_MAX_LANES], a = render_arg(r, op, 0), b = render_arg(r, op, 1);
    for (int i = 0; i < op->n_order; i++)
        order[i] = lane_number(r, op->order[i]);
    if (op->args[0] == op->args[1])
        b = LLVMGetPoison(LLVMTypeOf(a));
    return LLVMBuildShuffleVector(r->builder, a, b, LLVMConstVector(order, (unsigned)op->n_order),
                                  "");
}

/* ---- memory ---- */

static LlValue aligned(const LoOp *op, LlValue access)
{
    if (op->align)
        LLVMSetAlignment(access, op->align);
    return access;
}

static LlValue render_scratch(Render *r, const LoOp *op)
{
    LlType type = render_type(r, op->element);
    const LoOp *n = op->args[0];
    const char *name = op->name ? op->name : "";
    if (!lo_is_int(n))
        return aligned(op, LLVMBuildArrayAlloca(r->builder, type, render_value(r, n), name));
    if (n->number != 1)
        type = LLVMArrayType2(type, (uint64_t)n->number);
    return aligned(op, LLVMBuildAlloca(r->builder, type, name));
}

static LlValue render_at(Render *r, const LoOp *op)
{
    LlValue index = render_arg(r, op, 1);
    return LLVMBuildGEP2(r->builder, render_type(r, op->element), render_arg(r, op, 0), &index, 1,
                         "");
}

static LlValue alignment(const Render *r, const LoOp *op)
{
    return LLVMConstInt(render_type(r, lo_i32), op->align, false);
}

/* The mask, or one of all lanes for a vector of pointers that has none. */
static LlValue mask_of(const Render *r, const LoOp *op, int at, LoType type)
{
    return op->n_args > at ? render_arg(r, op, at)
                           : LLVMConstAllOnes(render_type(r, lo_like(type, lo_i1)));
}

static LlValue alloca_at_entry(Render *r, LlType type, const char *name)
{
    LlBlock here = LLVMGetInsertBlock(r->builder), entry = LLVMGetEntryBasicBlock(r->function);
    LlValue first = LLVMGetFirstInstruction(entry);
    if (first)
        LLVMPositionBuilderBefore(r->builder, first);
    else
        LLVMPositionBuilderAtEnd(r->builder, entry);
    LlValue memory = LLVMBuildAlloca(r->builder, type, name);
    LLVMPositionBuilderAtEnd(r->builder, here);
    return memory;
}

/* A scalar under a mask: somewhere harmless is read instead. */
static LlValue render_scalar_masked(Render *r, const LoOp *op)
{
    LlType type = render_type(r, op->type);
    LlValue mask = render_arg(r, op, 1);
    if (!r->spare)
        r->spare = alloca_at_entry(r, render_type(r, lo_i64), "nothing");
    LlValue at = LLVMBuildSelect(r->builder, mask, render_arg(r, op, 0), r->spare, "");
    LlValue x = aligned(op, LLVMBuildLoad2(r->builder, type, at, ""));
    return LLVMBuildSelect(r->builder, mask, x, LLVMConstNull(type), "");
}

static LlValue render_load(Render *r, const LoOp *op)
{
    if (op->n_args == 2 && !lo_is_vector(op->type))
        return render_scalar_masked(r, op);
    LlType type = render_type(r, op->type), of_pointer = render_type(r, op->args[0]->type);
    LlValue pointer = render_arg(r, op, 0);
    bool gathers = lo_is_vector(op->args[0]->type);
    if (op->n_args == 1 && !gathers)
        return aligned(op, LLVMBuildLoad2(r->builder, type, pointer, ""));
    return render_intrinsic(
        r, gathers ? "llvm.masked.gather" : "llvm.masked.load", 2, (LlType[]){type, of_pointer}, 4,
        (LlValue[]){pointer, alignment(r, op), mask_of(r, op, 1, op->type), LLVMConstNull(type)});
}

static LlValue render_store(Render *r, const LoOp *op)
{
    LoType type = op->args[0]->type, of_pointer = op->args[1]->type;
    LlValue value = render_arg(r, op, 0), pointer = render_arg(r, op, 1);
    bool scatters = lo_is_vector(of_pointer);
    if (op->n_args == 2 && !scatters)
        return aligned(op, LLVMBuildStore(r->builder, value, pointer));
    return render_intrinsic(r, scatters ? "llvm.masked.scatter" : "llvm.masked.store", 2,
                            (LlType[]){render_type(r, type), render_type(r, of_pointer)}, 4,
                            (LlValue[]){value, pointer, alignment(r, op), mask_of(r, op, 2, type)});
}

static LlValue render_prefetch(Render *r, const LoOp *op)
{
    enum { DATA = 1, READ_LOCALITY = 2, WRITE_LOCALITY = 3 };
    bool writes = op->kind == LO_prefetch_write;
    LlType pointer = render_type(r, lo_ptr);
    return render_intrinsic(r, "llvm.prefetch", 1, &pointer, 4,
                            (LlValue[]){render_arg(r, op, 0), lane_number(r, writes),
                                        lane_number(r, writes ? WRITE_LOCALITY : READ_LOCALITY),
                                        lane_number(r, DATA)});
}

/* ---- sums over loops: in memory, which LLVM takes into registers ---- */

/* A maximum of floats is two variables side by side: the greatest of the values that are no NaN,
 * by maxps alone, and lanes of ones where one was NaN. No step waits for more than the maxps of the
 * step before. */
static bool keeps_nan(const LoOp *accumulator)
{
    return lo_is_float(accumulator->type) && lo_join_of(accumulator) == LO_JOIN_MAX;
}

static LlType nan_lanes(const Render *r, LoType type)
{
    return render_type(r, lo_like(type, lo_element_kind(type) == LO_F64 ? lo_i64 : lo_i32));
}

static LlValue nan_memory(const Render *r, const LoOp *accumulator)
{
    LlValue one = LLVMConstInt(LLVMInt32TypeInContext(r->context), 1, false);
    return LLVMBuildGEP2(r->builder, render_type(r, accumulator->type),
                         render_value(r, accumulator), &one, 1, "");
}

static LlValue render_accumulator(Render *r, const LoOp *op)
{
    LlType type = render_type(r, op->type);
    const bool is_pair = keeps_nan(op);
    LlValue memory = alloca_at_entry(r, is_pair ? LLVMArrayType2(type, 2) : type, "sum");
    LLVMBuildStore(r->builder, render_arg(r, op, 0), memory);
    if (is_pair) {
        r->values[op->id] = memory;
        LLVMBuildStore(r->builder, LLVMConstNull(nan_lanes(r, op->type)), nan_memory(r, op));
    }
    return memory;
}

static LlValue render_total(Render *r, const LoOp *op)
{
    LlType type = render_type(r, op->type), lanes = nan_lanes(r, op->type);
    LlValue sum = LLVMBuildLoad2(r->builder, type, render_arg(r, op, 0), "");
    if (!keeps_nan(op->args[0]))
        return sum;
    LlValue nans = LLVMBuildLoad2(r->builder, lanes, nan_memory(r, op->args[0]), "");
    LlValue any = LLVMBuildICmp(r->builder, LLVMIntNE, nans, LLVMConstNull(lanes), "");
    return LLVMBuildSelect(r->builder, any, LLVMConstReal(type, NAN), sum, "");
}

static void note_nans(Render *r, const LoOp *accumulator, LlValue x)
{
    LlType lanes = nan_lanes(r, accumulator->type);
    LlValue memory = nan_memory(r, accumulator);
    LlValue is_nan = LLVMBuildFCmp(r->builder, LLVMRealUNO, x, x, "");
    LlValue before = LLVMBuildLoad2(r->builder, lanes, memory, "");
    LlValue nans = LLVMBuildSelect(r->builder, is_nan, LLVMConstAllOnes(lanes), before, "");
    LLVMBuildStore(r->builder, nans, memory);
}

static LlValue render_accumulate(Render *r, const LoOp *op)
{
    LlValue memory = render_arg(r, op, 0), x = render_arg(r, op, 1), sum;
    LlValue before = LLVMBuildLoad2(r->builder, render_type(r, op->args[1]->type), memory, "");
    bool real = lo_is_float(op->args[1]->type);
    if (lo_join_of(op->args[0]) == LO_JOIN_ADD) {
        sum = (real ? LLVMBuildFAdd : LLVMBuildAdd)(r->builder, before, x, "");
    } else {
        LlValue greater = real ? LLVMBuildFCmp(r->builder, LLVMRealOGT, x, before, "")
                               : LLVMBuildICmp(r->builder, LLVMIntSGT, x, before, "");
        sum = LLVMBuildSelect(r->builder, greater, x, before, "");
    }
    LLVMBuildStore(r->builder, sum, memory);
    if (keeps_nan(op->args[0]))
        note_nans(r, op->args[0], x);
    return NULL;
}

/* ---- tile registers ---- */

static LlValue render_tile(Render *r, const LoOp *op)
{
    static const char *const names[LO_KINDS] = {
        [LO_tile_zero] = "llvm.x86.tilezero",        [LO_tile_load] = "llvm.x86.tileloadd64",
        [LO_tile_stream] = "llvm.x86.tileloaddt164", [LO_tile_store] = "llvm.x86.tilestored64",
        [LO_tile_dot] = "llvm.x86.tdpbf16ps",
    };
    LlValue args[3];
    for (int i = 0; i < op->n_args; i++)
        args[i] = render_arg(r, op, i);
    return render_intrinsic(r, names[op->kind], 0, NULL, op->n_args, args);
}

/* ---- which one ---- */

LlValue render_op(Render *r, const LoOp *op)
{
    switch (op->kind) {
    case LO_add:
    case LO_sub:
    case LO_mul:
    case LO_div:
    case LO_rem:
    case LO_udiv:
    case LO_urem:
    case LO_and:
    case LO_or:
    case LO_xor:
    case LO_shl:
    case LO_lshr:
    case LO_ashr: return render_binary(r, op);
    case LO_iadd:
    case LO_isub:
    case LO_imul: return render_index(r, op);
    case LO_lt:
    case LO_le:
    case LO_gt:
    case LO_ge:
    case LO_eq:
    case LO_ne:
    case LO_ult:
    case LO_ule:
    case LO_uge:
    case LO_unordered: return render_comparison(r, op);
    case LO_neg: return render_neg(r, op);
    case LO_abs: return render_abs(r, op);
    case LO_sqrt: return overloaded(r, op, "llvm.sqrt");
    case LO_floor: return overloaded(r, op, "llvm.floor");
    case LO_copysign: return overloaded(r, op, "llvm.copysign");
    case LO_muladd: return overloaded(r, op, "llvm.fmuladd");
    case LO_scale2: return render_scale2(r, op);
    case LO_pair_dot: return render_pair_dot(r, op);
    case LO_word_dot: return render_word_dot(r, op);
    case LO_byte_dot: return render_byte_dot(r, op);
    case LO_byte_pairs: return render_byte_pairs(r, op);
    case LO_signed_dot: return render_signed_dot(r, op);
    case LO_math: return render_math(r, op);
    case LO_select:
        return LLVMBuildSelect(r->builder, render_arg(r, op, 0), render_arg(r, op, 1),
                               render_arg(r, op, 2), "");
    case LO_trunc:
    case LO_zext:
    case LO_sext:
    case LO_fcast:
    case LO_from_int:
    case LO_from_uint:
    case LO_bitcast: return render_cast(r, op);
    case LO_to_int: return render_to_int(r, op);
    case LO_splat: return render_splat(r, op);
    case LO_extract:
        return LLVMBuildExtractElement(r->builder, render_arg(r, op, 0),
                                       lane_number(r, op->order[0]), "");
    case LO_shuffle: return render_shuffle(r, op);
    case LO_scratch: return render_scratch(r, op);
    case LO_at: return render_at(r, op);
    case LO_load: return render_load(r, op);
    case LO_store: return render_store(r, op);
    case LO_accumulator: return render_accumulator(r, op);
    case LO_accumulate: return render_accumulate(r, op);
    case LO_total: return render_total(r, op);
    case LO_prefetch:
    case LO_prefetch_write: return render_prefetch(r, op);
    case LO_tile_zero:
    case LO_tile_load:
    case LO_tile_stream:
    case LO_tile_store:
    case LO_tile_dot: return render_tile(r, op);
    default:
        assert(!"params and constants are no ops, and control is rendered elsewhere");
        return NULL;
    }
}
