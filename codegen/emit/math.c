/* Functions of one element. In f32 our own polynomials, at any width, at most
 * 2 ulp from the true value (tests/codegen/test_math.c); in f64, the oracle's
 * type, and in the scalar reference the C library, lane by lane.
 *
 * exp, log and tanh follow Cephes' single-precision functions (Moshier); erf is
 * two minimax polynomials (after Juffa): an odd one near zero and
 * 1 - exp(polynomial) beyond. sin and cos reduce and evaluate in f64, as they
 * serve positions, where arguments are large and time is not spent. */
#include "codegen/emit/emit.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- small words for polynomials ---- */

static LlValue real_like(LlValue x, double value) { return ll_real(LLVMTypeOf(x), value); }

/* c[0] x^(n-1) + … + c[n-1] */
static LlValue horner(Ll *ll, LlValue x, int n, const double *c)
{
    LlValue sum = real_like(x, c[0]);
    for (int i = 1; i < n; i++)
        sum = ll_muladd(ll, sum, x, real_like(x, c[i]));
    return sum;
}
#define HORNER(ll, x, ...) \
    horner(ll, x, (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (double[]){__VA_ARGS__})

static LlValue pick(Ll *ll, LLVMRealPredicate predicate, LlValue x, double limit, LlValue yes,
                    LlValue no)
{
    LlValue c = LLVMBuildFCmp(ll->builder, predicate, x, real_like(x, limit), "");
    return LLVMBuildSelect(ll->builder, c, yes, no, "");
}

static LlValue as_bits(Ll *ll, LlValue x)
{
    return LLVMBuildBitCast(ll->builder, x, ll_like(LLVMTypeOf(x), ll->i32), "");
}

static LlValue as_real(Ll *ll, LlValue bits)
{
    return LLVMBuildBitCast(ll->builder, bits, ll_like(LLVMTypeOf(bits), ll->f32), "");
}

static LlValue copy_sign(Ll *ll, LlValue magnitude, LlValue sign)
{
    LlType type = LLVMTypeOf(magnitude);
    return ll_intrinsic(ll, "llvm.copysign", 1, &type, 2, (LlValue[]){magnitude, sign});
}

/* 2^n for whole n in [-126, 127] (i32). */
static LlValue power_of_two(Ll *ll, LlValue n)
{
    LlType type = LLVMTypeOf(n);
    LlValue biased = LLVMBuildAdd(ll->builder, n, ll_int(type, 127), "");
    return as_real(ll, LLVMBuildShl(ll->builder, biased, ll_int(type, 23), ""));
}

/* ---- f32 ---- */

/* p 2^n, rounded once, by the one instruction that AVX-512 has for it (n whole, f32). */
static LlValue scale_at_once(Ll *ll, LlValue p, LlValue n)
{
    LlValue all = LLVMConstAllOnes(LLVMIntTypeInContext(ll->context, 16));
    enum { ROUND_AS_SET = 4 };
    return ll_intrinsic(ll, "llvm.x86.avx512.mask.scalef.ps.512", 0, NULL, 5,
                        (LlValue[]){p, n, p, all, ll_int(ll->i32, ROUND_AS_SET)});
}

/* The same by two products, the first of which is exact, and so are both where the result is
 * no subnormal (n as i32). */
static LlValue scale_by_halves(Ll *ll, LlValue p, LlValue n)
{
    LlType bits = LLVMTypeOf(n);
    LlValue half = LLVMBuildAShr(ll->builder, n, ll_int(bits, 1), "");
    LlValue other = power_of_two(ll, LLVMBuildSub(ll->builder, n, half, ""));
    return LLVMBuildFMul(ll->builder, LLVMBuildFMul(ll->builder, p, power_of_two(ll, half), ""),
                         other, "");
}

/* e^x = 2^n e^r, |r| ≤ ln 2 / 2. Results may be subnormal or infinite. Where a
 * product underflows to zero, a processor takes a hundred times as long, and every masked score of
 * attention is such a place. So p 2^n is not computed there, or with an n for which it is fast. */
static LlValue exp_f32(Emit *e, LlValue x)
{
    enum { TO_INFINITY = 100, TO_ZERO = -104, FAR = -1000 };
    Ll *ll = &e->ll;
    const double magic = 12582912; /* 1.5 × 2^23: adding it rounds to whole numbers */
    const Processor *processor = e->target->processor;
    bool at_once = processor->scales_at_once &&
                   ll_lanes(LLVMTypeOf(x)) * 32 == processor->vector_bits;
    LlValue inside = pick(ll, LLVMRealOGT, x, TO_INFINITY, real_like(x, TO_INFINITY), x);
    inside = pick(ll, LLVMRealOLT, x, TO_ZERO, real_like(x, at_once ? FAR : 0), inside);
    LlValue shifted = ll_muladd(ll, inside, real_like(x, 1.44269504088896341), real_like(x, magic));
    /* Kept apart from the subtraction: the sum must be rounded before it. */
    LlValue n = LLVMBuildFSub(ll->builder, shifted, real_like(x, magic), "");
    LlValue r = ll_muladd(ll, n, real_like(x, -0.693359375), inside);
    r = ll_muladd(ll, n, real_like(x, 2.12194440e-4), r);
    LlValue p = HORNER(ll, r, 1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2,
                       1.6666665459e-1, 5.0000001201e-1);
    p = ll_fadd(ll, ll_muladd(ll, p, ll_fmul(ll, r, r), r), real_like(x, 1));
    if (at_once)
        return scale_at_once(ll, p, n);
    LlValue bits =
        LLVMBuildSub(ll->builder, as_bits(ll, shifted), as_bits(ll, real_like(x, magic)), "");
    return pick(ll, LLVMRealOLT, x, TO_ZERO, real_like(x, 0), scale_by_halves(ll, p, bits));
}

/* x = 2^k m, √½ ≤ m < √2; log x = k ln 2 + log(1 + (m - 1)). */
static LlValue log_f32(Ll *ll, LlValue x)
{
    LlType real = LLVMTypeOf(x), bits = ll_like(real, ll->i32);
    LlValue small = LLVMBuildFCmp(ll->builder, LLVMRealOLT, x, ll_real(real, 0x1p-126), "");
    LlValue normal =
        LLVMBuildSelect(ll->builder, small, ll_fmul(ll, x, ll_real(real, 0x1p23)), x, "");
    LlValue offset = LLVMBuildSub(ll->builder, as_bits(ll, normal), ll_int(bits, 0x3f3504f3), "");
    LlValue k = LLVMBuildAShr(ll->builder, offset, ll_int(bits, 23), "");
    LlValue m = as_real(ll, LLVMBuildSub(ll->builder, as_bits(ll, normal),
                                         LLVMBuildShl(ll->builder, k, ll_int(bits, 23), ""), ""));
    k = LLVMBuildSub(ll->builder, k,
                     LLVMBuildSelect(ll->builder, small, ll_int(bits, 23), ll_int(bits, 0), ""),
                     "");
    LlValue scale = LLVMBuildSIToFP(ll->builder, k, real, "");
    LlValue f = ll_fsub(ll, m, ll_real(real, 1)), z = ll_fmul(ll, f, f);
    LlValue y = HORNER(ll, f, 7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1,
                       1.4249322787e-1, -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1,
                       3.3333331174e-1);
    y = ll_fmul(ll, ll_fmul(ll, y, f), z);
    y = ll_muladd(ll, scale, ll_real(real, -2.12194440e-4), y);
    y = ll_muladd(ll, z, ll_real(real, -0.5), y);
    y = ll_muladd(ll, scale, ll_real(real, 0.693359375), ll_fadd(ll, f, y));
    y = pick(ll, LLVMRealOEQ, x, INFINITY, x, y);
    y = pick(ll, LLVMRealOEQ, x, 0, ll_real(real, -INFINITY), y);
    y = pick(ll, LLVMRealOLT, x, 0, ll_real(real, NAN), y);
    return pick(ll, LLVMRealUNO, x, 0, x, y);
}

static LlValue tanh_f32(Emit *emit, LlValue x)
{
    Ll *ll = &emit->ll;
    LlValue t = ll_unary(ll, "llvm.fabs", x), z = ll_fmul(ll, x, x), one = real_like(x, 1);
    LlValue p = HORNER(ll, z, -5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2,
                       1.33314422036e-1, -3.33332819422e-1);
    LlValue near = ll_muladd(ll, ll_fmul(ll, p, z), x, x);
    LlValue e = exp_f32(emit, ll_fadd(ll, t, t));
    LlValue far = ll_fsub(ll, one, ll_fdiv(ll, real_like(x, 2), ll_fadd(ll, e, one)));
    return pick(ll, LLVMRealOLT, t, 0.625, near, copy_sign(ll, far, x));
}

static LlValue erf_f32(Emit *e, LlValue x)
{
    Ll *ll = &e->ll;
    LlValue t = ll_unary(ll, "llvm.fabs", x), s = ll_fmul(ll, x, x);
    LlValue p = HORNER(ll, s, -5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1,
                       -3.76125336e-1, 1.28379166e-1);
    LlValue near = ll_muladd(ll, p, x, x);
    LlValue inside = pick(ll, LLVMRealOGT, t, 4.5, real_like(x, 4.5), t);
    LlValue q = HORNER(ll, inside, -1.72853470e-5, 3.83197126e-4, -3.88396438e-3, 2.42546219e-2,
                       -1.06777877e-1, -6.34846687e-1, -1.28717512e-1);
    q = ll_muladd(ll, q, inside, ll_fsub(ll, LLVMConstNull(LLVMTypeOf(x)), inside));
    LlValue far = ll_fsub(ll, real_like(x, 1), exp_f32(e, q));
    return pick(ll, LLVMRealOLE, t, 0.927734375, near, copy_sign(ll, far, x));
}

/* With t = e^-|x| nothing overflows: 1 / (1 + t), and t / (1 + t) for x < 0. What
 * the sum 1 + t rounds away is made good in the quotient (1 / (1 + t) ≈ 1 there). */
static LlValue sigmoid_by(Ll *ll, LlValue x, LlValue t)
{
    LlValue one = real_like(x, 1), sum = ll_fadd(ll, one, t);
    LlValue quotient = ll_fdiv(ll, pick(ll, LLVMRealOLT, x, 0, t, one), sum);
    LlValue lost = ll_fsub(ll, t, ll_fsub(ll, sum, one));
    return ll_muladd(ll, LLVMBuildFNeg(ll->builder, quotient, ""), lost, quotient);
}

static LlValue minus_abs(Ll *ll, LlValue x)
{
    return LLVMBuildFNeg(ll->builder, ll_unary(ll, "llvm.fabs", x), "");
}

/* sin(x + quarters π/2) */
static LlValue sin_f32(Ll *ll, LlValue x, int quarters)
{
    const double magic = 6755399441055744; /* 1.5 × 2^52 */
    LlType wide = ll_like(LLVMTypeOf(x), ll->f64), bits = ll_like(wide, ll->i64);
    LlValue y = LLVMBuildFPExt(ll->builder, x, wide, "");
    LlValue shifted = ll_muladd(ll, y, ll_real(wide, 0.63661977236758134308), ll_real(wide, magic));
    LlValue n = LLVMBuildFSub(ll->builder, shifted, ll_real(wide, magic), "");
    LlValue r = ll_muladd(ll, n, ll_real(wide, -1.57079632673412561417), y);
    r = ll_muladd(ll, n, ll_real(wide, -6.07710050650619224932e-11), r);
    LlValue z = ll_fmul(ll, r, r);
    LlValue s = HORNER(ll, z, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6);
    LlValue c =
        HORNER(ll, z, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -0.5, 1);
    s = ll_muladd(ll, ll_fmul(ll, s, z), r, r);
    LlValue quadrant = LLVMBuildBitCast(ll->builder, shifted, bits, "");
    quadrant = LLVMBuildAdd(ll->builder, quadrant, ll_int(bits, quarters), "");
    LlValue odd = LLVMBuildTrunc(ll->builder, quadrant, ll_like(bits, ll->i1), "");
    LlValue second = LLVMBuildLShr(ll->builder, quadrant, ll_int(bits, 1), "");
    LlValue minus = LLVMBuildTrunc(ll->builder, second, ll_like(bits, ll->i1), "");
    LlValue value = LLVMBuildSelect(ll->builder, odd, c, s, "");
    value = LLVMBuildSelect(ll->builder, minus, LLVMBuildFNeg(ll->builder, value, ""), value, "");
    return LLVMBuildFPTrunc(ll->builder, value, LLVMTypeOf(x), "");
}

/* ---- the C library, lane by lane ---- */

static LlValue library_function(Ll *ll, const char *name, LlType element, int n_args)
{
    char symbol[32];
    snprintf(symbol, sizeof symbol, "%s%s", name, element == ll->f32 ? "f" : "");
    LlValue function = LLVMGetNamedFunction(ll->module, symbol);
    if (function)
        return function;
    LlType types[2] = {element, element};
    return LLVMAddFunction(ll->module, symbol,
                           LLVMFunctionType(element, types, (unsigned)n_args, false));
}

/* As it stands: LLVM would make exp2 of a power of 2, and the JIT offers no other function than
 * those that are called here. */
static LlValue call(Ll *ll, LlValue function, LlValue *args, int n)
{
    static const char nobuiltin[] = "nobuiltin";
    LlValue result = LLVMBuildCall2(ll->builder, LLVMGlobalGetValueType(function), function, args,
                                    (unsigned)n, "");
    unsigned kind = LLVMGetEnumAttributeKindForName(nobuiltin, sizeof nobuiltin - 1);
    LLVMAddCallSiteAttribute(result, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(ll->context, kind, 0));
    return result;
}

/* A function of the module that calls the library once a lane. */
static LlValue lane_function(Ll *ll, LlValue library, const char *name, LlType type, int n_args)
{
    char symbol[48];
    snprintf(symbol, sizeof symbol, "lanes.%s.%d.%d", name, ll_lanes(type),
             ll_element(type) == ll->f64);
    LlValue function = LLVMGetNamedFunction(ll->module, symbol);
    if (function)
        return function;
    LlType types[2] = {type, type};
    function =
        LLVMAddFunction(ll->module, symbol, LLVMFunctionType(type, types, (unsigned)n_args, false));
    LLVMSetLinkage(function, LLVMInternalLinkage);
    Ll inner;
    ll_init(&inner, ll->context, ll->module);
    ll_begin_function(&inner, function);
    LlValue result = LLVMGetPoison(type);
    for (int i = 0; i < ll_lanes(type); i++) {
        LlValue lane = ll_int(inner.i32, i), x[2];
        for (int j = 0; j < n_args; j++)
            x[j] = LLVMBuildExtractElement(inner.builder, LLVMGetParam(function, (unsigned)j), lane,
                                           "");
        result = LLVMBuildInsertElement(inner.builder, result, call(&inner, library, x, n_args),
                                        lane, "");
    }
    LLVMBuildRet(inner.builder, result);
    ll_dispose(&inner);
    return function;
}

static LlValue library_call(Ll *ll, const char *name, LlValue *x, int n)
{
    LlType type = LLVMTypeOf(x[0]);
    LlValue function = library_function(ll, name, ll_element(type), n);
    if (ll_is_vector(type))
        function = lane_function(ll, function, name, type, n);
    return call(ll, function, x, n);
}

/* ---- which one ---- */

LlValue math_call(Emit *e, const char *name, LlValue x)
{
    Ll *ll = &e->ll;
    bool library = e->target->scalar || ll_element(LLVMTypeOf(x)) == ll->f64;
    if (!strcmp(name, "sigmoid")) {
        LlValue t = minus_abs(ll, x);
        return sigmoid_by(ll, x, library ? library_call(ll, "exp", &t, 1) : exp_f32(e, t));
    }
    if (library)
        return library_call(ll, name, &x, 1);
    if (!strcmp(name, "exp"))
        return exp_f32(e, x);
    if (!strcmp(name, "log"))
        return log_f32(ll, x);
    if (!strcmp(name, "tanh"))
        return tanh_f32(e, x);
    if (!strcmp(name, "erf"))
        return erf_f32(e, x);
    assert(!strcmp(name, "sin") || !strcmp(name, "cos"));
    return sin_f32(ll, x, name[0] == 'c');
}

LlValue math_pow(Emit *e, LlValue x, LlValue y)
{
    return library_call(&e->ll, "pow", (LlValue[]){x, y}, 2);
}
