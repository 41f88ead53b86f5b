/* Tokens beside the words of their text. */
#include "runtime/text/words/token_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SPECIALS "<pad>\n<unk>\n<s>\n</s>\n"

static Tokenizer *open(const char *list)
{
    const char *problem;
    Tokenizer *t = tokenizer_words(list, strlen(list), &problem);
    assert_non_null(t);
    return t;
}

/* The words of ids beside a text, and how many it has: "0 0 1 / 2". */
static void check(const Tokenizer *t, const char *text, const int32_t *ids, size_t n,
                  const char *wanted)
{
    int64_t words[16], n_words;
    char list[200] = "";
    assert_true(token_words(t, text, strlen(text), ids, n, words, &n_words));
    for (size_t i = 0; i < n; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%d ", (int)words[i]);
    snprintf(list + strlen(list), sizeof list - strlen(list), "/ %d", (int)n_words);
    assert_string_equal(list, wanted);
}

static void test_words(void **state)
{
    (void)state;
    Tokenizer *t = open(SPECIALS "ab@@\ncd\nef\n");
    const int32_t joined[] = {4, 5, 6}, unknown[] = {5, 1, 6};
    check(t, "abcd ef", joined, 3, "0 0 1 / 2");     /* what it decodes to */
    check(t, "ab@@ cd  ef", joined, 3, "0 1 2 / 3"); /* what it was read from */
    check(t, "cd xyz ef", unknown, 3, "0 1 2 / 3");
    check(t, "", NULL, 0, "/ 0");
    check(t, " \t", joined, 3, "0 0 0 / 0"); /* not its text: any answer that is a word */
    check(t, "abcd", joined, 3, "0 0 0 / 1");
    tokenizer_free(t);
}

static void test_characters(void **state)
{
    (void)state;
    Tokenizer *t = open("# characters\n" SPECIALS "\\n\n \na\nb\n\303\251\n");
    TokenIds ids = {0};
    const char *text = "a\303\251 ba";
    assert_true(tokenizer_encode(t, text, strlen(text), &ids));
    check(t, text, ids.data, ids.count, "0 0 0 1 1 / 2");
    token_ids_free(&ids);
    tokenizer_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_characters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
