/* The bounds that a slab is planned by, of dimensions made of others: no batch is larger, and one
 * row with many positions does not count as all. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/exec/made.h"

enum { B, Q, P, FEW, MANY, HELD, THIRDS, NO_P, N_DIMS, MOST_ROWS = 6, LONGEST = 40 };

static const TfcProgramDim dims[N_DIMS] = {
    [B] = {.name = "B", .batch = -1},
    [Q] = {.name = "Q", .batch = B},
    [P] = {.name = "P", .batch = B},
    [FEW] = {"Few", B, {1, {{Q, 1}}, 0, 1, 0, 15}},
    [MANY] = {"Many", B, {1, {{Q, 1}}, 0, 1, 16, INT32_MAX}},
    [HELD] = {"Held", B, {2, {{P, 1}, {Q, 0}}, 0, 1, 16, INT32_MAX}},
    [THIRDS] = {"Thirds", B, {2, {{P, 2}, {Q, 1}}, -7, 3, 4, 20}},
    [NO_P] = {"NoP", B, {2, {{P, 1}, {Q, 0}}, 2, 1, 0, 1}},
};
static const TfcProgram program = {.n_dims = N_DIMS, .n_given = FEW, .dims = dims};

static int64_t length_given(const void *of, int32_t d) { return ((const int64_t *)of)[d]; }

static int64_t length_of(int d, int64_t q, int64_t p)
{
    return dim_formula_length(&dims[d].formula, length_given, (int64_t[]){[Q] = q, [P] = p});
}

static void add_row(TfcDim *dim, int64_t length)
{
    dim->extent = length > dim->extent ? length : dim->extent;
    dim->total += length;
}

static void test_bounds(void **state)
{
    (void)state;
    uint32_t random = 1;
    for (int batch = 0; batch < 5000; batch++) {
        TfcDim exact[N_DIMS] = {{0}}, bounds[N_DIMS] = {{0}};
        const int rows = batch % (MOST_ROWS + 1);
        exact[B].extent = exact[B].total = rows;
        for (int r = 0; r < rows; r++) {
            random = random * 1664525 + 1013904223;
            const int64_t q = random >> 16 & 1 ? (random >> 17) % 3 : (random >> 17) % LONGEST,
                          p = (random >> 24) % LONGEST;
            add_row(&exact[Q], q);
            add_row(&exact[P], p);
            for (int d = FEW; d < N_DIMS; d++)
                add_row(&exact[d], length_of(d, q, p));
        }
        for (int d = 0; d < FEW; d++)
            bounds[d] = exact[d];
        made_bounds(&program, bounds);
        for (int d = FEW; d < N_DIMS; d++)
            assert_true(bounds[d].extent >= exact[d].extent && bounds[d].total >= exact[d].total);
    }
}

/* 100 rows of which one may have up to 20 new positions: not all 100 make keys and values. */
static void test_close(void **state)
{
    (void)state;
    TfcDim bounds[N_DIMS] = {[B] = {.extent = 100, .total = 100},
                             [Q] = {.extent = 20, .total = 119},
                             [P] = {.extent = 1000, .total = 100000}};
    made_bounds(&program, bounds);
    assert_int_equal(bounds[HELD].total, 119 / 16 * 1000);
    assert_int_equal(bounds[MANY].total, 119);
    assert_int_equal(bounds[FEW].extent, 15);
    bounds[Q] = (TfcDim){.extent = 1, .total = 100};
    made_bounds(&program, bounds);
    assert_int_equal(bounds[HELD].total, 0);
    assert_int_equal(bounds[MANY].extent, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bounds), cmocka_unit_test(test_close)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
