/* Lists of words and of characters as tokenizers. */
#include "runtime/text/tokenizer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SPECIALS "<pad>\n<unk>\n<s>\n</s>\n"

static Tokenizer *open(const char *text)
{
    const char *problem;
    Tokenizer *t = tokenizer_words(text, strlen(text), &problem);
    assert_null(problem);
    assert_non_null(t);
    return t;
}

/* The ids of the text, and what they decode to. */
static void check(const Tokenizer *t, const char *text, size_t length, const char *ids,
                  const char *back)
{
    TokenIds got = {0};
    TokenText decoded = {0};
    char list[200] = "";
    assert_true(tokenizer_encode(t, text, length, &got));
    for (size_t i = 0; i < got.count; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%d", i ? " " : "",
                 got.data[i]);
    assert_string_equal(list, ids);
    assert_true(tokenizer_decode(t, got.data, got.count, &decoded));
    assert_int_equal(decoded.length, strlen(back));
    assert_memory_equal(decoded.length ? decoded.data : "", back, decoded.length);
    token_ids_free(&got);
    token_text_free(&decoded);
}
#define CHECK(t, text, ids, back) check(t, text, sizeof text - 1, ids, back)

static void test_words(void **state)
{
    Tokenizer *t = open(SPECIALS "new@@\new\nhouse\nnew");
    assert_int_equal(tokenizer_size(t), 8);
    assert_int_equal(tokenizer_find(t, "new", 3), 7);
    assert_int_equal(tokenizer_find(t, "newer", 5), -1);
    CHECK(t, "  new\thouse ", "7 6", "new house");
    CHECK(t, "new@@ ew house", "4 5 6", "newew house");
    CHECK(t, "</s> <s> ne", "1 1 1", "<unk> <unk> <unk>");
    CHECK(t, "new\0 \xff\xfe new", "1 1 7", "<unk> <unk> new");
    CHECK(t, "", "", "");
    TokenText none = {0};
    assert_true(tokenizer_decode(t, (int32_t[]){-1, 8, 2, INT32_MAX}, 4, &none));
    assert_int_equal(none.length, 0);
    tokenizer_free(t);
}

static void test_characters(void **state)
{
    Tokenizer *t = open("# characters\n" SPECIALS "\\n\n\\\\\na\n \n\xc3\xa9\n");
    assert_int_equal(tokenizer_size(t), 9);
    CHECK(t, "a \xc3\xa9\n\\", "6 7 8 4 5", "a \xc3\xa9\n\\");
    CHECK(t, "b\xc3\0", "1 1 1", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    tokenizer_free(t);
}

static void refuse(const char *text, size_t length, const char *problem)
{
    const char *got;
    assert_null(tokenizer_words(text, length, &got));
    assert_string_equal(got, problem);
}

static void test_problems(void **state)
{
    static const char nul[] = SPECIALS "a\0b\n";
    refuse(NULL, 0, "there are no bytes");
    refuse("", 0, "it lacks one of <pad>, <unk>, <s> and </s>");
    refuse("<pad>\n<unk>\n<s>\na\n", 18, "it lacks one of <pad>, <unk>, <s> and </s>");
    refuse(SPECIALS "a\na\n", strlen(SPECIALS) + 4, "a token is there twice");
    refuse(SPECIALS "\na\n", strlen(SPECIALS) + 3, "a line is empty, or holds a NUL");
    refuse(nul, sizeof nul - 1, "a line is empty, or holds a NUL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_characters),
                                       cmocka_unit_test(test_problems)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
