/* The percentiles of lengths, and which ratios of lengths are outliers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "driver/corpus/survey/spread.h"

#include <math.h>

/* The p-th percentile is the least length that p % of all lengths do not exceed. */
static void test_percentiles(void **state)
{
    (void)state;
    static const struct {
        int64_t n; /* of the lengths 1 … n */
        SurveyLengths expected;
    } rows[] = {
        {1, {.total = 1, .mean = 1, .p50 = 1, .p90 = 1, .p99 = 1, .most = 1}},
        {3, {.total = 6, .mean = 2, .p50 = 2, .p90 = 3, .p99 = 3, .most = 3}},
        {10, {.total = 55, .mean = 5.5, .p50 = 5, .p90 = 9, .p99 = 10, .most = 10}},
        {101, {.total = 5151, .mean = 51, .p50 = 51, .p90 = 91, .p99 = 100, .most = 101}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        LengthSpread spread = {0};
        for (int64_t length = rows[i].n; length > 0; length--)
            length_spread_add(&spread, length);
        const SurveyLengths found = length_spread_of(&spread), *expected = &rows[i].expected;
        assert_int_equal(found.total, expected->total);
        assert_true(found.mean == expected->mean);
        assert_int_equal(found.p50, expected->p50);
        assert_int_equal(found.p90, expected->p90);
        assert_int_equal(found.p99, expected->p99);
        assert_int_equal(found.most, expected->most);
        length_spread_free(&spread);
    }
}

/* Above LENGTH_EXACT a length is known to 12 significant bits, rounded down. */
static void test_long_lengths(void **state)
{
    (void)state;
    LengthSpread spread = {0};
    for (int64_t length = 1; length < (int64_t)1 << 30; length = length * 3 + 1) {
        length_spread_add(&spread, length);
        LengthSpread one = {0};
        length_spread_add(&one, length);
        const int64_t known = length_spread_of(&one).p50;
        assert_true(known <= length && length - known <= length >> 11);
        assert_true(length >= LENGTH_EXACT || known == length);
        length_spread_free(&one);
    }
    length_spread_free(&spread);
}

static void test_outliers(void **state)
{
    (void)state;
    static RatioSpread spread;
    for (int64_t i = 0; i < 100; i++)
        ratio_spread_add(&spread, 40 + i % 7, 48 + i % 5);
    ratio_spread_settle(&spread);
    assert_true(fabs(ratio_spread_typical(&spread) - 50. / 43) < 0.02);
    assert_false(ratio_spread_is_off(&spread, 43, 50));
    assert_false(ratio_spread_is_off(&spread, 43, 90)); /* within a factor of 2 */
    assert_true(ratio_spread_is_off(&spread, 43, 120) && ratio_spread_is_off(&spread, 43, 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_percentiles),
        cmocka_unit_test(test_long_lengths),
        cmocka_unit_test(test_outliers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
