/* Elementwise ops: one function a row of ops.def, on scalars and vectors alike.
 * NaN goes through: relu, max and min of a NaN are NaN. */
#include "codegen/emit/emit.h"

#include <math.h>

typedef LlValue (*ElementRule)(Emit *e, const Op *op, LlValue *x);

static bool is_real(LlValue x)
{
    return LLVMGetTypeKind(ll_element(LLVMTypeOf(x))) != LLVMIntegerTypeKind;
}

static LlValue choose(Emit *e, LlValue condition, LlValue a, LlValue b)
{
    return LLVMBuildSelect(e->ll.builder, condition, a, b, "");
}

/* An ordered comparison of floats, or of signed integers (bools: false < true). */
static LlValue compare(Emit *e, LLVMRealPredicate real, LLVMIntPredicate integer, LlValue a,
                       LlValue b)
{
    return is_real(a) ? LLVMBuildFCmp(e->ll.builder, real, a, b, "")
                      : LLVMBuildICmp(e->ll.builder, integer, a, b, "");
}

/* ---- one operand ---- */

static LlValue emit_neg(Emit *e, const Op *op, LlValue *x)
{
    return is_real(x[0]) ? LLVMBuildFNeg(e->ll.builder, x[0], "")
                         : LLVMBuildNeg(e->ll.builder, x[0], "");
}

static LlValue emit_abs(Emit *e, const Op *op, LlValue *x)
{
    LlType type = LLVMTypeOf(x[0]);
    if (is_real(x[0]))
        return ll_unary(&e->ll, "llvm.fabs", x[0]);
    return ll_intrinsic(&e->ll, "llvm.abs", 1, &type, 2, (LlValue[]){x[0], ll_int(e->ll.i1, 0)});
}

static LlValue emit_exp(Emit *e, const Op *op, LlValue *x) { return math_call(e, "exp", x[0]); }
static LlValue emit_log(Emit *e, const Op *op, LlValue *x) { return math_call(e, "log", x[0]); }
static LlValue emit_tanh(Emit *e, const Op *op, LlValue *x) { return math_call(e, "tanh", x[0]); }
static LlValue emit_erf(Emit *e, const Op *op, LlValue *x) { return math_call(e, "erf", x[0]); }
static LlValue emit_sin(Emit *e, const Op *op, LlValue *x) { return math_call(e, "sin", x[0]); }
static LlValue emit_cos(Emit *e, const Op *op, LlValue *x) { return math_call(e, "cos", x[0]); }
static LlValue emit_sigmoid(Emit *e, const Op *op, LlValue *x)
{
    return math_call(e, "sigmoid", x[0]);
}
static LlValue emit_sqrt(Emit *e, const Op *op, LlValue *x)
{
    return ll_unary(&e->ll, "llvm.sqrt", x[0]);
}
static LlValue emit_floor(Emit *e, const Op *op, LlValue *x)
{
    return ll_unary(&e->ll, "llvm.floor", x[0]);
}
static LlValue emit_stop_gradient(Emit *e, const Op *op, LlValue *x) { return x[0]; }
static LlValue emit_not(Emit *e, const Op *op, LlValue *x)
{
    return LLVMBuildNot(e->ll.builder, x[0], "");
}

static LlValue emit_rsqrt(Emit *e, const Op *op, LlValue *x)
{
    return ll_fdiv(&e->ll, ll_real(LLVMTypeOf(x[0]), 1), ll_unary(&e->ll, "llvm.sqrt", x[0]));
}

static LlValue emit_relu(Emit *e, const Op *op, LlValue *x)
{
    LlValue zero = LLVMConstNull(LLVMTypeOf(x[0]));
    return choose(e, compare(e, LLVMRealOGT, LLVMIntSGT, zero, x[0]), zero, x[0]);
}

