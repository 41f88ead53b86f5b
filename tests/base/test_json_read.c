/* JSON read as values: kinds, strings and numbers, keys that occur twice, and the memory that texts
 * take which have as many values as they can. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/budget.h"
#include "base/json_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_values(void **state)
{
    (void)state;
    static const char text[] =
        "{\"a\": [null, true, false, -7, 1.5e1, 92233720368547758080, \"\\u00e4\\n\\ud83d\\ude00\"],"
        " \"b\": {}, \"c\": [], \"\": \"\"}";
    Arena *arena = arena_new();
    const char *problem;
    const JsonValue *json = json_read(arena, text, sizeof text - 1, &problem);
    assert_non_null(json);
    assert_true(json->kind == JV_OBJECT && json->n == 4);
    const JsonValue *a = json_member(json, "a");
    static const JsonKind kinds[] = {JV_NULL,   JV_TRUE,   JV_FALSE, JV_INTEGER,
                                     JV_NUMBER, JV_NUMBER, JV_STRING};
    assert_int_equal(a->n, sizeof kinds / sizeof *kinds);
    for (size_t i = 0; i < a->n; i++)
        assert_true(a->items[i].kind == kinds[i] && !a->items[i].n &&
                    !a->items[i].text == (kinds[i] != JV_STRING));
    assert_true(a->items[3].integer == -7 && a->items[3].number == -7);
    assert_true(a->items[4].number == 15 && a->items[4].integer == 0);
    assert_true(a->items[5].number == 92233720368547758080.0 && a->items[5].integer == 0);
    assert_string_equal(a->items[6].text, "\xc3\xa4\n\xf0\x9f\x98\x80");
    assert_string_equal(json->keys[1], "b");
    assert_true(json->items[1].kind == JV_OBJECT && json->items[2].kind == JV_LIST);
    assert_string_equal(json_member_text(json, ""), "");
    assert_null(json_member(json, "d"));
    arena_free(arena);
}

/* Long digits share the room of strings. */
static void test_long_numbers(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    const char *problem;
    char text[400] = "[\"x\", 0.", digits[101];
    memset(digits, '3', 100);
    digits[100] = 0;
    strcat(strcat(text, digits), ", \"yz\", 0.");
    strcat(strcat(text, digits), "]");
    const JsonValue *json = json_read(arena, text, strlen(text), &problem);
    assert_true(json && json->n == 4);
    assert_string_equal(json->items[0].text, "x");
    assert_string_equal(json->items[2].text, "yz");
    assert_true(json->items[1].number == 1 / 3.0 && json->items[3].number == 1 / 3.0);
    arena_free(arena);
}

static void expect_problem(const char *text, const char *expected)
{
    Arena *arena = arena_new();
    const char *problem;
    assert_null(json_read(arena, text, strlen(text), &problem));
    assert_string_equal(problem, expected);
    arena_free(arena);
}

static void test_keys_that_occur_twice(void **state)
{
    (void)state;
    char many[4000] = "{\"k0\": 0", *end = many + strlen(many);
    expect_problem("[{\"a\": 1, \"b\": {\"a\": 2}, \"a\": 3}]",
                   "the key 'a' a second time at byte 28");
    for (int i = 1; i < 200; i++)
        end += sprintf(end, ",\"k%d\":0", i);
    Arena *arena = arena_new();
    const char *problem;
    strcpy(end, "}");
    assert_non_null(json_read(arena, many, strlen(many), &problem));
    strcpy(end, ",\"k77\":0}");
    char expected[100];
    sprintf(expected, "the key 'k77' a second time at byte %d", (int)(end - many) + 6);
    expect_problem(many, expected);
    arena_free(arena);
}

static void test_what_is_no_json(void **state)
{
    (void)state;
    expect_problem("[1, 2", "no ',' or ']' at byte 5");
    expect_problem("{\"a\" 1}", "no ':' at byte 5");
    expect_problem("[01]", "a number that begins with 0 at byte 3");
    expect_problem("\"a", "a string without an end at byte 1");
    expect_problem("\"\x01\"", "a control character in a string at byte 1");
    expect_problem("\"\xff\"", "bytes that are not UTF-8 at byte 1");
    expect_problem("[[[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]]]", "too many levels at byte 17");
    expect_problem("NaN", "'NaN', which is no value of JSON, at byte 0");
}

