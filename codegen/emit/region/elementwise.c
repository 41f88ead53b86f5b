/* Elementwise ops: one function a row of ops.def, on scalars and vectors alike.
 * NaN goes through: relu, max and min of a NaN are NaN. */
#include "codegen/emit/emit.h"

#include <math.h>

typedef LoValue (*ElementRule)(Emit *e, const Op *op, LoValue *x);

/* ---- one operand ---- */

static LoValue emit_neg(Emit *e, const Op *op, LoValue *x) { return lo_neg(&e->lo, x[0]); }
static LoValue emit_abs(Emit *e, const Op *op, LoValue *x) { return lo_abs(&e->lo, x[0]); }
static LoValue emit_exp(Emit *e, const Op *op, LoValue *x) { return lo_math(&e->lo, "exp", 1, x); }
static LoValue emit_log(Emit *e, const Op *op, LoValue *x) { return lo_math(&e->lo, "log", 1, x); }
static LoValue emit_expm1(Emit *e, const Op *op, LoValue *x)
{
    return lo_math(&e->lo, "expm1", 1, x);
}
static LoValue emit_log1p(Emit *e, const Op *op, LoValue *x)
{
    return lo_math(&e->lo, "log1p", 1, x);
}
static LoValue emit_tanh(Emit *e, const Op *op, LoValue *x)
{
    return lo_math(&e->lo, "tanh", 1, x);
}
static LoValue emit_erf(Emit *e, const Op *op, LoValue *x) { return lo_math(&e->lo, "erf", 1, x); }
static LoValue emit_sin(Emit *e, const Op *op, LoValue *x) { return lo_math(&e->lo, "sin", 1, x); }
static LoValue emit_cos(Emit *e, const Op *op, LoValue *x) { return lo_math(&e->lo, "cos", 1, x); }

/* With t = e^-|x| nothing overflows: 1 / (1 + t), and t / (1 + t) for x < 0. What
 * the sum 1 + t rounds away is made good in the quotient (1 / (1 + t) ≈ 1 there). */
static LoValue emit_sigmoid(Emit *e, const Op *op, LoValue *x)
{
    Lo *lo = &e->lo;
    LoType type = lo_type(x[0]);
    LoValue one = lo_real(lo, type, 1), less = lo_neg(lo, lo_abs(lo, x[0]));
    LoValue t = lo_math(lo, "exp", 1, &less), sum = lo_add(lo, one, t);
    LoValue negative = lo_lt(lo, x[0], lo_zero(lo, type));
    LoValue quotient = lo_div(lo, lo_select(lo, negative, t, one), sum);
    LoValue lost = lo_sub(lo, t, lo_sub(lo, sum, one));
    return lo_muladd(lo, lo_neg(lo, quotient), lost, quotient);
}

static LoValue emit_sqrt(Emit *e, const Op *op, LoValue *x) { return lo_sqrt(&e->lo, x[0]); }
static LoValue emit_floor(Emit *e, const Op *op, LoValue *x) { return lo_floor(&e->lo, x[0]); }
static LoValue emit_stop_gradient(Emit *e, const Op *op, LoValue *x) { return x[0]; }
static LoValue emit_not(Emit *e, const Op *op, LoValue *x) { return lo_not(&e->lo, x[0]); }

static LoValue emit_rsqrt(Emit *e, const Op *op, LoValue *x)
{
    return lo_div(&e->lo, lo_real(&e->lo, lo_type(x[0]), 1), lo_sqrt(&e->lo, x[0]));
}

static LoValue emit_relu(Emit *e, const Op *op, LoValue *x)
{
    LoValue zero = lo_zero(&e->lo, lo_type(x[0]));
    return lo_select(&e->lo, lo_gt(&e->lo, zero, x[0]), zero, x[0]);
}

LoValue emit_convert(Emit *e, LoValue x, DType from, DType to)
{
    Lo *lo = &e->lo;
    LoType type = lo_like(lo_type(x), emit_type(e, to));
    if (from == to)
        return x;
    if (to == DT_BOOL)
        return lo_ne(lo, x, lo_zero(lo, lo_type(x)));
    if (from == DT_BOOL)
        return dtype_is_float(to) ? lo_from_uint(lo, x, type) : lo_zext(lo, x, type);
    if (from == DT_I32)
        return emit_rounded(e, to, lo_from_int(lo, x, type));
    if (to == DT_I32) /* NaN: 0; too large: the nearest there is */
        return lo_to_int(lo, x, type);
    return emit_rounded(e, to, lo_fcast(lo, x, type));
}

