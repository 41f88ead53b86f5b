/* What stands before the text along dimensions made of it, as far as a formula has room for it and
 * the text. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "passes/dependence/dependence.h"

enum { B, T, S, P, Q, R, N_GIVEN, ALL = N_GIVEN, WITH_ALL, THREE };

static const struct {
    const char *name;
    DimFormula formula;
    bool found;
    int n; /* terms before the text */
    int64_t plus;
} made[] = {
    {"All", {4, {{S, 1}, {P, 1}, {Q, 1}, {R, 1}}, 0, 1, 0, 0}, false, 0, 0},
    {"WithAll", {2, {{ALL, 1}, {T, 1}}, 0, 1, 0, 0}, false, 0, 0}, /* four before the text */
    {"Three", {4, {{S, 1}, {P, 2}, {Q, 1}, {T, 1}}, 0, 1, 0, 0}, true, 3, 0},
    {"Again", {2, {{THREE, 1}, {P, 3}}, 4, 1, 0, 0}, true, 3, 4}, /* of Three, P twice */
    {"Next", {1, {{T, 1}}, 1, 1, 0, 0}, true, 0, 1},
    {"Halves", {2, {{S, 1}, {T, 1}}, 0, 2, 0, 0}, false, 0, 0},
    {"Twice", {1, {{T, 2}}, 0, 1, 0, 0}, false, 0, 0},
    {"Less", {2, {{S, 1}, {T, 1}}, -1, 1, 0, 0}, false, 0, 0},
    {"Some", {2, {{S, 1}, {T, 1}}, 0, 1, 0, 9}, false, 0, 0},
    {"Most", {1, {{S, MOST_DIM_TIMES}}, 0, 1, 0, 0}, false, 0, 0},
};
enum { MOST = N_GIVEN + sizeof made / sizeof *made - 1 };

static void finds_what_stands_before(void **state)
{
    (void)state;
    static const char *const given[] = {"B", "T", "S", "P", "Q", "R"};
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    Module *module = module_new(arena, &diags, "m");
    for (int d = 0; d < N_GIVEN; d++)
        module_add_symbol(module, given[d], d == B ? NO_SYMBOL : B);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        const char *problem;
        LengthSum before;
        const int symbol = module_add_made_symbol(module, made[i].name, &made[i].formula, &problem);
        assert_int_equal(symbol, N_GIVEN + i);
        if (find_before(module, symbol, T, &before) != made[i].found)
            fail_msg("%s is %sfound", made[i].name, made[i].found ? "not " : "");
        if (made[i].found) {
            assert_int_equal(before.n, made[i].n);
            assert_int_equal(before.plus, made[i].plus);
        }
    }
    /* Numbers that a formula cannot have. */
    const DimFormula large = {2, {{MOST, MOST_DIM_TIMES}, {T, 1}}, 0, 1, 0, 0};
    const char *problem;
    LengthSum before;
    const int symbol = module_add_made_symbol(module, "Large", &large, &problem);
    assert_false(find_before(module, symbol, T, &before));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_what_stands_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
