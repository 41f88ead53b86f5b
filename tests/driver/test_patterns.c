/* Patterns of params' names: what they match, and that the time does not grow with the ways in
 * which ** could be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "driver/ports/patterns.h"

#include <stdio.h>
#include <string.h>

static bool matches(const char *pattern, const char *name)
{
    return patterns_meet(&(TextList){.data = &pattern, .count = 1}, name);
}

static void test_rows(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *name;
        bool matches;
    } rows[] = {
        {"a", "a", true},
        {"a", "a.b", true}, /* all that lies under it, too */
        {"a.b", "a", false},
        {"a", "ab", false},
        {"*", "a.b", true},
        {"a.*.w", "a.b.w", true},
        {"a.*.w", "a.b.c.w", false},
        {"a*c", "abbc.w", true},
        {"[ab]?", "bx", true},
        {"[ab]?", "b", false},
        {"**.w", "w", true},
        {"**.w", "a.b.w", true},
        {"**.w", "a.b.w.c", true},
        {"**.w", "a.b", false},
        {"a.**.w", "a.w", true},
        {"a.**.w", "b.w", false},
        {"a.**.b.c", "a.b.b.c", true}, /* the first b is no beginning of b.c */
        {"a.**.b.**.c", "a.b.x.b.y.c", true},
        {"a.**.b.**.c", "a.c.b", false},
        {"**.**.w", "w", true},
        {"**.", "a", true},
        {"**", "a.b", true}, /* without a dot: two stars of one part */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (matches(rows[i].pattern, rows[i].name) != rows[i].matches)
            fail_msg("%s and %s", rows[i].pattern, rows[i].name);
}

/* 60 of ** over 60 parts can be read in 10^34 ways. */
static void test_many_stars(void **state)
{
    (void)state;
    enum { PARTS = 60 };
    char pattern[3 * PARTS + 2] = "", name[2 * PARTS + 2] = "";
    for (int i = 0; i < PARTS; i++) {
        strcat(pattern, "**.");
        strcat(name, "a.");
    }
    strcat(pattern, "b");
    strcat(name, "a");
    assert_false(matches(pattern, name));
    name[strlen(name) - 1] = 'b';
    assert_true(matches(pattern, name));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_many_stars)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