static LoValue emit_cast(Emit *e, const Op *op, LoValue *x)
{
    return emit_convert(e, x[0], op->args[0]->type.dtype, op->results[0].type.dtype);
}

/* Kept if word ≥ rate × 2³²; x[1] is the word. */
static LoValue emit_dropout(Emit *e, const Op *op, LoValue *x)
{
    Lo *lo = &e->lo;
    double rate = op_float(op, ATTR_rate);
    LoType type = lo_type(x[0]);
    if (rate >= 1)
        return lo_zero(lo, type);
    const uint32_t limit = (uint32_t)(rate * 0x1p32);
    if (!limit) /* C would warn of a comparison that is always true */
        return x[0];
    LoValue keep = lo_uge(lo, x[1], lo_int(lo, lo_type(x[1]), (int64_t)limit));
    return lo_select(&e->lo, keep, lo_mul(lo, x[0], lo_real(lo, type, 1 / (1 - rate))),
                     lo_zero(lo, type));
}

/* ---- two operands ---- */

static LoValue emit_add(Emit *e, const Op *op, LoValue *x) { return lo_add(&e->lo, x[0], x[1]); }

static LoValue emit_sub(Emit *e, const Op *op, LoValue *x) { return lo_sub(&e->lo, x[0], x[1]); }

static LoValue emit_mul(Emit *e, const Op *op, LoValue *x) { return lo_mul(&e->lo, x[0], x[1]); }

/* Integers: by 0 gives 0, and the least by -1 wraps; neither may trap. */
static LoValue emit_div(Emit *e, const Op *op, LoValue *x)
{
    Lo *lo = &e->lo;
    if (lo_is_float(lo_type(x[0])))
        return lo_div(&e->lo, x[0], x[1]);
    LoType type = lo_type(x[0]);
    LoValue none = lo_eq(lo, x[1], lo_zero(lo, type));
    LoValue minus = lo_eq(lo, x[1], lo_int(lo, type, -1));
    LoValue safe = lo_select(&e->lo, lo_or(lo, none, minus), lo_int(lo, type, 1), x[1]);
    LoValue quotient = lo_div(lo, x[0], safe);
    quotient = lo_select(&e->lo, minus, lo_neg(lo, quotient), quotient);
    return lo_select(&e->lo, none, lo_zero(lo, type), quotient);
}

/* x^n for a whole n >= 0, by squaring; integers wrap. */
static LoValue power_by_products(Emit *e, const Op *op, LoValue x, int64_t n)
{
    LoValue power = NULL, square = x;
    for (; n; n >>= 1) {
        if (n & 1)
            power = power ? emit_mul(e, op, (LoValue[]){power, square}) : square;
        if (n > 1)
            square = emit_mul(e, op, (LoValue[]){square, square});
    }
    LoType type = lo_type(x);
    return power ? power : lo_is_float(type) ? lo_real(&e->lo, type, 1) : lo_int(&e->lo, type, 1);
}

/* x^n of integers for n < 0: 1 / x^-n towards zero, which is 0 but for 1 and -1. */
static LoValue inverse_power(Lo *lo, LoValue x, LoValue is_odd)
{
    LoType type = lo_type(x);
    LoValue one = lo_int(lo, type, 1), minus = lo_int(lo, type, -1), zero = lo_zero(lo, type);
    LoValue of_minus = lo_select(lo, is_odd, minus, one);
    return lo_select(lo, lo_eq(lo, x, one), one,
                     lo_select(lo, lo_eq(lo, x, minus), of_minus, zero));
}

/* Of integers, bit by bit of the exponent: as if by n products that wrap. */
static LoValue power_of_integers(Emit *e, const Op *op, LoValue x, LoValue n)
{
    Lo *lo = &e->lo;
    LoType type = lo_type(x);
    LoValue one = lo_int(lo, type, 1), zero = lo_zero(lo, type), power = one, square = x;
    for (int bit = 0; bit < 31; bit++) {
        LoValue is_set = lo_ne(lo, lo_and(lo, n, lo_int(lo, type, INT64_C(1) << bit)), zero);
        power = lo_select(lo, is_set, emit_mul(e, op, (LoValue[]){power, square}), power);
        square = emit_mul(e, op, (LoValue[]){square, square});
    }
    LoValue is_odd = lo_ne(lo, lo_and(lo, n, one), zero);
    return lo_select(lo, lo_lt(lo, n, zero), inverse_power(lo, x, is_odd), power);
}

