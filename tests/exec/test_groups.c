/* The scales of groups (runtime/product/groups_rule.h): none loses more than the one that just
 * holds all terms; what has a scale of f16 is found again; small scales; terms without a scale. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/half.h"
#include "runtime/product/groups.h"

#include <math.h>
#include <string.h>

enum { TERMS = 32 };

static uint32_t state = 1;
static float next(void)
{
    state = state * 1664525 + 1013904223;
    return (float)(state >> 8) / (1 << 23) - 1;
}

/* Near to normal: the sum of some. */
static float next_normal(void)
{
    float sum = 0;
    for (int i = 0; i < 6; i++)
        sum += next();
    return sum;
}

/* ---- errors ---- */

static double error_by(const float *x, int64_t n, double scale, double minimum, const int8_t *q)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += pow((double)x[i] - (scale * q[i] + minimum), 2);
    return sum;
}

/* Of the scale that just holds all terms. */
static double first_error(Quant quant, const float *x, int64_t n)
{
    const bool has_minimum = quant_info(quant)->has_minimum;
    float m = 0, least = INFINITY, greatest = -INFINITY;
    int8_t q[TERMS];
    for (int64_t i = 0; i < n; i++) {
        m = fabsf(x[i]) > fabsf(m) ? x[i] : m;
        least = fminf(least, x[i]);
        greatest = fmaxf(greatest, x[i]);
    }
    const float minimum = has_minimum ? half_to_float(half_from_float(least)) : 0;
    const float scale =
        half_to_float(half_at_least(has_minimum ? (greatest - least) / 15 : m / -8));
    for (int64_t i = 0; i < n; i++) {
        const float at = scale == 0 ? 0 : rintf((x[i] - minimum) / scale);
        q[i] = (int8_t)fminf(has_minimum ? 15 : 7, fmaxf(has_minimum ? 0 : -8, at));
    }
    return error_by(x, n, (double)scale, (double)minimum, q);
}

/* What is lost in `groups` groups, and would be with the first scales. */
typedef struct Losses {
    double lost, first;
} Losses;

static Losses lose(Quant quant, int groups, float spread, float middle)
{
    Losses all = {0, 0};
    for (int g = 0; g < groups; g++) {
        float x[TERMS];
        int8_t q[TERMS];
        const int64_t n = g % 3 ? TERMS : 1 + g % TERMS;
        for (int64_t i = 0; i < n; i++)
            x[i] = next_normal() * spread + middle;
        const GroupScale of = groups_round(quant, n, x, 1, q);
        const double lost = error_by(x, n, (double)half_to_float(of.scale),
                                     (double)half_to_float(of.minimum), q),
                     first = first_error(quant, x, n);
        assert_true(lost <= first * (1 + 1e-5) + 1e-12 * (double)(middle * middle));
        all.lost += lost;
        all.first += first;
    }
    return all;
}

static void test_no_group_loses_more(void **unused)
{
    (void)unused;
    static const float middles[] = {0, 0.3f, -8};
    static const float spreads[] = {1, 0.02f, 1e-4f, 3e4f};
    for (size_t i = 0; i < sizeof middles / sizeof *middles; i++)
        for (size_t j = 0; j < sizeof spreads / sizeof *spreads; j++) {
            lose(QUANT_INT4, 500, spreads[j], middles[i] * spreads[j]);
            lose(QUANT_Q4_1, 500, spreads[j], middles[i] * spreads[j]);
        }
    const Losses int4 = lose(QUANT_INT4, 4000, 0.02f, 0), q4_1 = lose(QUANT_Q4_1, 4000, 0.02f, 0);
    assert_true(int4.lost < 0.92 * int4.first); /* 0.89, of normal numbers */
    assert_true(q4_1.lost < 0.87 * q4_1.first); /* 0.83 */
}

/* ---- found again ---- */

static void check_again(Quant quant, const float *x, int64_t n)
{
    int8_t q[TERMS], again[TERMS];
    float value[TERMS], found[TERMS];
    const GroupScale of = groups_round(quant, n, x, 1, q);
    for (int64_t i = 0; i < n; i++)
        value[i] = half_to_float(of.scale) * (float)q[i] + half_to_float(of.minimum);
    const GroupScale second = groups_round(quant, n, value, 1, again);
    for (int64_t i = 0; i < n; i++)
        found[i] = half_to_float(second.scale) * (float)again[i] + half_to_float(second.minimum);
    assert_memory_equal(value, found, sizeof *value * (size_t)n);
}

static void test_rounded_again(void **unused)
{
    (void)unused;
    for (int g = 0; g < 20000; g++) {
        float x[TERMS];
        const int64_t n = g % 3 ? TERMS : 1 + g % TERMS;
        for (int64_t i = 0; i < n; i++)
            x[i] = next_normal() * (g % 2 ? 0.02f : 3);
        check_again(QUANT_INT4, x, n);
        check_again(QUANT_Q4_1, x, n);
    }
}

/* Blocks as others write them: with the integer -8, or at least 7 and -7; with a minimum from 0 to
 * 15. Integers are the same where one is -8. */
