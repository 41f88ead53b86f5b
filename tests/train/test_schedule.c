/* Learning rates against their formulas. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/train/schedule.h"

#include <math.h>

static void expect(const RateSettings *settings, int64_t step, double rate)
{
    double found = schedule_rate(settings, step);
    if (!(fabs(found - rate) <= 1e-12 * fabs(rate) + 1e-300))
        fail_msg("step %lld: %.17g instead of %.17g", (long long)step, found, rate);
}

static void noam_is_equation_3(void **state)
{
    (void)state;
    RateSettings s = {.kind = RATE_NOAM, .d_model = 512, .factor = 1, .warmup = 4000};
    expect(&s, 1, pow(512, -0.5) * pow(4000, -1.5));
    expect(&s, 4000, pow(512, -0.5) * pow(4000, -0.5));
    expect(&s, 100000, pow(512, -0.5) * pow(100000, -0.5));
    s.factor = 2;
    expect(&s, 10, 2 * pow(512, -0.5) * 10 * pow(4000, -1.5));
}

static void inverse_square_root_reaches_its_peak(void **state)
{
    (void)state;
    RateSettings s = {.kind = RATE_INVERSE_SQRT, .peak = 0.005, .warmup = 2000};
    expect(&s, 1, 0.005 / 2000);
    expect(&s, 2000, 0.005);
    expect(&s, 8000, 0.0025);
    s.warmup = 0;
    expect(&s, 4, 0.0025);
}

static void linear_and_cosine_end_at_the_final_rate(void **state)
{
    (void)state;
    RateSettings s = {.kind = RATE_LINEAR, .peak = 1, .final = 0.2, .warmup = 10, .steps = 110};
    expect(&s, 5, 0.5);
    expect(&s, 10, 1);
    expect(&s, 60, 0.6);
    expect(&s, 110, 0.2);
    expect(&s, 500, 0.2);
    s.kind = RATE_COSINE;
    expect(&s, 10, 1);
    expect(&s, 60, 0.6);
    expect(&s, 35, 0.2 + 0.8 * 0.5 * (1 + cos(acos(-1.0) / 4)));
    expect(&s, 110, 0.2);
    expect(&s, 111, 0.2);
}

static void constant_warms_up(void **state)
{
    (void)state;
    RateSettings s = {.kind = RATE_CONSTANT, .peak = 3, .warmup = 3};
    expect(&s, 1, 1);
    expect(&s, 3, 3);
    expect(&s, 1000000, 3);
}

/* The peak of noam is factor × (d_model × warmup)^-0.5. */
static void a_shorter_warmup_has_the_same_peak(void **state)
{
    (void)state;
    const RateSettings noam = {.kind = RATE_NOAM, .d_model = 512, .factor = 1, .warmup = 4000};
    RateSettings s = rate_shortened(&noam, 100);
    expect(&s, 50, pow(512.0 * 4000, -0.5) / 2);
    expect(&s, 100, pow(512.0 * 4000, -0.5));
    expect(&s, 400, pow(512.0 * 4000, -0.5) / 2);
    const RateSettings cosine = {
        .kind = RATE_COSINE, .peak = 1, .final = 0, .warmup = 50, .steps = 110};
    s = rate_shortened(&cosine, 10);
    expect(&s, 5, 0.5);
    expect(&s, 60, 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noam_is_equation_3),
        cmocka_unit_test(inverse_square_root_reaches_its_peak),
        cmocka_unit_test(linear_and_cosine_end_at_the_final_rate),
        cmocka_unit_test(constant_warms_up),
        cmocka_unit_test(a_shorter_warmup_has_the_same_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