/* Whole constants, of floats up to 16, by products, ±½ by the root, the rest by the C library or,
 * of integers, by products. */
static LoValue emit_pow(Emit *e, const Op *op, LoValue *x)
{
    Lo *lo = &e->lo;
    const Op *constant = op->args[1]->op;
    const double y = constant && constant->kind == OP_const ? op_float(constant, ATTR_value) : NAN;
    LoType type = lo_type(x[0]);
    if (!lo_is_float(type))
        return y >= 0 ? power_by_products(e, op, x[0], (int64_t)y)
                      : power_of_integers(e, op, x[0], x[1]);
    if (fabs(y) == 0.5) {
        LoValue root = lo_sqrt(lo, x[0]);
        return y > 0 ? root : lo_div(lo, lo_real(lo, type, 1), root);
    }
    if (!(y == floor(y) && fabs(y) <= 16))
        return lo_math(lo, "pow", 2, x);
    LoValue power = power_by_products(e, op, x[0], (int64_t)fabs(y));
    return y < 0 ? lo_div(lo, lo_real(lo, type, 1), power) : power;
}

/* `first`: x[0] is to be taken, if neither is NaN; that of x[1] is taken by itself. A NaN x[0] is
 * not x[0]: LLVM would make one condition of both, which LLVM 19 computes of the operand of an abs,
 * so that max(abs(-1), 0) were 0. */
static LoValue emit_extreme(Emit *e, LoValue first, LoValue *x)
{
    LoValue extreme = lo_select(&e->lo, first, x[0], x[1]);
    if (!lo_is_float(lo_type(x[0])))
        return extreme;
    return lo_select(&e->lo, lo_unordered(&e->lo, x[0], x[0]), lo_real(&e->lo, lo_type(x[0]), NAN),
                     extreme);
}

static LoValue emit_max(Emit *e, const Op *op, LoValue *x)
{
    return emit_extreme(e, lo_gt(&e->lo, x[0], x[1]), x);
}

static LoValue emit_min(Emit *e, const Op *op, LoValue *x)
{
    return emit_extreme(e, lo_lt(&e->lo, x[0], x[1]), x);
}

/* false < true */
static bool is_bool(const Op *op) { return op->args[0]->type.dtype == DT_BOOL; }

static LoValue emit_lt(Emit *e, const Op *op, LoValue *x)
{
    return (is_bool(op) ? lo_ult : lo_lt)(&e->lo, x[0], x[1]);
}

static LoValue emit_le(Emit *e, const Op *op, LoValue *x)
{
    return (is_bool(op) ? lo_ule : lo_le)(&e->lo, x[0], x[1]);
}

static LoValue emit_eq(Emit *e, const Op *op, LoValue *x) { return lo_eq(&e->lo, x[0], x[1]); }

static LoValue emit_and(Emit *e, const Op *op, LoValue *x) { return lo_and(&e->lo, x[0], x[1]); }

static LoValue emit_or(Emit *e, const Op *op, LoValue *x) { return lo_or(&e->lo, x[0], x[1]); }

static LoValue emit_select(Emit *e, const Op *op, LoValue *x)
{
    return lo_select(&e->lo, x[0], x[1], x[2]);
}

static const ElementRule rules[OP_COUNT] = {
#define ELEMENTWISE(name, ...) [OP_##name] = emit_##name,
#include "ir/ops.def"
};

/* Whether a result is as round as what it is made of. */
static bool keeps_rounding(const Op *op)
{
    switch (op->kind) {
    case OP_neg:
    case OP_abs:
    case OP_relu:
    case OP_stop_gradient:
    case OP_max:
    case OP_min:
    case OP_select:
    case OP_cast: /* emit_convert rounds */ return true;
    default: return false;
    }
}

LoValue emit_elementwise(Emit *e, const Op *op, LoValue *x)
{
    LoValue y = rules[op->kind](e, op, x);
    return keeps_rounding(op) ? y : emit_rounded(e, op->results[0].type.dtype, y);
}