LlValue emit_convert(Emit *e, LlValue x, DType from, DType to)
{
    Ll *ll = &e->ll;
    LlType type = ll_like(LLVMTypeOf(x), emit_type(e, to));
    if (from == to)
        return x;
    if (to == DT_BOOL)
        return is_real(x)
                   ? LLVMBuildFCmp(ll->builder, LLVMRealUNE, x, LLVMConstNull(LLVMTypeOf(x)), "")
                   : LLVMBuildICmp(ll->builder, LLVMIntNE, x, LLVMConstNull(LLVMTypeOf(x)), "");
    if (from == DT_BOOL)
        return dtype_is_float(to) ? LLVMBuildUIToFP(ll->builder, x, type, "")
                                  : LLVMBuildZExt(ll->builder, x, type, "");
    if (from == DT_I32)
        return emit_rounded(e, to, LLVMBuildSIToFP(ll->builder, x, type, ""));
    if (to == DT_I32) /* NaN: 0; too large: the nearest there is */
        return ll_intrinsic(ll, "llvm.fptosi.sat", 2, (LlType[]){type, LLVMTypeOf(x)}, 1, &x);
    return emit_rounded(e, to, LLVMBuildFPCast(ll->builder, x, type, ""));
}

static LlValue emit_cast(Emit *e, const Op *op, LlValue *x)
{
    return emit_convert(e, x[0], op->args[0]->type.dtype, op->results[0].type.dtype);
}

/* Kept if word ≥ rate × 2³²; x[1] is the word. */
static LlValue emit_dropout(Emit *e, const Op *op, LlValue *x)
{
    Ll *ll = &e->ll;
    double rate = op_float(op, ATTR_rate);
    LlType type = LLVMTypeOf(x[0]);
    if (rate >= 1)
        return LLVMConstNull(type);
    LlValue limit = ll_int(LLVMTypeOf(x[1]), (int64_t)(uint32_t)(rate * 0x1p32));
    LlValue keep = LLVMBuildICmp(ll->builder, LLVMIntUGE, x[1], limit, "");
    return choose(e, keep, ll_fmul(ll, x[0], ll_real(type, 1 / (1 - rate))), LLVMConstNull(type));
}

/* ---- two operands ---- */

static LlValue emit_add(Emit *e, const Op *op, LlValue *x)
{
    return is_real(x[0]) ? ll_fadd(&e->ll, x[0], x[1])
                         : LLVMBuildAdd(e->ll.builder, x[0], x[1], "");
}

static LlValue emit_sub(Emit *e, const Op *op, LlValue *x)
{
    return is_real(x[0]) ? ll_fsub(&e->ll, x[0], x[1])
                         : LLVMBuildSub(e->ll.builder, x[0], x[1], "");
}

static LlValue emit_mul(Emit *e, const Op *op, LlValue *x)
{
    return is_real(x[0]) ? ll_fmul(&e->ll, x[0], x[1])
                         : LLVMBuildMul(e->ll.builder, x[0], x[1], "");
}

/* Integers: by 0 gives 0, and the least by -1 wraps; neither may trap. */
static LlValue emit_div(Emit *e, const Op *op, LlValue *x)
{
    LLVMBuilderRef b = e->ll.builder;
    if (is_real(x[0]))
        return ll_fdiv(&e->ll, x[0], x[1]);
    LlType type = LLVMTypeOf(x[0]);
    LlValue none = LLVMBuildICmp(b, LLVMIntEQ, x[1], LLVMConstNull(type), "");
    LlValue minus = LLVMBuildICmp(b, LLVMIntEQ, x[1], ll_int(type, -1), "");
    LlValue safe = choose(e, LLVMBuildOr(b, none, minus, ""), ll_int(type, 1), x[1]);
    LlValue quotient = LLVMBuildSDiv(b, x[0], safe, "");
    quotient = choose(e, minus, LLVMBuildNeg(b, quotient, ""), quotient);
    return choose(e, none, LLVMConstNull(type), quotient);
}

/* Whole constants up to 16 by multiplication, ±½ by the root, the rest by the
 * C library (integers in f64). */
