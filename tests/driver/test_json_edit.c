/* JSON texts whose members are set in place: what is left keeps its order and its values. */
#include "driver/exchange/json_edit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static Arena *arena;

static int set_up(void **unused)
{
    (void)unused;
    arena = arena_new();
    return 0;
}

static int tear_down(void **unused)
{
    (void)unused;
    arena_free(arena);
    return 0;
}

static JsonValue *read_json(const char *text)
{
    const char *problem;
    JsonValue *json = json_read(arena, text, strlen(text), &problem);
    assert_non_null(json);
    return json;
}

/* The value is printed as the text, without line breaks and indents. */
static void check_prints(const JsonValue *json, const char *expected)
{
    Text text = {0};
    json_edit_print(json, &text);
    char *flat = arena_strdup(arena, text.data);
    size_t n = 0;
    for (const char *at = text.data; *at; at++)
        if (*at == '\n')
            while (at[1] == ' ')
                at++;
        else
            flat[n++] = *at;
    flat[n] = 0;
    text_free(&text);
    assert_string_equal(flat, expected);
}

static void test_members(void **unused)
{
    (void)unused;
    JsonValue *json = read_json("{\"b\": 1, \"a\": [true, null]}");
    json_edit_member(arena, json, "a", json_of_integer(-7));
    json_edit_member(arena, json, "c", json_of_text("x\"y"));
    json_edit_member(arena, json, "b", json_of_truth(false));
    check_prints(json, "{\"b\": false,\"a\": -7,\"c\": \"x\\\"y\"}");
    json_edit_remove(json, "b");
    json_edit_remove(json, "none");
    check_prints(json, "{\"a\": -7,\"c\": \"x\\\"y\"}");
    json_edit_remove(json, "c");
    json_edit_remove(json, "a");
    check_prints(json, "{}");
    json_edit_member(arena, json, "again", (JsonValue){.kind = JV_NULL});
    check_prints(json, "{\"again\": null}");
}

/* What is edited is not what the original's copies have. */
static void test_a_copy_stays(void **unused)
{
    (void)unused;
    JsonValue *json = read_json("{\"a\": 1}");
    const JsonValue before = *json;
    json_edit_member(arena, json, "b", json_of_integer(2));
    assert_int_equal(before.n, 1);
    check_prints(&before, "{\"a\": 1}");
    check_prints(json, "{\"a\": 1,\"b\": 2}");
}

static void test_paths(void **unused)
{
    (void)unused;
    JsonValue *json = read_json("{\"rope\": null, \"deep\": {\"x\": 1}, \"flat\": 3}");
    json_edit_set(arena, json, "rope.factor", json_of_integer(8));
    json_edit_set(arena, json, "deep.y.z", json_of_text(""));
    json_edit_set(arena, json, "flat.is", json_of_truth(true)); /* becomes an object */
    json_edit_set(arena, json, "top", json_of_integer(0));
    check_prints(json, "{\"rope\": {\"factor\": 8},\"deep\": {\"x\": 1,\"y\": {\"z\": \"\"}},"
                       "\"flat\": {\"is\": true},\"top\": 0}");
    assert_ptr_equal(json_edit_object(arena, json, "deep"), json_member(json, "deep"));
}

static void test_lists(void **unused)
{
    (void)unused;
    JsonValue list = {.kind = JV_LIST};
    json_edit_insert(arena, &list, 0, json_of_integer(2));
    json_edit_insert(arena, &list, 0, json_of_integer(1));
    json_edit_insert(arena, &list, 2, json_of_integer(4));
    json_edit_insert(arena, &list, 2, json_of_integer(3));
    check_prints(&list, "[1,2,3,4]");
    json_edit_remove_item(&list, 3);
    json_edit_remove_item(&list, 0);
    check_prints(&list, "[2,3]");
    json_edit_remove_item(&list, 0);
    json_edit_remove_item(&list, 0);
    check_prints(&list, "[]");
}

/* Numbers come back as the values that they were, whole ones without a point. */
static void test_numbers(void **unused)
{
    (void)unused;
    static const char *const numbers[] = {"0", "-1", "9007199254740993", "1e-05", "0.6", "1e+300"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const JsonValue *json = read_json(numbers[i]);
        Text text = {0};
        json_edit_print(json, &text);
        const char *problem;
        const JsonValue *again = json_read(arena, text.data, text.length, &problem);
        assert_non_null(again);
        assert_true(again->kind == json->kind && again->number == json->number);
        assert_true(json->kind != JV_INTEGER || again->integer == json->integer);
        text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members), cmocka_unit_test(test_a_copy_stays),
        cmocka_unit_test(test_paths),   cmocka_unit_test(test_lists),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
