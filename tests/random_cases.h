/* What tests of formulas share: cases at random, and comparing. Include it after cmocka's
 * headers. */
#ifndef TESTS_RANDOM_CASES_H
#define TESTS_RANDOM_CASES_H

#include <math.h>
#include <stdint.h>

enum { CASES = 500 };

static uint64_t random_state;

/* 0 … n - 1 */
static inline int below(int n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)(random_state >> 33) % n;
}

/* Equal but for rounding; NaN equals NaN. */
static inline void assert_near(double a, double b)
{
    if (isnan(a) != isnan(b) || fabs(a - b) > 1e-12 * (1 + fabs(b)))
        fail_msg("%.17g is not %.17g", a, b);
}

#endif
