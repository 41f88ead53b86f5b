/* Arenas that may fail: what cannot be had is NULL, vectors, maps and diagnostics stay whole,
 * and after arena_recover all goes on. Limits are kept, with what arenas within others have. Other
 * arenas end the process, and say how much they wanted. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/diag.h"
#include "base/map.h"
#include "base/vec.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_too_much_is_null(void **state)
{
    (void)state;
    Arena *arena = arena_try_new();
    assert_non_null(arena_alloc(arena, 10));
    assert_false(arena_failed(arena));
    assert_null(arena_array(arena, SIZE_MAX / 2, 16)); /* the product overflows */
    assert_true(arena_failed(arena));
    assert_null(arena_alloc(arena, 10)); /* and so on, until somebody has looked */
    arena_recover(arena);
    assert_null(arena_alloc(arena, SIZE_MAX));
    arena_recover(arena);
    assert_null(arena_alloc(arena, SIZE_MAX - 8)); /* rounded up it would be nothing */
    arena_recover(arena);
    assert_string_equal(arena_printf(arena, "%d", 7), "7");
    arena_free(arena);
}

static void run_out(Arena *arena) { assert_null(arena_alloc(arena, SIZE_MAX)); }

static void test_vectors_and_maps_stay_whole(void **state)
{
    (void)state;
    Arena *arena = arena_try_new();
    VEC(int) numbers = {0};
    Map map;
    map_init(&map, arena);
    for (int i = 0; i < 8; i++)
        vec_push(arena, numbers, i);
    map_set(&map, "first", arena);
    run_out(arena);
    vec_push(arena, numbers, 8);
    map_set(&map, "second", arena);
    assert_int_equal(numbers.count, 8);
    assert_int_equal(map.count, 1);
    assert_null(map_get(&map, "second"));
    map_set(&map, "first", &map); /* takes no memory */
    arena_recover(arena);
    vec_push(arena, numbers, 8);
    map_set(&map, "second", arena);
    assert_int_equal(numbers.data[8], 8);
    assert_ptr_equal(map_get(&map, "second"), arena);
    assert_ptr_equal(map_get(&map, "first"), &map);
    arena_free(arena);
}

static void test_diagnostics_say_so(void **state)
{
    (void)state;
    Arena *arena = arena_try_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    diag_errno(&diags, "read", "a file", 2);
    assert_string_equal(diags.list.data[0].message, "cannot read a file: there is no such file");
    assert_false(diags.out_of_memory);
    run_out(arena);
    diag_error(&diags, (Loc){0}, "the words of which find no room");
    assert_int_equal(diags.errors, 2);
    assert_true(diags.out_of_memory);
    arena_free(arena);
}

static void add_digit(void *number) { *(int *)number = *(int *)number * 10 + 1; }
static void add_nine(void *number) { *(int *)number = *(int *)number * 10 + 9; }

static void test_objects_go_with_it(void **state)
{
    (void)state;
    int number = 0;
    Arena *arena = arena_try_new();
    assert_true(arena_own(arena, &number, add_digit));
    assert_true(arena_own(arena, &number, add_nine));
    assert_int_equal(number, 0);
    arena_free(arena);
    assert_int_equal(number, 91); /* the last one first */
    arena = arena_try_new();
    run_out(arena);
    assert_false(arena_own(arena, &number, add_nine));
    assert_int_equal(number, 919);
    arena_free(arena);
    assert_int_equal(number, 919);
}

/* ---- arenas within others ---- */

static void test_a_limit_is_kept(void **state)
{
    (void)state;
    enum { LIMIT = 100000 };
    Arena *outer = arena_try_new(), *arena = arena_within(outer, LIMIT);
    size_t n = 0;
    while (arena_alloc(arena, 500))
        n++;
    assert_in_range(n * 500, LIMIT - 4000, LIMIT);
    assert_true(arena_used(arena) <= LIMIT && arena_used(outer) == arena_used(arena));
    assert_true(arena_failed(arena) && arena_is_over(arena));
    assert_false(arena_failed(outer) || arena_is_over(outer));
    arena_recover(arena);
    assert_false(arena_is_over(arena));
    assert_null(arena_array(arena, SIZE_MAX / 2, 16)); /* more than any limit */
    assert_true(arena_is_over(arena));
    arena_free(arena);
    assert_int_equal(arena_used(outer), 0);
    assert_true(arena_peak(outer) > LIMIT / 2);
    arena_free(outer);
}

static void test_a_room_can_be_had(void **state)
{
    (void)state;
    Arena *arena = arena_within(NULL, 200000);
    assert_non_null(arena_alloc(arena, 1));
    const size_t room = arena_room(arena);
    assert_non_null(arena_alloc(arena, room));
    assert_true(arena_room(arena) < 64);
    assert_null(arena_alloc(arena, room));
    arena_free(arena);
    arena = arena_within(NULL, 1000);
    assert_true(arena_charge(arena, 900));
    assert_false(arena_charge(arena, 900));
    assert_true(arena_is_over(arena) && arena_used(arena) == 900);
    arena_free(arena);
    arena = arena_try_new();
    assert_true(arena_room(arena) > SIZE_MAX / 2);
    arena_free(arena);
}

static void test_scratch_fails_with_its_parent(void **state)
{
    (void)state;
    Arena *arena = arena_within(NULL, 100000), *scratch = arena_scratch(arena);
    assert_non_null(arena_alloc(scratch, 60000));
    assert_null(arena_alloc(arena, 60000)); /* the scratch memory counts */
    arena_recover(arena);
    arena_free(scratch);
    assert_non_null(arena_alloc(arena, 60000));
    scratch = arena_scratch(arena);
    assert_null(arena_alloc(scratch, 60000));
    assert_true(arena_failed(scratch) && arena_failed(arena) && arena_is_over(arena));
    arena_free(scratch);
    arena_free(arena);
}

static void end(void) { _exit(3); }

/* Checks what a process prints when it asks for `wanted` bytes and memory has run out; `arena`: it
 * asks an arena for them. */
static void expect_end(bool arena, size_t wanted, const char *expected)
{
    int ends[2], status;
    char told[128] = "";
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        memory_at_end(end);
        if (arena)
            arena_alloc(arena_new(), wanted);
        memory_end(arena ? 0 : wanted);
    }
    close(ends[1]);
    assert_true(read(ends[0], told, sizeof told - 1) > 0);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    assert_string_equal(told, expected);
}

static void test_the_end_says_how_much(void **state)
{
    (void)state;
    char text[128];
    snprintf(text, sizeof text, "tfc: out of memory: %zu bytes more were wanted\n", SIZE_MAX - 8);
    expect_end(true, SIZE_MAX - 8, text);
    expect_end(false, 4096, "tfc: out of memory: 4096 bytes more were wanted\n");
    expect_end(false, 0, "tfc: out of memory\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_too_much_is_null),
                                       cmocka_unit_test(test_vectors_and_maps_stay_whole),
                                       cmocka_unit_test(test_a_limit_is_kept),
                                       cmocka_unit_test(test_a_room_can_be_had),
                                       cmocka_unit_test(test_scratch_fails_with_its_parent),
                                       cmocka_unit_test(test_diagnostics_say_so),
                                       cmocka_unit_test(test_objects_go_with_it),
                                       cmocka_unit_test(test_the_end_says_how_much)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
