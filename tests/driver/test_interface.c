/* The interface of compiled libraries: the page that tells of it names nothing that interface.def
 * does not declare, and the records have the layout that libraries have had. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "runtime/model/model.h"

#include <string.h>

/* What stands behind NAME. */
static const char *const known[] = {
#define API_HANDLE(type, suffix) suffix,
#define API_WORDS API_HANDLE
#define API_KNOWN API_HANDLE
#define API_RECORD(when, type, suffix, help) suffix,
#define API_FIELD(...)
#define API_BYTES(...)
#define API_ARRAY(...)
#define API_END(...)
#define API_CALL(when, result, name, arguments, help) "_" #name,
#include "runtime/model/interface.def"
#define API_STATUS(name, text, help) "_" #name,
#include "runtime/model/statuses.def"
    "_", /* NAME_…: all of them */
};

static bool is_known(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i]) == n && !strncmp(known[i], name, n))
            return true;
    return false;
}

static void test_page(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    const Source *page = file_read(&diags, arena, "docs/compile.md", 1 << 20);
    assert_non_null(page);
    int n = 0;
    for (const char *at = page->text; (at = strstr(at, "NAME_")); n++) {
        at += strlen("NAME");
        const size_t length = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_");
        if (!is_known(at, length))
            fail_msg("docs/compile.md: NAME%.*s is not in interface.def", (int)length, at);
    }
    assert_true(n > 50);
    arena_free(arena);
}

/* On systems of 64 bits, in order: a field's place, and at the end the size. */
static void test_layout(void **state)
{
    (void)state;
    assert_int_equal(offsetof(TfcParameter, dims), 24);
    assert_int_equal(offsetof(TfcParameter, count), 88);
    assert_int_equal(sizeof(TfcParameter), 104);
    assert_int_equal(offsetof(TfcResult, each), 32);
    assert_int_equal(sizeof(TfcResult), 48);
    assert_int_equal(offsetof(TfcTranslation, result), 24);
    assert_int_equal(sizeof(TfcTranslation), 88);
    assert_int_equal(offsetof(TfcPrediction, labels), 40);
    assert_int_equal(sizeof(TfcPrediction), 48);
    assert_int_equal(sizeof(TfcLabels), 24);
    assert_int_equal(offsetof(TfcPredicted, results), 24);
    assert_int_equal(sizeof(TfcPredicted), 48);
    assert_int_equal(offsetof(TfcLabelSearch, separator), 32);
    assert_int_equal(sizeof(TfcLabelSearch), 40);
    assert_int_equal(TFC_ERROR_NUMBER, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_page), cmocka_unit_test(test_layout)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
