/* Which range an element breaks, and the words for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/id_range.h"

static void test_elements(void **state)
{
    (void)state;
    const IdRange both[] = {{0, 6, .period = 4, .from = 1, .to = 3},
                            {INT32_MIN, 3, .period = 1, .to = 1, .labels = 1}};
    const IdRanges ranges = {2, both}, none = {0};
    assert_null(id_ranges_broken(&none, 0, 1e9));
    assert_null(id_ranges_broken(&ranges, 1, 0));
    assert_null(id_ranges_broken(&ranges, 4, -9)); /* not of the part */
    assert_ptr_equal(id_ranges_broken(&ranges, 5, -1), &both[0]);
    assert_ptr_equal(id_ranges_broken(&ranges, 6, -1), &both[0]);
    assert_null(id_ranges_broken(&ranges, 7, -1));
    assert_ptr_equal(id_ranges_broken(&ranges, 5, 3), &both[1]);
    assert_ptr_equal(id_ranges_broken(&ranges, 0, 3), &both[1]);
}

static void test_words(void **state)
{
    (void)state;
    char text[ID_RANGE_TEXT];
    assert_string_equal(id_range_text(&(IdRange){0, 6, .period = 1, .to = 1}, text),
                        "ids go from 0 to 5");
    assert_string_equal(id_range_text(&(IdRange){1, 6, .period = 1, .to = 1, .labels = 1}, text),
                        "labels go from 1 to 5");
    const IdRange widest = {INT32_MIN, INT64_MAX, .period = 1, .to = 1, .labels = 1};
    assert_string_equal(id_range_text(&widest, text),
                        "labels go from 0 to 9223372036854775806, and below 0 there is none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_elements),
                                       cmocka_unit_test(test_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
