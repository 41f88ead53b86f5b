/* The interface of compiled libraries: the page that tells of it names nothing that interface.def
 * does not declare, packages declare for TypeScript what they define, by the names that C has, and
 * the records have the layout that libraries have had. */
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

/* ---- packages ---- */

/* The fields of all records. */
static const char *const fields[] = {
#define API_FIELD(type, name, help) #name,
#define API_BYTES(name, help) #name,
#define API_ARRAY(type, name, n, help) #name,
#define API_RECORD(...)
#define API_END(...)
#include "runtime/model/interface.def"
};

static bool is_field(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (strlen(fields[i]) == n && !strncmp(fields[i], name, n))
            return true;
    return false;
}

static const char *part_of_package(Arena *arena, const char *name, const char *ending)
{
    Diagnostics diags;
    diag_init(&diags, arena);
    const Source *part = file_read(
        &diags, arena, arena_printf(arena, "driver/compile/script/%s.%s", name, ending), 1 << 20);
    assert_non_null(part);
    return part->text;
}

/* Goes to the next line that begins with so many blanks, then a name and one of `behind`. *n: of
 * the name. NULL: there is none. */
static const char *next_name(const char *text, size_t blanks, const char *behind, size_t *n)
{
    for (; text; text = strchr(text, '\n')) {
        text += *text == '\n';
        if (strspn(text, " ") != blanks)
            continue;
        *n = strspn(text + blanks, "abcdefghijklmnopqrstuvwxyz_");
        if (*n && text[blanks + *n] && strchr(behind, text[blanks + *n]))
            return text + blanks;
    }
    return NULL;
}

/* Whether a name stands so in the text. */
static bool is_in(const char *text, size_t blanks, const char *behind, const char *name, size_t n)
{
    size_t length;
    for (; (text = next_name(text, blanks, behind, &length)); text += length)
        if (length == n && !strncmp(text, name, n))
            return true;
    return false;
}

/* Methods are members of the object `model` in .js, and of the interface Model in .ts. */
static void test_methods(void **state)
{
    (void)state;
    static const char *const packages[] = {"translate", "records", "generate", "predict"};
    static const char *const calls[] = {"translate_text", NULL, "generate_text", "predict_text"};
    Arena *arena = arena_new();
    for (int i = 0; i < 4; i++) {
        const char *js = part_of_package(arena, packages[i], "js"),
                   *ts = part_of_package(arena, packages[i], "ts");
        size_t n;
        int methods = 0;
        for (const char *at = js; (at = next_name(at, 4, ":(", &n)); at += n, methods++)
            if (!is_in(ts, 2, "(", at, n))
                fail_msg("%s.ts does not declare %.*s", packages[i], (int)n, at);
        for (const char *at = ts; (at = next_name(at, 2, "(", &n)); at += n)
            if (!is_in(js, 4, ":(", at, n))
                fail_msg("%s.js does not define %.*s", packages[i], (int)n, at);
        assert_true(methods >= 2);
        assert_true(!calls[i] || is_in(ts, 2, "(", calls[i], strlen(calls[i])));
        assert_true(!calls[i] ||
                    is_known(arena_printf(arena, "_%s", calls[i]), strlen(calls[i]) + 1));
    }
    arena_free(arena);
}

/* What answers hold, and what searches of labels take, has the names of C's fields. */
static void test_members(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    int answers = 0, settings = 0;
    size_t n;
    for (const char *at = part_of_package(arena, "answers", "ts"); (at = next_name(at, 2, ":", &n));
         at += n, answers++)
        if (!is_field(at, n))
            fail_msg("answers.ts: no record has a field %.*s", (int)n, at);
    for (const char *at = part_of_package(arena, "predictions", "ts");
         (at = next_name(at, 2, "?", &n)); at += n, settings++)
        if (!is_field(at, n) && strncmp(at, "top?", 4)) /* nbest, or how many classes */
            fail_msg("predictions.ts: no record has a field %.*s", (int)n, at);
    assert_int_equal(answers, 3);
    assert_int_equal(settings, 4);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_page), cmocka_unit_test(test_methods),
                                       cmocka_unit_test(test_members),
                                       cmocka_unit_test(test_layout)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
