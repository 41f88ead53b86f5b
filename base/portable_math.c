/* The functions of portable_math.def on the host. The compiler must not fuse products and sums
 * (CMakeLists.txt, driver/compile/link.c). */
#include "base/portable_math.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef const void MathCalc;
typedef double MathReal;
typedef uint64_t MathWord;
typedef int MathTruth;

static MathWord bits_of_real(MathReal x)
{
    MathWord bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static MathReal real_of_bits(MathWord bits)
{
    MathReal x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static MathReal polynomial_of(MathReal x, int n, const double *factors)
{
    MathReal sum = factors[0];
    for (int i = 1; i < n; i++)
        sum = sum * x + factors[i];
    return sum;
}

#define REAL(x) ((MathReal)(x))
#define WORD(x) ((MathWord)(x))
#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, b) ((a) / (b))
#define NEG(a) (-(a))
#define ABS(a) fabs(a)
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define SHL(a, n) ((a) << (n))
#define LSHR(a, n) ((a) >> (n))
#define ASHR(a, n) ((MathWord)((int64_t)(a) >> (n)))
#define SHL_BY SHL
#define LSHR_BY LSHR
#define BOTH(a, b) ((a) && (b))
#define EITHER(a, b) ((a) || (b))
#define NOT(a) (!(a))
#define LT(a, b) ((a) < (b))
#define GT(a, b) ((a) > (b))
#define EQ(a, b) ((a) == (b))
#define SAME(a, b) ((a) == (b))
#define UNORDERED(a, b) isunordered(a, b)
#define SELECT(t, a, b) ((t) ? (a) : (b))
#define IS_KNOWN(t) true
#define IS_TRUE(t) (t)
#define BITS(a) bits_of_real(a)
#define FROM_BITS(a) real_of_bits(a)
#define FROM_INT(a) ((MathReal)(int64_t)(a))
#define POLYNOMIAL(x, ...)                                                    \
    polynomial_of(x, (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), \
                  (double[]){__VA_ARGS__})

#include "base/portable_math.def"

double portable_exp(double x) { return body_exp(NULL, x); }
double portable_expm1(double x) { return body_expm1(NULL, x); }
double portable_log(double x) { return body_log(NULL, x); }
double portable_log1p(double x) { return body_log1p(NULL, x); }
double portable_tanh(double x) { return body_tanh(NULL, x); }
double portable_erf(double x) { return body_erf(NULL, x); }
double portable_sin(double x) { return body_sin(NULL, x); }
double portable_cos(double x) { return body_cos(NULL, x); }
double portable_pow(double x, double y) { return body_pow(NULL, x, y); }
double portable_pow_f32(double x, double y) { return body_pow_f32(NULL, x, y); }
double portable_fma(double a, double b, double x) { return body_fma(NULL, a, b, x); }
double portable_fma_f32(double a, double b, double x) { return body_fma_f32(NULL, a, b, x); }
