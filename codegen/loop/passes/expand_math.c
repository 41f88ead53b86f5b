/* Pass expand_math: functions become our own polynomials, at any width.
 *
 *   f32x16 %9 = math "exp" %8     →     some twenty ops of arithmetic
 *
 * Those of f32 are at most 2 ulp from the true value, those of f64 (expand_f64.c) and pow 1.2
 * (tests/codegen/test_math.c). The scalar reference keeps the C library, lane by lane.
 *
 * exp, log and tanh follow Cephes' single-precision functions (Moshier), and so do expm1 and log1p
 * by them; erf is two minimax polynomials (after Juffa): an odd one near zero and
 * 1 - exp(polynomial) beyond. sin and cos reduce and evaluate in f64: they are used
 * for positions, where arguments are large and speed does not matter. From 2^16 on they reduce by
 * the digits of 2/π (Payne and Hanek), so that they are right for every f32. */
#include "codegen/loop/build.h"
#include "codegen/loop/passes/expand_f64.h"
#include "codegen/loop/passes/passes.h"

#include <math.h>
#include <string.h>

/* ---- small words for polynomials ---- */

static LoValue real_like(Lo *lo, LoValue x, double value) { return lo_real(lo, lo_type(x), value); }

/* a b + c: in f64 rounded twice, which is exact enough, and the same without fused multiply-add. */
static LoValue times_plus(Lo *lo, LoValue a, LoValue b, LoValue c)
{
    return lo_element(lo_type(a)) == lo_f64 ? lo_add(lo, lo_mul(lo, a, b), c)
                                            : lo_muladd(lo, a, b, c);
}

