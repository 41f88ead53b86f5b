/* Values of published JSON files: numbers of Python, comparisons, and members by their kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "driver/exchange/import_json.h"

#include <string.h>

static Job job;

static int set_up(void **state)
{
    (void)state;
    job = (Job){.arena = arena_new()};
    diag_init(&job.diags, job.arena);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(job.arena);
    return 0;
}

static const JsonValue *value_of(const char *text)
{
    const char *problem;
    const Source source = {.path = "t", .text = text, .length = strlen(text)};
    const JsonValue *value = import_json_value(job.arena, &source, &problem);
    assert_non_null(value);
    return value;
}

static void test_whole_numbers(void **state)
{
    (void)state;
    const JsonValue *list = value_of("[16.0, 1e3, 0.5, 1e300, -2.0, {\"a\": [4.0]}]");
    static const JsonKind kinds[] = {JV_INTEGER, JV_INTEGER, JV_NUMBER, JV_NUMBER, JV_INTEGER};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        assert_int_equal(list->items[i].kind, kinds[i]);
    assert_int_equal(list->items[1].integer, 1000);
    assert_int_equal(list->items[5].items[0].items[0].integer, 4);
}

static void test_comparing(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        {"1", "1.0", true},       {"1", "true", false},      {"null", "false", false},
        {"\"a\"", "\"a\"", true}, {"\"1\"", "1", false},     {"[1, 2]", "[1.0, 2]", true},
        {"[1]", "[1, 2]", false}, {"\"gelu\"", "[]", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(import_json_is_same(&job, value_of(rows[i].a), value_of(rows[i].b)),
                         rows[i].same);
    assert_true(
        import_json_is_one_of(&job, value_of("\"silu\""), value_of("[\"gelu\", \"silu\"]")));
    assert_false(
        import_json_is_one_of(&job, value_of("\"relu\""), value_of("[\"gelu\", \"silu\"]")));
    assert_true(import_json_is_one_of(&job, value_of("2.0"), value_of("2")));
    assert_string_equal(import_json_text(&job, value_of("[null, true, 1.5, \"x\", {\"a\": 1}]")),
                        "null, true, 1.5, \"x\", …");
}

/* A member that is missing or null is none; one of another kind is an error with both. */
static void test_members(void **state)
{
    (void)state;
    const JsonValue *object = value_of("{\"t\": \"x\", \"f\": false, \"n\": 2, \"z\": null}"),
                    *found;
    static const struct {
        const char *key;
        JsonWant want;
        bool ok, there;
    } rows[] = {
        {"t", IS_TEXT, true, true},  {"f", IS_FLAG, true, true},     {"n", IS_NUMBER, true, true},
        {"z", IS_TEXT, true, false}, {"gone", IS_FLAG, true, false}, {"t", IS_NUMBER, false, true},
        {"f", IS_TEXT, false, true}, {"n", IS_FLAG, false, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(
            import_json_member(&job, "c.json", object, rows[i].key, rows[i].want, &found),
            rows[i].ok);
        assert_int_equal(found != NULL, rows[i].there);
    }
    assert_true(import_json_member(&job, "c.json", NULL, "t", IS_TEXT, &found) && !found);
    Text said = {0};
    diag_render(&job.diags, &said);
    assert_non_null(strstr(said.data, "c.json: \"t\" is \"x\"; expected a number"));
    assert_non_null(strstr(said.data, "c.json: \"n\" is 2; expected true or false"));
    text_free(&said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole_numbers),
                                       cmocka_unit_test(test_comparing),
                                       cmocka_unit_test(test_members)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
