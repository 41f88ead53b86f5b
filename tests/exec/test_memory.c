/* Pages of files: found where constants lie, and nowhere else; left, they take no memory and hold
 * what they held. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/exec/memory.h"

#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 1 << 20, PAGES = BYTES / 4096 };
static const char constants[BYTES] = {[5] = 7, [BYTES - 1] = 9};
static char variables[BYTES] = {1};

static long resident_file_pages(void)
{
    long total, resident, shared;
    FILE *statm = fopen("/proc/self/statm", "r");
    assert_non_null(statm);
    assert_int_equal(fscanf(statm, "%ld %ld %ld", &total, &resident, &shared), 3);
    fclose(statm);
    return shared;
}

static int sum(void)
{
    int all = 0;
    for (int i = 0; i < BYTES; i++)
        all += ((const volatile char *)constants)[i];
    return all;
}

static void test_finds_files(void **state)
{
    const char *begin = NULL, *end = NULL;
    char *heap = malloc(BYTES);
    assert_non_null(heap);
    assert_true(memory_find_file(constants, &begin, &end));
    assert_true(begin <= constants && end >= constants + BYTES);
    assert_false(memory_find_file(variables, &begin, &end));
    assert_false(memory_find_file(heap, &begin, &end));
    assert_false(memory_find_file(&heap, &begin, &end));
    assert_false(memory_find_file(NULL, &begin, &end));
    free(heap);
}

static void test_leaves_files(void **state)
{
    assert_int_equal(sum(), 16);
    long before = resident_file_pages();
    memory_leave_file(constants, BYTES);
    assert_true(resident_file_pages() <= before - PAGES / 2);
    assert_int_equal(sum(), 16);
    memory_leave_file(constants + 1, 100); /* no whole page */
    memory_leave_file(constants, 0);
    assert_int_equal(sum(), 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_finds_files),
                                       cmocka_unit_test(test_leaves_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