/* c[0] x^(n-1) + … + c[n-1] */
static LoValue horner(Lo *lo, LoValue x, int n, const double *c)
{
    LoValue sum = real_like(lo, x, c[0]);
    for (int i = 1; i < n; i++)
        sum = times_plus(lo, sum, x, real_like(lo, x, c[i]));
    return sum;
}
#define HORNER(lo, x, ...) \
    horner(lo, x, (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (double[]){__VA_ARGS__})

/* A comparison, such as lo_lt, of x with a number. */
typedef LoValue Comparison(Lo *lo, LoValue a, LoValue b);

static LoValue pick(Lo *lo, Comparison *compare, LoValue x, double limit, LoValue yes, LoValue no)
{
    return lo_select(lo, compare(lo, x, real_like(lo, x, limit)), yes, no);
}

static LoValue as_bits(Lo *lo, LoValue x) { return lo_bitcast(lo, x, lo_like(lo_type(x), lo_i32)); }

static LoValue as_real(Lo *lo, LoValue bits)
{
    return lo_bitcast(lo, bits, lo_like(lo_type(bits), lo_f32));
}

/* 2^n for whole n in [-126, 127] (i32). */
static LoValue power_of_two(Lo *lo, LoValue n)
{
    LoType type = lo_type(n);
    LoValue biased = lo_add(lo, n, lo_int(lo, type, 127));
    return as_real(lo, lo_shl(lo, biased, lo_int(lo, type, 23)));
}

/* ---- f32 ---- */

/* p 2^n by two products, the first of which is exact, and so are both where the result is no
 * subnormal (n as i32). */
static LoValue scale_by_halves(Lo *lo, LoValue p, LoValue n)
{
    LoType bits = lo_type(n);
    LoValue half = lo_ashr(lo, n, lo_int(lo, bits, 1));
    LoValue other = power_of_two(lo, lo_sub(lo, n, half));
    return lo_mul(lo, lo_mul(lo, p, power_of_two(lo, half)), other);
}

/* Powered: e^x = 2^n (1 + less), n in an f32, and in the low bits of `shifted`. */
typedef struct Powered {
    LoValue shifted, n, less;
} Powered;

static const double rounds = 12582912; /* 1.5 × 2^23: adding it rounds to whole numbers */

static Powered powered(Lo *lo, LoValue x)
{
    LoValue magic = real_like(lo, x, rounds);
    LoValue shifted = lo_muladd(lo, x, real_like(lo, x, 1.44269504088896341), magic);
    LoValue n = lo_sub(lo, shifted, magic);
    LoValue r = lo_muladd(lo, n, real_like(lo, x, -0.693359375), x);
    r = lo_muladd(lo, n, real_like(lo, x, 2.12194440e-4), r);
    LoValue p = HORNER(lo, r, 1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2,
                       1.6666665459e-1, 5.0000001201e-1);
    return (Powered){shifted, n, lo_muladd(lo, p, lo_mul(lo, r, r), r)};
}

static LoValue whole_of(Lo *lo, Powered p)
{
    return lo_sub(lo, as_bits(lo, p.shifted), as_bits(lo, real_like(lo, p.shifted, rounds)));
}

/* e^x = 2^n e^r, |r| ≤ ln 2 / 2. Results may be subnormal or infinite. Where a
 * product underflows to zero, a processor takes a hundred times as long, and every masked score of
 * attention is such a place. So p 2^n is not computed there, or with an n for which it is fast. */
static LoValue exp_f32(Lo *lo, const CodeTarget *target, LoValue x)
{
    enum { TO_INFINITY = 100, TO_ZERO = -104, FAR = -1000 };
    const Processor *processor = target->processor;
    bool at_once = processor->scales_at_once && lo_lanes(lo_type(x)) * 32 == processor->vector_bits;
    LoValue inside = pick(lo, lo_gt, x, TO_INFINITY, real_like(lo, x, TO_INFINITY), x);
    inside = pick(lo, lo_lt, x, TO_ZERO, real_like(lo, x, at_once ? FAR : 0), inside);
    Powered by = powered(lo, inside);
    LoValue p = lo_add(lo, by.less, real_like(lo, x, 1));
    if (at_once)
        return lo_scale2(lo, p, by.n);
    return pick(lo, lo_lt, x, TO_ZERO, real_like(lo, x, 0),
                scale_by_halves(lo, p, whole_of(lo, by)));
}

/* e^x - 1 = 2 (2^(n-1) (e^r - 1) + (2^(n-1) - ½)): nothing overflows before the result does. */
static LoValue expm1_f32(Lo *lo, const CodeTarget *target, LoValue x)
{
    enum { TO_INFINITY = 89, TO_MINUS_ONE = -30 };
    (void)target;
    LoValue inside = pick(lo, lo_gt, x, TO_INFINITY, real_like(lo, x, TO_INFINITY), x);
    inside = pick(lo, lo_lt, x, TO_MINUS_ONE, real_like(lo, x, TO_MINUS_ONE), inside);
    Powered by = powered(lo, inside);
    LoValue n = whole_of(lo, by);
    LoValue half = power_of_two(lo, lo_sub(lo, n, lo_int(lo, lo_type(n), 1)));
    LoValue sum = lo_muladd(lo, by.less, half, lo_sub(lo, half, real_like(lo, x, 0.5)));
    return lo_add(lo, sum, sum);
}

/* x = 2^k m, √½ ≤ m < √2; log x = k ln 2 + log(1 + (m - 1)). */
static LoValue log_f32(Lo *lo, const CodeTarget *target, LoValue x)
{
    LoType real = lo_type(x), bits = lo_like(real, lo_i32);
    LoValue small = lo_lt(lo, x, lo_real(lo, real, 0x1p-126));
    LoValue normal = lo_select(lo, small, lo_mul(lo, x, lo_real(lo, real, 0x1p23)), x);
    LoValue offset = lo_sub(lo, as_bits(lo, normal), lo_int(lo, bits, 0x3f3504f3));
    LoValue k = lo_ashr(lo, offset, lo_int(lo, bits, 23));
    LoValue m = as_real(lo, lo_sub(lo, as_bits(lo, normal), lo_shl(lo, k, lo_int(lo, bits, 23))));
    k = lo_sub(lo, k, lo_select(lo, small, lo_int(lo, bits, 23), lo_int(lo, bits, 0)));
    LoValue scale = lo_from_int(lo, k, real);
    LoValue f = lo_sub(lo, m, lo_real(lo, real, 1)), z = lo_mul(lo, f, f);
    LoValue y = HORNER(lo, f, 7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1,
                       1.4249322787e-1, -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1,
                       3.3333331174e-1);
    y = lo_mul(lo, lo_mul(lo, y, f), z);
    y = lo_muladd(lo, scale, lo_real(lo, real, -2.12194440e-4), y);
    y = lo_muladd(lo, z, lo_real(lo, real, -0.5), y);
    y = lo_muladd(lo, scale, lo_real(lo, real, 0.693359375), lo_add(lo, f, y));
    y = pick(lo, lo_eq, x, INFINITY, x, y);
    y = pick(lo, lo_eq, x, 0, lo_real(lo, real, -INFINITY), y);
    y = pick(lo, lo_lt, x, 0, lo_real(lo, real, NAN), y);
    return pick(lo, lo_unordered, x, 0, x, y);
}

/* log u + what the sum u = 1 + x has lost. */
static LoValue log1p_f32(Lo *lo, const CodeTarget *target, LoValue x)
{
    LoValue one = real_like(lo, x, 1), u = lo_add(lo, one, x), zero = real_like(lo, x, 0);
    LoValue lost = lo_div(lo, lo_sub(lo, x, lo_sub(lo, u, one)), u);
    lost = pick(lo, lo_gt, u, 0, pick(lo, lo_lt, u, INFINITY, lost, zero), zero);
    return lo_add(lo, log_f32(lo, target, u), lost);
}

static LoValue tanh_f32(Lo *lo, const CodeTarget *target, LoValue x)
{
    LoValue t = lo_abs(lo, x), z = lo_mul(lo, x, x), one = real_like(lo, x, 1);
    LoValue p = HORNER(lo, z, -5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2,
                       1.33314422036e-1, -3.33332819422e-1);
    LoValue near = lo_muladd(lo, lo_mul(lo, p, z), x, x);
    LoValue e = exp_f32(lo, target, lo_add(lo, t, t));
    LoValue far = lo_sub(lo, one, lo_div(lo, real_like(lo, x, 2), lo_add(lo, e, one)));
    return pick(lo, lo_lt, t, 0.625, near, lo_copysign(lo, far, x));
}

static LoValue erf_f32(Lo *lo, const CodeTarget *target, LoValue x)
{
    LoValue t = lo_abs(lo, x), s = lo_mul(lo, x, x);
    LoValue p = HORNER(lo, s, -5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1,
                       -3.76125336e-1, 1.28379166e-1);
    LoValue near = lo_muladd(lo, p, x, x);
    LoValue inside = pick(lo, lo_gt, t, 4.5, real_like(lo, x, 4.5), t);
    LoValue q = HORNER(lo, inside, -1.72853470e-5, 3.83197126e-4, -3.88396438e-3, 2.42546219e-2,
                       -1.06777877e-1, -6.34846687e-1, -1.28717512e-1);
    q = lo_muladd(lo, q, inside, lo_sub(lo, lo_zero(lo, lo_type(x)), inside));
    LoValue far = lo_sub(lo, real_like(lo, x, 1), exp_f32(lo, target, q));
    return pick(lo, lo_le, t, 0.927734375, near, lo_copysign(lo, far, x));
}

/* Angle: x = quarter π/2 + r, |r| ≤ π/4, quarters (i64) modulo 4 and more. */
typedef struct Angle {
    LoValue quarter, r;
} Angle;

/* Of less than 2^16, and of what is no number: n times the first part of π/2 is exact. */
static Angle small_angle(Lo *lo, LoValue x)
{
    const double magic = 6755399441055744; /* 1.5 × 2^52 */
    LoType wide = lo_like(lo_type(x), lo_f64);
    LoValue y = lo_fcast(lo, x, wide);
    LoValue turns = lo_mul(lo, y, lo_real(lo, wide, 0.63661977236758134308));
    LoValue shifted = lo_add(lo, turns, lo_real(lo, wide, magic));
    LoValue n = lo_sub(lo, shifted, lo_real(lo, wide, magic));
    LoValue r = lo_sub(lo, y, lo_mul(lo, n, lo_real(lo, wide, 1.57079632673412561417)));
    r = lo_sub(lo, r, lo_mul(lo, n, lo_real(lo, wide, 6.07710050650619224932e-11)));
    return (Angle){lo_bitcast(lo, shifted, lo_like(wide, lo_i64)), r};
}

/* The i-th of some 64 bits of 2/π, 32 bits apart, behind sixteen zeros; i in [first, first + 3]. */
static LoValue digits_of(Lo *lo, LoValue i, int first)
{
    static const uint64_t digits[] = {0x0000a2f9836e4e44, 0x836e4e441529fc27, 0x1529fc2757d1f534,
                                      0x57d1f534ddc0db62, 0xddc0db6295993c43, 0x95993c439041fe51};
    LoType type = lo_type(i);
    LoValue found = lo_int(lo, type, (int64_t)digits[first]);
    for (int k = 1; k < 4; k++)
        found = lo_select(lo, lo_eq(lo, i, lo_int(lo, type, k)),
                          lo_int(lo, type, (int64_t)digits[first + k]), found);
    return found;
}

/* Of 2^16 and more: x = m 2^e, m of 24 bits. Digits of 2/π that give multiples of 4 are left out,
 * and the next 96 are multiplied by m, modulo 4: 2 bits of quarters, 62 of a fraction. */
static Angle great_angle(Lo *lo, LoValue x)
{
    enum { FRACTION = 62, MANTISSA = 23, EXPONENT_TO_DIGIT = 136 /* 150 of f32 - 14 */ };
    LoType type = lo_like(lo_type(x), lo_i64), real = lo_like(type, lo_f64);
#define NUMBER(n) lo_int(lo, type, n)
    LoValue bits = lo_zext(lo, as_bits(lo, lo_abs(lo, x)), type);
    LoValue m = lo_or(lo, lo_and(lo, bits, NUMBER((1 << MANTISSA) - 1)), NUMBER(1 << MANTISSA));
    LoValue digit = lo_sub(lo, lo_lshr(lo, bits, NUMBER(MANTISSA)), NUMBER(EXPONENT_TO_DIGIT));
    digit = lo_and(lo, digit, NUMBER(127)); /* as it is, but of small x */
    LoValue i = lo_lshr(lo, digit, NUMBER(5)), shift = lo_and(lo, digit, NUMBER(31));
    LoValue first = digits_of(lo, i, 0), second = digits_of(lo, i, 2);
    LoValue carried = lo_lshr(lo, lo_lshr(lo, second, NUMBER(1)), lo_sub(lo, NUMBER(63), shift));
    LoValue high = lo_or(lo, lo_shl(lo, first, shift), carried);
    LoValue low = lo_lshr(lo, lo_shl(lo, second, shift), NUMBER(32));
    LoValue p = lo_add(lo, lo_mul(lo, m, high), lo_lshr(lo, lo_mul(lo, m, low), NUMBER(32)));
    p = lo_select(lo, lo_lt(lo, x, lo_zero(lo, lo_type(x))), lo_neg(lo, p), p);
    LoValue quarter =
        lo_lshr(lo, lo_add(lo, p, NUMBER(INT64_C(1) << (FRACTION - 1))), NUMBER(FRACTION));
    LoValue fraction = lo_ashr(lo, lo_shl(lo, p, NUMBER(2)), NUMBER(2));
#undef NUMBER
    LoValue r = lo_mul(lo, lo_from_int(lo, fraction, real),
                       lo_real(lo, real, 0x1.921fb54442d18p0 * 0x1p-62));
    return (Angle){quarter, r};
}

static Angle angle_of(Lo *lo, LoValue x)
{
    LoType type = lo_like(lo_type(x), lo_i32);
    const int32_t great = 0x47800000, infinite = 0x7f800000; /* 2^16 */
    LoValue above = lo_sub(lo, as_bits(lo, lo_abs(lo, x)), lo_int(lo, type, great));
    LoValue is_great = lo_ult(lo, above, lo_int(lo, type, infinite - great));
    Angle small = small_angle(lo, x), large = great_angle(lo, x);
    return (Angle){lo_select(lo, is_great, large.quarter, small.quarter),
                   lo_select(lo, is_great, large.r, small.r)};
}

/* sin(x + quarters π/2) */
static LoValue sin_f32(Lo *lo, LoValue x, int quarters)
{
    Angle angle = angle_of(lo, x);
    LoValue r = angle.r, z = lo_mul(lo, r, r);
    LoType bits = lo_type(angle.quarter);
    LoValue s = HORNER(lo, z, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6);
    LoValue c =
        HORNER(lo, z, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -0.5, 1);
    s = times_plus(lo, lo_mul(lo, s, z), r, r);
    LoValue quadrant = lo_add(lo, angle.quarter, lo_int(lo, bits, quarters));
    LoValue odd = lo_trunc(lo, quadrant, lo_like(bits, lo_i1));
    LoValue second = lo_lshr(lo, quadrant, lo_int(lo, bits, 1));
    LoValue minus = lo_trunc(lo, second, lo_like(bits, lo_i1));
    LoValue value = lo_select(lo, odd, c, s);
    value = lo_select(lo, minus, lo_neg(lo, value), value);
    return lo_fcast(lo, value, lo_type(x));
}

static LoValue sine(Lo *lo, const CodeTarget *target, LoValue x) { return sin_f32(lo, x, 0); }
static LoValue cosine(Lo *lo, const CodeTarget *target, LoValue x) { return sin_f32(lo, x, 1); }

/* ---- the pass ---- */

typedef struct MathFunction {
    const char *name;
    LoValue (*expand)(Lo *lo, const CodeTarget *target, LoValue x);
} MathFunction;

static const MathFunction functions[] = {
    /* clang-format off */
    {"exp",   exp_f32},
    {"log",   log_f32},
    {"expm1", expm1_f32},
    {"log1p", log1p_f32},
    {"tanh",  tanh_f32},
    {"erf",   erf_f32},
    {"sin",   sine},
    {"cos",   cosine},
    /* clang-format on */
};

/* What computes the op; NULL: it calls the library. */
static LoValue expansion(Lo *lo, const LoOp *op, const CodeTarget *target)
{
    if (lo_element(op->type) == lo_f64)
        return lo_expand_f64(lo, op->name, op->args);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!strcmp(functions[i].name, op->name))
            return functions[i].expand(lo, target, op->args[0]);
    return strcmp(op->name, "pow") ? NULL : lo_pow_f32(lo, op->args[0], op->args[1]);
}

static void expand_block(LoModule *module, LoBlock *block, const CodeTarget *target)
{
    for (LoOp *op = block->first, *after; op; op = after) {
        after = op->after;
        lo_resolve_args(op);
        if (op->kind == LO_math) {
            Lo lo;
            lo_reopen(&lo, module, block->function, op);
            op->instead = expansion(&lo, op, target);
            if (op->instead)
                lo_remove(op);
        }
        if (op->body)
            expand_block(module, op->body, target);
        if (op->other)
            expand_block(module, op->other, target);
    }
}

void lo_expand_math(LoModule *module, const CodeTarget *target)
{
    for (size_t i = 0; i < module->functions.count && !target->scalar; i++)
        expand_block(module, module->functions.data[i]->body, target);
}
