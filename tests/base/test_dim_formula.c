/* Formulas of lengths: what they are in a row, which numbers they may have, which are the same, and
 * how they are said. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/dim_formula.h"

#include <string.h>

enum { Q, P, S, T, N_SYMBOLS };
enum { TIMES = MOST_DIM_TIMES, PLUS = MOST_DIM_PLUS, MOST = MOST_DIM_LENGTH };

static int64_t length_given(const void *of, int32_t symbol)
{
    return ((const int64_t *)of)[symbol];
}

static const char *name_given(const void *of, int32_t symbol)
{
    return ((const char *const *)of)[symbol];
}

static const char *const names[N_SYMBOLS] = {"Q", "P", "S", "T"};

#define LONG DIM_TOO_LONG

/* clang-format off */
static const struct {
    const char *said;
    DimFormula formula;
    struct { int64_t of[N_SYMBOLS], length; } rows[5];
    int n;
} lengths[] = {
    {"1 + S", {1, {{S, 1}}, 1, 1, 0, 0}, {
        {{0, 0, 0, 0}, 1}, {{9, 9, 4, 9}, 5}, {{0, 0, MOST - 1, 0}, MOST}, {{0, 0, MOST, 0}, LONG}, {{0, 0, LONG, 0}, LONG}}, 5},
    {"3 * S - 2", {1, {{S, 3}}, -2, 1, 0, 0}, {
        {{0, 0, 0, 0}, 0}, {{0, 0, 1, 0}, 1}, {{0, 0, 5, 0}, 13}}, 3},
    {"(S + T - 7) / 3", {2, {{S, 1}, {T, 1}}, -7, 3, 0, 0}, {
        {{0, 0, 3, 3}, 0}, {{0, 0, 5, 4}, 0}, {{0, 0, 5, 5}, 1}, {{0, 0, MOST, MOST}, 1431655762}, {{0, 0, 1, LONG}, LONG}}, 5},
    {"65536 * Q + 65536 * P + 65536 * S + 65536 * T - 16777216", {4, {{Q, TIMES}, {P, TIMES}, {S, TIMES}, {T, TIMES}}, -PLUS, 1, 0, 0}, {
        {{MOST, MOST, MOST, MOST}, LONG}, {{1, 1, 1, 1}, 0}, {{8191, 8191, 8191, 8191}, 2130444288}}, 3},
    {"(65536 * Q) / 65536", {1, {{Q, TIMES}}, 0, TIMES, 0, 0}, {{{MOST, 0, 0, 0}, MOST}, {{7, 0, 0, 0}, 7}}, 2},
    {"Q where 0 <= Q <= 15", {1, {{Q, 1}}, 0, 1, 0, 15}, {
        {{0, 9, 0, 0}, 0}, {{15, 20, 0, 0}, 15}, {{16, 20, 0, 0}, 0}, {{LONG, 0, 0, 0}, LONG}}, 4},
    {"Q where 16 <= Q <= 2147483647", {1, {{Q, 1}}, 0, 1, 16, MOST}, {
        {{15, 20, 0, 0}, 0}, {{16, 20, 0, 0}, 16}, {{MOST, 0, 0, 0}, MOST}}, 3},
    {"P where 16 <= Q <= 2147483647", {2, {{P, 1}, {Q, 0}}, 0, 1, 16, MOST}, {
        {{15, 99, 0, 0}, 0}, {{16, 99, 0, 0}, 99}}, 2},
    {"(2 * P + Q - 7) / 3 where 4 <= Q <= 20", {2, {{P, 2}, {Q, 1}}, -7, 3, 4, 20}, {
        {{3, 30, 0, 0}, 0}, {{4, 1, 0, 0}, 0}, {{4, 3, 0, 0}, 1}, {{20, 20, 0, 0}, 17}, {{21, 20, 0, 0}, 0}}, 5},
    {"2 + P where 0 <= Q <= 1", {2, {{P, 1}, {Q, 0}}, 2, 1, 0, 1}, {
        {{0, 5, 0, 0}, 7}, {{1, 5, 0, 0}, 7}, {{2, 5, 0, 0}, 0}}, 3},
    {"0", {0, {{0, 0}}, 0, 1, 0, 0}, {{{1, 1, 1, 1}, 0}}, 1},
};

