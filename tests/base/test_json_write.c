/* The writer of JSON: escapes, nesting, numbers. */
#include "base/json_write.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void same(Text *text, const char *expected)
{
    assert_string_equal(text->data, expected);
    text_free(text);
}

static void escapes(void **state)
{
    (void)state;
    Text text = {0};
    JsonWriter json = {.out = &text};
    json_put_text(&json, NULL, "a\"b\\c\nd\te\x01\x1f\x7f\xc3\xa9/");
    same(&text, "\"a\\\"b\\\\c\\nd\\te\\u0001\\u001f\x7f\xc3\xa9/\"");
    json = (JsonWriter){.out = &text};
    json_open(&json, NULL, '{');
    json_put_text(&json, "\"\r", "");
    json_close(&json, '}');
    same(&text, "{\"\\\"\\u000d\": \"\"}");
}

/* Nothing in the JSON of a page ends or changes the element around it. */
static void in_a_page(void **state)
{
    (void)state;
    Text text = {0};
    JsonWriter json = {.out = &text, .in_page = true};
    json_open(&json, NULL, '{');
    json_put_text(&json, "</script>", "<!--\xc3\xa9<script>\xff");
    json_close(&json, '}');
    same(&text, "{\"\\u003c/script>\": \"\\u003c!--\xc3\xa9\\u003cscript>\xef\xbf\xbd\"}");
    json_quote(&text, "a\0<", 3, false);
    same(&text, "\"a\\u0000<\"");
}

static void nesting(void **state)
{
    (void)state;
    Text text = {0};
    JsonWriter json = {.out = &text};
    json_open(&json, NULL, '{');
    json_open(&json, "none", '[');
    json_close(&json, ']');
    json_open(&json, "list", '[');
    json_put_integer(&json, NULL, 1);
    json_open(&json, NULL, '{');
    json_put_bool(&json, "a", true);
    json_put_bool(&json, "b", false);
    json_close(&json, '}');
    json_put_text(&json, NULL, "x");
    json_line(&json, "  ");
    json_put_integer(&json, NULL, 2);
    json_close(&json, ']');
    json_open(&json, "lines", '[');
    json_line(&json, "");
    json_put_integer(&json, NULL, 3);
    json_close(&json, ']');
    json_close(&json, '}');
    same(&text, "{\"none\": [], \"list\": [1, {\"a\": true, \"b\": false}, \"x\",\n  2], "
                "\"lines\": [\n3]}");
}

static void numbers(void **state)
{
    (void)state;
    Text text = {0};
    JsonWriter json = {.out = &text};
    json_open(&json, NULL, '[');
    json_put_integer(&json, NULL, INT64_MIN);
    json_put_integer(&json, NULL, INT64_MAX);
    json_put_number(&json, NULL, 1.0 / 3, 9);
    json_put_number(&json, NULL, 1e30, 6);
    json_put_number(&json, NULL, NAN, 9);
    json_put_number(&json, NULL, -INFINITY, 9);
    json_put_fixed(&json, NULL, 2.0 / 3, 3);
    json_put_fixed(&json, NULL, 1e15, 0);
    json_put_fixed(&json, NULL, INFINITY, 0);
    json_close(&json, ']');
    same(&text,
         "[-9223372036854775808, 9223372036854775807, 0.333333333, 1e+30, null, null, 0.667, "
         "1000000000000000, null]");
}

static void lines_of_members(void **state)
{
    (void)state;
    Text text = {0};
    JsonWriter json = {.out = &text, .indent = 2};
    json_open(&json, NULL, '{');
    json_open(&json, "none", '[');
    json_close(&json, ']');
    json_open(&json, "list", '[');
    json_put_integer(&json, NULL, 1);
    json_put_integer(&json, NULL, 2);
    json_close(&json, ']');
    json_put_text(&json, "text", "a\xe4\xc3\xa4\xf0\x9f");
    json_close(&json, '}');
    same(&text, "{\n  \"none\": [],\n  \"list\": [\n    1,\n    2\n  ],\n  \"text\": "
                "\"a\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd\"\n}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(escapes), cmocka_unit_test(in_a_page),
                                       cmocka_unit_test(nesting), cmocka_unit_test(numbers),
                                       cmocka_unit_test(lines_of_members)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