static void test_blocks_of_others(void **unused)
{
    (void)unused;
    for (int g = 0; g < 20000; g++) {
        const bool has_minimum = g % 2;
        const Quant quant = has_minimum ? QUANT_Q4_1 : QUANT_INT4;
        const float scale = half_to_float(half_from_float(next() + 1.01f)),
                    minimum = has_minimum ? half_to_float(half_from_float(4 * next())) : 0;
        int8_t q[TERMS], found[TERMS];
        float x[TERMS];
        for (int i = 0; i < TERMS; i++)
            q[i] = (int8_t)(has_minimum ? 7.5f + next() * 7.4f : next() * 6.9f);
        q[g % TERMS] = has_minimum ? 0 : g % 4 ? -8 : 7;
        q[(g + 9) % TERMS] = has_minimum ? 15 : q[(g + 9) % TERMS];
        for (int i = 0; i < TERMS; i++)
            x[i] = scale * (float)q[i] + minimum;
        const GroupScale of = groups_round(quant, TERMS, x, 1, found);
        for (int i = 0; i < TERMS; i++)
            assert_true(half_to_float(of.scale) * (float)found[i] + half_to_float(of.minimum) ==
                        x[i]);
        if (has_minimum || g % 4)
            assert_memory_equal(q, found, sizeof q);
    }
}

/* Terms on a grid, as those of a Q4_K: integers of any range times a scale that f16 cannot hold,
 * plus a minimum. Only the rounding of these two loses anything, and the result is found again. */
static void test_grids(void **unused)
{
    (void)unused;
    for (int g = 0; g < 20000; g++) {
        const bool has_minimum = g % 2;
        const Quant quant = has_minimum ? QUANT_Q4_1 : QUANT_INT4;
        const int range = 1 + g / 2 % (has_minimum ? 15 : 7), least = g % (16 - range);
        const float scale = next() + 1.01f, minimum = has_minimum ? -8 * scale * fabsf(next()) : 0;
        int8_t q[TERMS];
        float x[TERMS];
        for (int i = 0; i < TERMS; i++) {
            const float at = next();
            x[i] = has_minimum ? scale * (rintf(fabsf(at) * (float)range) + (float)least) + minimum
                               : scale * rintf(at * (float)range);
        }
        const GroupScale of = groups_round(quant, TERMS, x, 1, q);
        const double lost = error_by(x, TERMS, (double)half_to_float(of.scale),
                                     (double)half_to_float(of.minimum), q);
        assert_true(sqrt(lost / TERMS) < 0.01 * (double)scale); /* a rounding loses 0.29 of it */
        check_again(quant, x, TERMS);
    }
}

/* ---- edges ---- */

/* Below f16's normal numbers: the least scale that clips nothing but at the other end, never 0. */
static void test_small_scales(void **unused)
{
    (void)unused;
    for (int exponent = -16; exponent > -60; exponent--) {
        float x[TERMS] = {0};
        int8_t q[TERMS];
        for (int i = 0; i < TERMS; i++)
            x[i] = ldexpf(next(), exponent);
        x[3] = ldexpf(-1.5f, exponent);
        const GroupScale of = groups_round(QUANT_INT4, TERMS, x, 1, q);
        const float scale = half_to_float(of.scale), least = fmaxf(fabsf(x[3]) / 8, 0x1p-24f);
        assert_true(scale >= least && scale <= least + 0x1p-24f);
        for (int i = 0; i < TERMS; i++)
            assert_true(fabsf(x[i] - scale * (float)q[i]) <= scale);
    }
}

static void test_without_a_scale(void **unused)
{
    (void)unused;
    static const float wrong[] = {NAN, INFINITY, -INFINITY, 3e38f};
    for (int quant = QUANT_NONE + 1; quant < QUANT_COUNT; quant++) {
        if (!quant_info((Quant)quant)->group)
            continue;
        int8_t q[TERMS];
        float x[TERMS] = {0};
        GroupScale of = groups_round((Quant)quant, TERMS, x, 1, q);
        assert_true(half_to_float(of.scale) == 0 && half_to_float(of.minimum) == 0);
        of = groups_round((Quant)quant, 0, x, 1, q);
        assert_true(half_to_float(of.scale) == 0 && half_to_float(of.minimum) == 0);
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            x[5] = wrong[i];
            x[6] = 1;
            of = groups_round((Quant)quant, TERMS, x, 1, q);
            assert_false(isfinite(half_to_float(of.scale) + half_to_float(of.minimum)));
        }
        x[5] = nextafterf(groups_limit((Quant)quant), 0);
        of = groups_round((Quant)quant, TERMS, x, 1, q);
        assert_true(isfinite(half_to_float(of.scale) + half_to_float(of.minimum)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_group_loses_more), cmocka_unit_test(test_rounded_again),
        cmocka_unit_test(test_blocks_of_others),    cmocka_unit_test(test_grids),
        cmocka_unit_test(test_small_scales),        cmocka_unit_test(test_without_a_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
