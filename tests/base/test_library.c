/* Libraries that are loaded when they are needed: found by path or by name, or the package told. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/library.h"

#include <math.h>
#include <string.h>

/* Of the C library's mathematics, which this program is not linked with by this name. */
double cbrt(double x);
LIBRARY_FUNCTION(cbrt)
void tfc_no_such_function(void);
LIBRARY_FUNCTION(tfc_no_such_function)

static const LibraryFunction functions[] = {LIBRARY_ENTRY(cbrt)
                                                LIBRARY_ENTRY(tfc_no_such_function)};

static void expect(Library *library, const char *error, const char *note)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    assert_int_equal(library_load(library, &diags), !error);
    assert_int_equal(diags.errors, error != NULL);
    if (error) {
        assert_non_null(strstr(diags.list.data[0].message, error));
        assert_non_null(strstr(diags.list.data[1].message, note));
    }
    arena_free(arena);
}

static void calls_reach_the_library(void **state)
{
    Library library = {"/nowhere/libm.so.6", "libm.so.6", "libc6", functions, 1, false};
    volatile double x = 27;
    expect(&library, NULL, NULL);
    expect(&library, NULL, NULL);
    assert_true(fabs(cbrt(x) - 3) < 1e-15);
}

static void what_is_absent_is_told(void **state)
{
    Library absent = {
        "/nowhere/libabsent.so.1", "libabsent.so.1", "libabsent1", functions, 1, false};
    expect(&absent, "cannot load libabsent.so.1: libabsent.so.1: cannot open",
           "package libabsent1");
    expect(&absent, "cannot load libabsent.so.1", "package libabsent1");
    Library other = {"libm.so.6", "libm.so.6", "libc6", functions, 2, false};
    expect(&other, "libm.so.6 has no function tfc_no_such_function", "libc6");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls_reach_the_library),
                                       cmocka_unit_test(what_is_absent_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
