/* base/portable_math.h: how far from the true values (the C library's of long double, where that is
 * wider), powers that are exact, and the bits of results, which are those of every machine. */
#include "base/portable_math.h"
#include "base/philox.h"
#include "base/xxh64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

typedef struct Row {
    const char *name;
    double (*function)(double x);
    long double (*truth)(long double x);
    double size; /* of the arguments of the second half */
    double ulps; /* at most */
} Row;

static const Row rows[] = {
    {"exp", portable_exp, expl, 1500, 0.75}, {"expm1", portable_expm1, expm1l, 4, 0.95},
    {"log", portable_log, logl, 4, 0.85},    {"log1p", portable_log1p, log1pl, 4, 0.9},
    {"tanh", portable_tanh, tanhl, 4, 0.85}, {"erf", portable_erf, erfl, 14, 1.2},
    {"sin", portable_sin, sinl, 4e6, 0.85},  {"cos", portable_cos, cosl, 4e6, 0.85},
};
enum { N_ROWS = sizeof rows / sizeof *rows, N = 1 << 15 };

static double ulps_between(double got, long double want)
{
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (isinf(got) || isinf((double)want))
        return got == (double)want ? 0 : INFINITY;
    int exponent;
    frexpl(want, &exponent);
    return (double)(fabsl(got - want) / ldexpl(1, exponent < -1021 ? -1074 : exponent - 53));
}

static uint64_t drawn(uint32_t i)
{
    uint32_t counter[4] = {i}, key[2] = {5, 6}, bits[4];
    philox4x32(counter, key, bits);
    return (uint64_t)bits[0] << 32 | bits[1];
}

/* The first half has any bits, the second is within the size. */
static double argument(int i, double size)
{
    uint64_t word = drawn((uint32_t)i);
    double x;
    memcpy(&x, &word, sizeof x);
    return i < N / 2 ? x : ((double)(word >> 11) * 0x1p-53 - 0.5) * size;
}

static void test_accuracy(void **state)
{
    (void)state;
    if (LDBL_MANT_DIG <= DBL_MANT_DIG)
        skip();
    for (int r = 0; r < N_ROWS; r++)
        for (int i = 0; i < N; i++) {
            double x = argument(i, rows[r].size), off;
            off = ulps_between(rows[r].function(x), rows[r].truth(x));
            if (off > rows[r].ulps)
                fail_msg("%s(%.17g) is %.3f ulp off", rows[r].name, x, off);
        }
}

static void test_powers(void **state)
{
    (void)state;
    for (int i = 0; i < N && LDBL_MANT_DIG > DBL_MANT_DIG; i++) {
        double x = fabs(argument(i, 8)), most = 700 / fabs(log(x)), y;
        y = ((double)(drawn((uint32_t)(i + N)) >> 11) * 0x1p-52 - 1) * fmin(most, 1e300);
        if (!isfinite(x) || !isfinite(y) || x == 0)
            continue;
        double off = ulps_between(portable_pow(x, y), powl(x, y));
        if (off > 0.85)
            fail_msg("%.17g ^ %.17g is %.3f ulp off", x, y, off);
    }
    for (int a = 1; a < 1000; a++) {
        double power = 1;
        for (int n = 0; n <= 5; n++, power *= a) {
            assert_true(portable_pow(a, n) == power);
            assert_true(power >= 0x1p24 || (float)portable_pow_f32(a, n) == power);
        }
        assert_true(portable_pow((double)a * a, 0.5) == a);
    }
}

