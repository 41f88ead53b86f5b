/* Which numbers kernels may compute as formulas of positions: those that no position below
 * MOST_POSITION makes larger than an i32 holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/cover.h"
#include "ir/position_form.h"
#include "ir/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_formula(int64_t factor, int64_t plus)
{
    char text[512];
    snprintf(text, sizeof text,
             "module \"m\" dim T\nfunc f {\n"
             "%%0 = iota : i32[T] %%1 = const {value = %" PRId64
             "} : i32[] %%2 = mul %%0, %%1 : i32[T]\n"
             "%%3 = const {value = %" PRId64 "} : i32[] %%4 = add %%2, %%3 : i32[T]\n"
             "output %%4 {name = \"x\"}\n}\n",
             factor, plus);
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    Source source = {.path = "cover.tir", .text = text, .length = strlen(text)};
    Module *module = ir_parse(arena, &diags, &source);
    assert_non_null(module);
    const Op *output = module->functions.data[0]->body.last;
    const bool is = cover_is_formula(output->args[0], NULL);
    arena_free(arena);
    return is;
}

static void test_overflow(void **state)
{
    (void)state;
    static const int64_t factors[] = {1, 2, 127, 128, 255, 256, 300, 511, 512, 100000};
    static const int64_t plus[] = {0, -1, 500000000, -500000000, 2000000000};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        for (size_t k = 0; k < sizeof plus / sizeof *plus; k++) {
            const int64_t last = factors[i] * (MOST_POSITION - 1) + plus[k];
            const bool is = is_formula(factors[i], plus[k]);
            if (is && (last < INT32_MIN || last > INT32_MAX))
                fail_msg("%" PRId64 " · position + %" PRId64 " is a formula, and may be %" PRId64,
                         factors[i], plus[k], last);
            if (!is && factors[i] <= 128 && llabs(plus[k]) <= 500000000)
                fail_msg("%" PRId64 " · position + %" PRId64 " is no formula", factors[i], plus[k]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_overflow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
