/* Cutting params into parts: every element is in one part, parts end where blocks do and are about
 * equal, for any number of them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/train/parts.h"

static const PartTensor tensors[] = {
    {"embedding", "grad.embedding", 5 * PART_BLOCK + 17}, {"bias", "grad.bias", 3},
    {"empty", "grad.empty", 0},                           {"norm", "grad.norm", 1},
    {"weight", "grad.weight", 2 * PART_BLOCK},            {"last", "grad.last", PART_BLOCK - 1},
};
enum { N_TENSORS = sizeof tensors / sizeof tensors[0], TOTAL = 8 * PART_BLOCK + 20 };

static void check_parts(const Parts *parts)
{
    int64_t reached[N_TENSORS] = {0};
    int32_t last = 0;
    for (int32_t p = 0; p < parts->n; p++) {
        int64_t elements = 0;
        for (int32_t i = parts->first[p]; i < parts->first[p + 1]; i++) {
            const Slice *slice = &parts->slices[i];
            assert_true(slice->tensor >= last && slice->count > 0);
            assert_int_equal(slice->from, reached[slice->tensor]);
            assert_int_equal(slice->from % PART_BLOCK, 0);
            assert_ptr_equal(parts_find(parts, p, slice->tensor), slice);
            reached[slice->tensor] += slice->count;
            elements += slice->count;
            last = slice->tensor;
        }
        assert_true(elements <= TOTAL / parts->n + PART_BLOCK);
    }
    for (int t = 0; t < N_TENSORS; t++)
        assert_int_equal(reached[t], tensors[t].count);
}

static void all_elements_once(void **state)
{
    Arena *arena = arena_new();
    for (int n = 1; n < 40; n++) {
        const Parts *parts = parts_new(arena, tensors, N_TENSORS, n);
        assert_int_equal(parts->n, n);
        check_parts(parts);
    }
    assert_null(parts_find(parts_new(arena, tensors, N_TENSORS, 3), 0, 2)); /* it has no elements */
    arena_free(arena);
}

static void nothing_to_cut(void **state)
{
    Arena *arena = arena_new();
    const Parts *parts = parts_new(arena, tensors, 0, 4);
    for (int p = 0; p <= 4; p++)
        assert_int_equal(parts->first[p], 0);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_elements_once),
                                       cmocka_unit_test(nothing_to_cut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