/* Zeros, infinities, NaN and the ends of ranges: as the C library, with the sign. */
static void test_special(void **state)
{
    (void)state;
    static const double x[] = {0,      -0.0,       INFINITY,   -INFINITY, NAN,     1,        -1,
                               0.5,    -0.5,       2,          -2,        3,       -3,       1e300,
                               -1e300, 5e-324,     -5e-324,    DBL_MIN,   DBL_MAX, -DBL_MAX, 709.78,
                               709.79, -745.1,     -745.2,     -708.5,    6.1e22,  2.5,      -2.5,
                               1e16,   0x1p53 - 1, 1 - 0x1p53, 0x1p52 + 1};
    enum { N_SPECIAL = sizeof x / sizeof *x };
    double (*const library[])(double) = {exp, expm1, log, log1p, tanh, erf, sin, cos};
    for (int i = 0; i < N_SPECIAL; i++) {
        for (int r = 0; r < N_ROWS; r++) {
            double got = rows[r].function(x[i]), want = library[r](x[i]);
            if (ulps_between(got, want) > 2 || (!isnan(want) && signbit(got) != signbit(want)))
                fail_msg("%s(%g) is %g instead of %g", rows[r].name, x[i], got, want);
        }
        for (int j = 0; j < N_SPECIAL; j++) {
            double got = portable_pow(x[i], x[j]), want = pow(x[i], x[j]);
            if (ulps_between(got, want) > 2 || (!isnan(want) && signbit(got) != signbit(want)))
                fail_msg("%g ^ %g is %g instead of %g", x[i], x[j], got, want);
        }
    }
}

static double drawn_number(uint64_t word)
{
    double x;
    memcpy(&x, &word, sizeof x);
    return x;
}

static int exponent(double x) { return isfinite(x) && x != 0 ? ilogb(x) : 0; }

/* Of any bits, of sums that cancel, and of results around the least normal number, as glibc has it:
 * in f64 and in f32. */
static void test_fma(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 1 << 18; i++) {
        double a = drawn_number(drawn(4 * i)), b = drawn_number(drawn(4 * i + 1)), x;
        x = drawn_number(drawn(4 * i + 2));
        if (i % 4 == 1)
            x = -(a * b) * (1 + ((int)(i / 4 % 7) - 3) * 0x1p-52);
        if (i % 4 == 2 && isfinite(a) && isfinite(b) && isfinite(x)) {
            b = ldexp(b, -1022 - exponent(a) - exponent(b) + (int)(i / 4 % 64) - 40);
            x = i % 8 == 2 ? ldexp(x, -1022 - exponent(x) + (int)(i / 256 % 64) - 40) : x;
        }
        double got = portable_fma(a, b, x), want = fma(a, b, x);
        if (memcmp(&got, &want, sizeof got) && !(isnan(got) && isnan(want)))
            fail_msg("%a * %a + %a is %a instead of %a", a, b, x, got, want);
        float p = (float)(a = ldexp(a, i % 8 - exponent(a))), q = (float)ldexp(b, 3 - exponent(b));
        float r = (float)ldexp(x, (int)(i % 60) - 30 - exponent(x));
        float narrow = (float)portable_fma_f32(p, q, r), wanted = fmaf(p, q, r);
        if (memcmp(&narrow, &wanted, sizeof narrow) && !(isnan(narrow) && isnan(wanted)))
            fail_msg("%a * %a + %a is %a instead of %a in f32", p, q, r, narrow, wanted);
    }
}

/* Of a few thousand results, by a machine of another kind, too. */
static void test_bits(void **state)
{
    (void)state;
    static const uint64_t sums[N_ROWS + 1] = {
        0x2cb11756256c5876, 0xc461f1e1a3e7604c, 0x56241e42934989e3,
        0xdd128080f2c238ce, 0xaa7557d75b9c376b, 0xe8093e8979824d4f,
        0xa2dd452b01db7e1e, 0xde92169a852d610c, 0xab83b2641bfa415e};
    enum { FEW = 4096 };
    static double results[FEW];
    bool same = true;
    for (int r = 0; r <= N_ROWS; r++) {
        for (int i = 0; i < FEW; i++) {
            double x = argument(N / FEW * i, 8);
            results[i] = r < N_ROWS ? rows[r].function(x) : portable_pow(fabs(x), 0.3);
            if (isnan(results[i]))
                results[i] = 0;
        }
        uint64_t sum = xxh64(results, sizeof results, 0);
        if (sum != sums[r])
            print_error("%s: 0x%016llx\n", r < N_ROWS ? rows[r].name : "pow",
                        (unsigned long long)sum);
        same &= sum == sums[r];
    }
    assert_true(same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accuracy), cmocka_unit_test(test_powers),
        cmocka_unit_test(test_special), cmocka_unit_test(test_fma), cmocka_unit_test(test_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
