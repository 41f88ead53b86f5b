/* Texts as other programs read them. */
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void shell_words(void **state)
{
    static const char *const cases[][2] = {
        {"train", "train"},
        {"--set", "--set"},
        {"a/b_c.1-2=x:y,z+@%", "a/b_c.1-2=x:y,z+@%"},
        {"", "''"},
        {"two words", "'two words'"},
        {"$(touch x)", "'$(touch x)'"},
        {"it's", "'it'\\''s'"},
        {"~", "'~'"},
        {"täglich", "'täglich'"},
    };
    Arena *arena = arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(text_shell_word(arena, cases[i][0]), cases[i][1]);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shell_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
