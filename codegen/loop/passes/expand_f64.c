/* The words of base/portable_math.def as ops of loop IR. */
#include "codegen/loop/passes/expand_f64.h"

#include <math.h>
#include <string.h>

typedef struct MathCalc {
    Lo *lo;
    LoType real, word;
} MathCalc;
typedef LoValue MathReal, MathWord, MathTruth;

static MathCalc calc_like(Lo *lo, LoType shape)
{
    return (MathCalc){lo, lo_like(shape, lo_f64), lo_like(shape, lo_i64)};
}

#define REAL(x) lo_real(c->lo, c->real, x)
#define WORD(x) lo_int(c->lo, c->word, (int64_t)(x))
#define ADD(a, b) lo_add(c->lo, a, b)
#define SUB(a, b) lo_sub(c->lo, a, b)
#define MUL(a, b) lo_mul(c->lo, a, b)
#define DIV(a, b) lo_div(c->lo, a, b)
#define NEG(a) lo_neg(c->lo, a)
#define ABS(a) lo_abs(c->lo, a)
#define AND(a, b) lo_and(c->lo, a, b)
#define OR(a, b) lo_or(c->lo, a, b)
#define SHL_BY(a, n) lo_shl(c->lo, a, n)
#define LSHR_BY(a, n) lo_lshr(c->lo, a, n)
#define SHL(a, n) SHL_BY(a, WORD(n))
#define LSHR(a, n) LSHR_BY(a, WORD(n))
#define ASHR(a, n) lo_ashr(c->lo, a, WORD(n))
#define BOTH AND
#define EITHER OR
#define NOT(a) lo_not(c->lo, a)
#define LT(a, b) lo_lt(c->lo, a, b)
#define GT(a, b) lo_gt(c->lo, a, b)
#define EQ(a, b) lo_eq(c->lo, a, b)
#define SAME EQ
#define UNORDERED(a, b) lo_unordered(c->lo, a, b)
#define SELECT(t, a, b) lo_select(c->lo, t, a, b)
#define IS_KNOWN(t) lo_is_int(t)
#define IS_TRUE(t) ((t)->number != 0)
#define BITS(a) lo_bitcast(c->lo, a, c->word)
#define FROM_BITS(a) lo_bitcast(c->lo, a, c->real)
#define FROM_INT(a) lo_from_int(c->lo, a, c->real)
#define POLYNOMIAL(x, ...)                                                        \
    polynomial_f64(c, x, (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), \
                   (double[]){__VA_ARGS__})

static MathReal polynomial_f64(MathCalc *c, MathReal x, int n, const double *factors)
{
    MathReal sum = REAL(factors[0]);
    for (int i = 1; i < n; i++)
        sum = ADD(MUL(sum, x), REAL(factors[i]));
    return sum;
}

#include "base/portable_math.def"

typedef struct FunctionF64 {
    const char *name;
    LoValue (*expand)(MathCalc *c, LoValue x);
} FunctionF64;

static const FunctionF64 functions[] = {
    /* clang-format off */
    {"exp",   body_exp},
    {"log",   body_log},
    {"expm1", body_expm1},
    {"log1p", body_log1p},
    {"tanh",  body_tanh},
    {"erf",   body_erf},
    {"sin",   body_sin},
    {"cos",   body_cos},
    /* clang-format on */
};

LoValue lo_expand_f64(Lo *lo, const char *name, LoValue const *x)
{
    MathCalc c = calc_like(lo, lo_type(x[0]));
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!strcmp(functions[i].name, name))
            return functions[i].expand(&c, x[0]);
    return strcmp(name, "pow") ? NULL : body_pow(&c, x[0], x[1]);
}

LoValue lo_pow_f32(Lo *lo, LoValue x, LoValue y)
{
    MathCalc c = calc_like(lo, lo_type(x));
    MathReal value = body_pow_f32(&c, lo_fcast(lo, x, c.real), lo_fcast(lo, y, c.real));
    return lo_fcast(lo, value, lo_type(x));
}

LoValue lo_exact_muladd(Lo *lo, LoValue a, LoValue b, LoValue x)
{
    MathCalc c = calc_like(lo, lo_type(a));
    if (lo_element(lo_type(a)) == lo_f64)
        return body_fma(&c, a, b, x);
    MathReal value =
        body_fma_f32(&c, lo_fcast(lo, a, c.real), lo_fcast(lo, b, c.real), lo_fcast(lo, x, c.real));
    return lo_fcast(lo, value, lo_type(a));
}