static const struct {
    DimFormula formula;
    const char *problem; /* words of it; NULL: there is none */
} problems[] = {
    {{1, {{S, 1}}, 0, 1, 0, 0}, NULL},
    {{1, {{S, TIMES}}, -PLUS, TIMES, 0, 0}, NULL},
    {{2, {{S, 1}, {T, 0}}, 0, 1, 0, 5}, NULL},
    {{5, {{S, 1}}, 0, 1, 0, 0}, "too many dimensions"},
    {{-1, {{S, 1}}, 0, 1, 0, 0}, "too many dimensions"},
    {{1, {{S, 0}}, 0, 1, 0, 0}, "out of bounds"},
    {{1, {{S, 0}}, 0, 1, 0, 5}, "out of bounds"},
    {{2, {{S, 0}, {T, 1}}, 0, 1, 0, 5}, "out of bounds"},
    {{2, {{S, 1}, {T, 0}}, 0, 1, 0, 0}, "out of bounds"},
    {{1, {{S, -1}}, 0, 1, 0, 0}, "out of bounds"},
    {{1, {{S, TIMES + 1}}, 0, 1, 0, 0}, "out of bounds"},
    {{1, {{S, 1}}, PLUS + 1, 1, 0, 0}, "out of bounds"},
    {{1, {{S, 1}}, -PLUS - 1, 1, 0, 0}, "out of bounds"},
    {{1, {{S, 1}}, 0, 0, 0, 0}, "out of bounds"},
    {{1, {{S, 1}}, 0, TIMES + 1, 0, 0}, "out of bounds"},
    {{1, {{S, 1}}, 0, 1, 6, 5}, "out of bounds"},
    {{1, {{S, 1}}, 0, 1, 6, 0}, "out of bounds"},
    {{1, {{S, 1}}, 0, 1, -1, 5}, "out of bounds"},
    {{1, {{S, 1}}, 0, 1, -5, -1}, "out of bounds"},
};

static const struct {
    DimFormula a, b;
    bool same;
} pairs[] = {
    {{2, {{S, 1}, {T, 2}}, 1, 1, 0, 0}, {2, {{T, 2}, {S, 1}}, 1, 1, 0, 0}, true},
    {{2, {{S, 1}, {T, 2}}, 1, 1, 0, 0}, {2, {{S, 2}, {T, 1}}, 1, 1, 0, 0}, false},
    {{2, {{S, 1}, {T, 2}}, 1, 1, 0, 0}, {1, {{S, 1}}, 1, 1, 0, 0}, false},
    {{1, {{S, 1}}, 1, 1, 0, 0}, {1, {{S, 1}}, 2, 1, 0, 0}, false},
    {{1, {{S, 1}}, 1, 1, 0, 0}, {1, {{S, 1}}, 1, 2, 0, 0}, false},
    {{1, {{S, 1}}, 1, 1, 0, 0}, {1, {{S, 1}}, 1, 1, 0, 9}, false},
    {{1, {{S, 1}}, 1, 1, 1, 9}, {1, {{S, 1}}, 1, 1, 2, 9}, false},
    {{2, {{S, 1}, {T, 1}}, 0, 1, 0, 9}, {2, {{T, 1}, {S, 1}}, 0, 1, 0, 9}, false}, /* of other ranges */
};
/* clang-format on */

static void has_lengths(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int r = 0; r < lengths[i].n; r++) {
            const int64_t length =
                dim_formula_length(&lengths[i].formula, length_given, lengths[i].rows[r].of);
            if (length != lengths[i].rows[r].length)
                fail_msg("%s, row %d: %lld", lengths[i].said, r, (long long)length);
        }
}

static void is_said(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        assert_string_equal(dim_formula_text(arena, &lengths[i].formula, name_given, names),
                            lengths[i].said);
    arena_free(arena);
}

static void has_bounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        const char *problem = dim_formula_problem(&problems[i].formula);
        assert_int_equal(problem != NULL, problems[i].problem != NULL);
        if (problem && !strstr(problem, problems[i].problem))
            fail_msg("%zu: %s", i, problem);
    }
}

static void is_compared(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_true(dim_formula_equal(&pairs[i].a, &pairs[i].a));
        assert_int_equal(dim_formula_equal(&pairs[i].a, &pairs[i].b), pairs[i].same);
        assert_int_equal(dim_formula_equal(&pairs[i].b, &pairs[i].a), pairs[i].same);
    }
}

static void is_sum(void **state)
{
    (void)state;
    assert_true(dim_formula_is_sum(&(DimFormula){1, {{S, 3}}, 2, 1, 0, 0}));
    assert_false(dim_formula_is_sum(&(DimFormula){1, {{S, 3}}, -1, 1, 0, 0}));
    assert_false(dim_formula_is_sum(&(DimFormula){1, {{S, 3}}, 2, 2, 0, 0}));
    assert_false(dim_formula_is_sum(&(DimFormula){1, {{S, 3}}, 2, 1, 0, 5}));
    assert_false(dim_formula_is_sum(&(DimFormula){0, {{0, 0}}, 2, 1, 0, 0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(has_lengths), cmocka_unit_test(is_said),
                                       cmocka_unit_test(has_bounds), cmocka_unit_test(is_compared),
                                       cmocka_unit_test(is_sum)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
