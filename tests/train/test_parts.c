/* Cutting params into parts: every element is in one part, cuts are between blocks, and parts are
 * about equal, for any number of them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/train/parallel/parts.h"

#define TENSOR(name, size) {.param = name, .gradient = "grad." name, .count = size}
static const PartTensor tensors[] = {
    TENSOR("embedding", 5 * PART_BLOCK + 17),
    TENSOR("bias", 3),
    TENSOR("empty", 0),
    TENSOR("norm", 1),
    TENSOR("weight", 2 * PART_BLOCK),
    TENSOR("last", PART_BLOCK - 1),
};
enum { N_TENSORS = sizeof tensors / sizeof tensors[0], TOTAL = 8 * PART_BLOCK + 20 };

static void check_parts(const Parts *parts)
{
    int64_t most = 0, least = TOTAL;
    for (int32_t t = 0; t < N_TENSORS; t++) {
        int64_t reached = 0;
        for (int32_t p = 0; p < parts->n; p++) {
            Slice slice = parts_slice(parts, t, p, p);
            assert_int_equal(slice.tensor, t);
            assert_int_equal(slice.from, reached);
            if (slice.count)
                assert_int_equal(slice.from % PART_BLOCK, 0);
            reached += slice.count;
        }
        assert_int_equal(reached, tensors[t].count);
        assert_int_equal(parts_slice(parts, t, 0, parts->n - 1).count, reached);
    }
    for (int32_t p = 0; p < parts->n; p++) {
        int64_t elements = parts_elements(parts, p);
        most = elements > most ? elements : most;
        least = elements < least ? elements : least;
    }
    assert_true(most - least <= PART_BLOCK);
}

static void all_elements_once(void **state)
{
    Arena *arena = arena_new();
    for (int n = 1; n < 40; n++) {
        const Parts *parts = parts_new(arena, tensors, N_TENSORS, n);
        assert_int_equal(parts->n, n);
        check_parts(parts);
    }
    arena_free(arena);
}

/* Pieces of a part's slice are all of it, one after the other. */
static void pieces_are_whole(void **state)
{
    Arena *arena = arena_new();
    const Parts *parts = parts_new(arena, tensors, N_TENSORS, 2);
    for (int32_t t = 0; t < N_TENSORS; t++)
        for (int32_t p = 0; p < parts->n; p++)
            for (int32_t of = 1; of < 8; of++) {
                Slice slice = parts_slice(parts, t, p, p);
                int64_t reached = slice.from;
                for (int32_t i = 0; i < of; i++) {
                    Slice piece = parts_piece(parts, t, p, i, of);
                    assert_int_equal(piece.from, reached);
                    assert_true(piece.count >= 0);
                    if (piece.count)
                        assert_int_equal(piece.from % PART_BLOCK, 0);
                    reached += piece.count;
                }
                assert_int_equal(reached, slice.from + slice.count);
            }
    arena_free(arena);
}

/* What is moved at a time is moved among all. */
static void each_tensor_is_shared(void **state)
{
    Arena *arena = arena_new();
    const Parts *parts = parts_new(arena, tensors, N_TENSORS, 2);
    int64_t half = parts_slice(parts, 0, 0, 0).count;
    assert_true(half == 3 * PART_BLOCK || half == 2 * PART_BLOCK);
    assert_int_equal(parts_slice(parts, 4, 0, 0).count, PART_BLOCK);
    assert_int_equal(parts_slice(parts, 4, 1, 1).count, PART_BLOCK);
    arena_free(arena);
}

static void nothing_to_cut(void **state)
{
    Arena *arena = arena_new();
    const Parts *parts = parts_new(arena, tensors, 0, 4);
    for (int p = 0; p < 4; p++)
        assert_int_equal(parts_elements(parts, p), 0);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_elements_once), cmocka_unit_test(pieces_are_whole),
        cmocka_unit_test(each_tensor_is_shared), cmocka_unit_test(nothing_to_cut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
