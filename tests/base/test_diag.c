/* Diagnostics: what belongs to what, and how it is printed. */
#include "base/diag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void assert_rendered(const Diagnostics *diags, const char *expected)
{
    Text text = {0};
    diag_render(diags, &text);
    assert_string_equal(text.data, expected);
    text_free(&text);
}

/* A note and a remark look alike, and are told apart. */
static void severities(void **state)
{
    Arena *arena = arena_new();
    Diagnostics found, diags;
    diag_init(&found, arena);
    diag_init(&diags, arena);
    diag_error(&found, (Loc){0}, "a");
    diag_note(&found, (Loc){0}, "of %s", "a");
    diag_warning(&found, (Loc){0}, "b");
    diag_remark(&found, (Loc){0}, "c");
    diag_add(&found, DIAG_NOTE, (Loc){0}, "of %s", "c");
    diag_about(&found, DIAG_REMARK, "file", " is %s", "empty");
    assert_rendered(&found,
                    "error: a\nnote: of a\nwarning: b\nnote: c\nnote: of c\nnote: file is empty\n");
    static const Severity severities[] = {DIAG_WARNING, DIAG_NOTE, DIAG_WARNING,
                                          DIAG_REMARK,  DIAG_NOTE, DIAG_REMARK};
    diag_add_warnings(&diags, &found);
    assert_true(found.errors == 1 && !diags.errors &&
                diags.list.count == sizeof severities / sizeof *severities);
    for (size_t i = 0; i < diags.list.count; i++)
        assert_int_equal(diags.list.data[i].severity, severities[i]);
    arena_free(arena);
}

/* The line of a place is shown without the end that it has in the file. */
static void excerpts(void **state)
{
    static const char *const ends[] = {"\n", "\r\n"};
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        Arena *arena = arena_new();
        Diagnostics diags;
        diag_init(&diags, arena);
        const char *text = arena_printf(arena, "one%stwo\rx%s", ends[i], ends[i]);
        const Source *source = diag_source(arena, "f", text, strlen(text));
        diag_error(&diags, (Loc){.source = source, .line = 1, .column = 2}, "a");
        diag_error(&diags, (Loc){.source = source, .line = 2, .column = 5}, "b");
        assert_rendered(&diags, "f:1:2: error: a\n    1 | one\n      |  ^\n"
                                "f:2:5: error: b\n    2 | two?x\n      |     ^\n");
        arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(severities), cmocka_unit_test(excerpts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