static void test_scalars(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        JsonKind kind;
    } cases[] = {{"null", JV_NULL},   {"true", JV_TRUE},    {"false", JV_FALSE}, {"12", JV_INTEGER},
                 {"-1e5", JV_NUMBER}, {"nulls", JV_STRING}, {"", JV_STRING},     {"-", JV_STRING},
                 {"1 2", JV_STRING},  {"[]", JV_STRING},    {"-x", JV_STRING}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(json_scalar_kind(cases[i].text, strlen(cases[i].text)), cases[i].kind);
}

/* ---- memory ---- */

enum { TEXT = 1 << 20 };

/* A list of one text again and again, in brackets. */
static size_t put_list(char *text, const char *open, const char *item, const char *close)
{
    size_t n = strlen(strcpy(text, open));
    while (n + strlen(item) + strlen(close) < TEXT) {
        strcpy(text + n, item);
        n += strlen(item);
    }
    strcpy(text + n - 1, close); /* over the last comma */
    return strlen(text);
}

static size_t put_members(char *text)
{
    size_t n = strlen(strcpy(text, "{"));
    for (unsigned i = 0; n + 20 < TEXT; i++)
        n += (size_t)sprintf(text + n, "\"%x\":0,", i);
    strcpy(text + n - 1, "}");
    return n;
}

/* Whether the text is read or not, within 40 bytes for each of its own. */
static void expect_small(const char *text, size_t n, bool is_read)
{
    Arena *arena = arena_within(NULL, 40 * n);
    const char *problem;
    const JsonValue *json = json_read(arena, text, n, &problem);
    if (arena_is_over(arena) || (json != NULL) != is_read)
        fail_msg("%.20s… takes more than %zu bytes: %s", text, 40 * n, problem);
    arena_free(arena);
}

static void test_memory_of_many_values(void **state)
{
    (void)state;
    static const struct {
        const char *open, *item, *close;
        bool is_read;
    } cases[] = {
        {"[", "0,", "]", true},
        {"[", "[],", "]", true},
        {"[", "[0],", "]", true},
        {"[", "{},", "]", true},
        {"[", "{\"\":0},", "]", true},
        {"[", "\"\",", "]", true},
        {"[", "[[[[[[[[[[[[[[0]]]]]]]]]]]]]],", "]", true},
        {"[", "{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":0}}}}},", "]", true},
        {"[", ",", "]", false},
        {"[", "0,", "", false},
        {"[[[[[[[[[[[[[[[", "0,", "", false},
        {"\"", "\\n,", "\"", true},
    };
    char *text = memory_zeroed(TEXT + 1, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_small(text, put_list(text, cases[i].open, cases[i].item, cases[i].close),
                     cases[i].is_read);
    expect_small(text, put_members(text), true);
    free(text);
}

/* Each limit in turn: a value, or a failed arena, and nothing else. */
static void test_little_memory(void **state)
{
    (void)state;
    char text[6000];
    size_t n = strlen(strcpy(text, "{\"list\": ["));
    for (int i = 0; i < 300; i++)
        n += (size_t)sprintf(text + n, "{\"k%d\": \"t\"},", i);
    strcpy(text + n - 1, "]}");
    n = strlen(text);
    bool was_read = false;
    for (size_t limit = 0; limit < 200000; limit += 400) {
        Arena *arena = arena_within(NULL, limit);
        const char *problem;
        const JsonValue *json = json_read(arena, text, n, &problem);
        assert_true(!json == arena_failed(arena) && !problem && (json || !was_read));
        was_read = json;
        arena_free(arena);
    }
    assert_true(was_read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_long_numbers),
        cmocka_unit_test(test_keys_that_occur_twice),
        cmocka_unit_test(test_what_is_no_json),
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_memory_of_many_values),
        cmocka_unit_test(test_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
