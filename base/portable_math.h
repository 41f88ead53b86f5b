/* Functions of f64 that give the same bits on every machine, which the C library's do not: what
 * reaches a param is computed by these (rates, initial values, averages, constants of a model).
 * At most 1 ulp from the true value, erf 1.2; infinities, zeros and NaN as in C. sqrt and
 * floor of the C library are exact, and need no own function. */
#ifndef BASE_PORTABLE_MATH_H
#define BASE_PORTABLE_MATH_H

double portable_exp(double x);
double portable_expm1(double x);
double portable_log(double x);
double portable_log1p(double x);
double portable_tanh(double x);
double portable_erf(double x);
double portable_sin(double x);
double portable_cos(double x);
double portable_pow(double x, double y);
/* Of two numbers of f32: rounded to f32 it is within 0.51 ulp. */
double portable_pow_f32(double x, double y);
/* a b + x, rounded once, without fma of the C library, which some get wrong. _f32: of numbers of
 * f32; rounded to f32 it has been rounded once. */
double portable_fma(double a, double b, double x);
double portable_fma_f32(double a, double b, double x);

#endif