static LlValue emit_pow(Emit *e, const Op *op, LlValue *x)
{
    Ll *ll = &e->ll;
    const Op *constant = op->args[1]->op;
    double y = constant && constant->kind == OP_const ? op_float(constant, ATTR_value) : NAN;
    LlType type = LLVMTypeOf(x[0]);
    if (fabs(y) == 0.5) {
        LlValue root = ll_unary(ll, "llvm.sqrt", x[0]);
        return y > 0 ? root : ll_fdiv(ll, ll_real(type, 1), root);
    }
    bool whole = y == floor(y) && fabs(y) <= 16;
    if (!whole && is_real(x[0]))
        return math_pow(e, x[0], x[1]);
    if (!whole)
        return emit_convert(e,
                            math_pow(e, emit_convert(e, x[0], DT_I32, DT_F64),
                                     emit_convert(e, x[1], DT_I32, DT_F64)),
                            DT_F64, DT_I32);
    LlValue power = NULL, square = x[0];
    for (int n = (int)fabs(y); n; n >>= 1) {
        if (n & 1)
            power = power ? emit_mul(e, op, (LlValue[]){power, square}) : square;
        if (n > 1)
            square = emit_mul(e, op, (LlValue[]){square, square});
    }
    LlValue one = is_real(x[0]) ? ll_real(type, 1) : ll_int(type, 1);
    if (!power)
        return one;
    return y < 0 ? emit_div(e, op, (LlValue[]){one, power}) : power;
}

static LlValue emit_extreme(Emit *e, LLVMRealPredicate real, LLVMIntPredicate integer, LlValue *x)
{
    LlValue first =
        choose(e, compare(e, real, integer, x[0], x[1]), x[0], x[1]); /* NaN of x[1] stays */
    if (!is_real(x[0]))
        return first;
    return choose(e, LLVMBuildFCmp(e->ll.builder, LLVMRealUNO, x[0], x[0], ""), x[0], first);
}

static LlValue emit_max(Emit *e, const Op *op, LlValue *x)
{
    return emit_extreme(e, LLVMRealOGT, LLVMIntSGT, x);
}

static LlValue emit_min(Emit *e, const Op *op, LlValue *x)
{
    return emit_extreme(e, LLVMRealOLT, LLVMIntSLT, x);
}

static bool is_bool(const Op *op)
{
    return op->args[0]->type.dtype == DT_BOOL;
}

static LlValue emit_lt(Emit *e, const Op *op, LlValue *x)
{
    return compare(e, LLVMRealOLT, is_bool(op) ? LLVMIntULT : LLVMIntSLT, x[0], x[1]);
}

static LlValue emit_le(Emit *e, const Op *op, LlValue *x)
{
    return compare(e, LLVMRealOLE, is_bool(op) ? LLVMIntULE : LLVMIntSLE, x[0], x[1]);
}

static LlValue emit_eq(Emit *e, const Op *op, LlValue *x)
{
    return compare(e, LLVMRealOEQ, LLVMIntEQ, x[0], x[1]);
}

static LlValue emit_and(Emit *e, const Op *op, LlValue *x)
{
    return LLVMBuildAnd(e->ll.builder, x[0], x[1], "");
}

static LlValue emit_or(Emit *e, const Op *op, LlValue *x)
{
    return LLVMBuildOr(e->ll.builder, x[0], x[1], "");
}

static LlValue emit_select(Emit *e, const Op *op, LlValue *x)
{
    return choose(e, x[0], x[1], x[2]);
}

static const ElementRule rules[OP_COUNT] = {
#define ELEMENTWISE(name, ...) [OP_##name] = emit_##name,
#include "ir/ops.def"
};

/* Whether a result is as round as what it is made of. */
static bool keeps_rounding(const Op *op)
{
    switch (op->kind) {
    case OP_neg: case OP_abs: case OP_relu: case OP_stop_gradient: case OP_max: case OP_min: case OP_select:
    case OP_cast: /* emit_convert rounds */
        return true;
    default:
        return false;
    }
}

LlValue emit_elementwise(Emit *e, const Op *op, LlValue *x)
{
    LlValue y = rules[op->kind](e, op, x);
    return keeps_rounding(op) ? y : emit_rounded(e, op->results[0].type.dtype, y);
}
