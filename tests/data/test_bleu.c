/* BLEU against values that sacrebleu documents, and tokenisation against its rules. */
#define _POSIX_C_SOURCE 200809L
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/data/bleu.h"

#include <math.h>
#include <stdio.h>

typedef struct Case {
    const char *line, *tokens;
} Case;

static const Case cases_13a[] = {
    {"", ""},
    {"   ", ""},
    {"Hello, world!", "Hello , world !"},
    {"It's 3.5%, or 1,000.5.", "It's 3.5 % , or 1,000.5 ."},
    {"a.b", "a . b"},
    {"3.b 3,b b.3 b,3", "3 . b 3 , b b . 3 b , 3"},
    {"10-12 A-B 5-", "10 - 12 A-B 5 -"},
    {"...", ". . ."},
    {"a...b", "a . . . b"},
    {"1..2", "1 . . 2"},
    {"U.S.A.", "U . S . A ."},
    {"&quot;x&quot; &amp;amp; &lt;b&gt;", "\" x \" & amp ; < b >"},
    {"&amp;lt;", "<"},
    {"one <skipped> two", "one two"},
    {"(a)[b]{c}/d\\e", "( a ) [ b ] { c } / d \\ e"},
    {"x_y@z #1 $5 ~ `q` ^", "x _ y @ z # 1 $ 5 ~ ` q ` ^"},
    {"ä.ö, 5ß,6", "ä . ö , 5ß , 6"},
    {"„Grün“, sagt’s.", "„Grün“ , sagt’s ."},
    {"a\xC2\xA0"
     "b\xE3\x80\x80"
     "c\xE2\x80\xAF"
     "d",
     "a b c d"},
    {"a\tb\vc", "a b c"},
    {"end-", "end-"},
    {"9-\n", "9 -"},
    {"wo-\nrd and\nmore", "word and more"},
};

static void check_tokens(BleuTokenize tokenize, const Case *c)
{
    Text out = {0};
    bleu_tokenize(tokenize, c->line, strlen(c->line), &out);
    assert_string_equal(out.data ? out.data : "", c->tokens);
    text_free(&out);
}

static void test_tokenize(void **state)
{
    for (size_t i = 0; i < sizeof cases_13a / sizeof *cases_13a; i++)
        check_tokens(BLEU_13A, &cases_13a[i]);
    check_tokens(BLEU_NONE, &(Case){" a.b ,  c\xC2\xA0"
                                    "d ",
                                    "a.b , c d"});
    BleuTokenize tokenize;
    assert_true(bleu_parse_tokenize("13a", &tokenize) && tokenize == BLEU_13A);
    assert_true(bleu_parse_tokenize("none", &tokenize) && tokenize == BLEU_NONE);
    assert_false(bleu_parse_tokenize("intl", &tokenize));
}

static double score_one(BleuTokenize tokenize, const char *output, const char *reference)
{
    Bleu bleu = {0};
    bleu_add(&bleu, tokenize, output, &reference, 1);
    return bleu_score(&bleu);
}

/* The example of sacrebleu's README, with the values its own tests expect. */
static void test_readme(void **state)
{
    static const char *const outputs[] = {"The dog bit the man.", "It wasn't surprising.",
                                          "The man had just bitten him."};
    static const char *const references[][2] = {
        {"The dog bit the man.", "The dog had bit the man."},
        {"It was not unexpected.", "No one was surprised."},
        {"The man bit him first.", "The man had bitten the dog."}};
    Bleu split = {0}, plain = {0}, nothing = {0};
    for (int i = 0; i < 3; i++) {
        bleu_add(&split, BLEU_13A, outputs[i], references[i], 2);
        bleu_add(&plain, BLEU_NONE, outputs[i], references[i], 2);
        bleu_add(&nothing, BLEU_13A, "", references[i], 2);
    }
    assert_true(fabs(bleu_score(&split) - 48.530827) < 1e-6);
    assert_true(fabs(bleu_score(&plain) - 49.1919566) < 1e-6);
    assert_true(bleu_score(&nothing) == 0);
}

static void test_scores(void **state)
{
    assert_true(fabs(score_one(BLEU_13A, "this is a test", "this is a test") - 100) < 1e-9);
    /* 3/4, 1/3, then 1/2 of 1/2 and 1/4 of 1/1 */
    double expected = 100 * pow(3. / 4 * 1 / 3 * 1 / 4 * 1 / 4, 0.25);
    assert_true(fabs(score_one(BLEU_13A, "this is a fest", "this is a best fest") -
                     exp(1 - 5. / 4) * 100 * pow(1. * 2 / 3 * 1 / 2 * 1 / 2, 0.25)) < 1e-9);
    assert_true(fabs(score_one(BLEU_13A, "this is x test", "this is a test") - expected) < 1e-9);
    assert_true(score_one(BLEU_13A, "a b c d", "e f g h") == 0);
    assert_true(score_one(BLEU_13A, "a test", "a test") == 0); /* no 4-grams */

    Bleu bleu = {{9, 7, 5, 3}, {10, 8, 6, 4}, 11, 11};
    assert_true(fabs(bleu_score(&bleu) - 83.75922397) < 1e-6);
    Bleu repeated = {0};
    const char *reference = "the cat is on the mat";
    bleu_add(&repeated, BLEU_13A, "the the the the the the the", &reference, 1);
    assert_int_equal(repeated.correct[0], 2);
    assert_int_equal(repeated.total[0], 7);

    /* of references as near in length the shorter one counts, as in sacrebleu */
    static const char *const tied[][2] = {{"a b c d e f", "a b c d"}, {"a b c d", "a b c d e f"}};
    for (int i = 0; i < 2; i++) {
        Bleu bleu_tied = {0};
        bleu_add(&bleu_tied, BLEU_13A, "a b c d e", tied[i], 2);
        assert_int_equal(bleu_tied.reference_length, 4);
    }
}

/* A line without every fifth word. */
static void drop_words(const char *line, Text *out)
{
    int word = 0;
    text_put(out, "", 0);
    for (const char *c = line; *c; c++) {
        word += *c == ' ';
        if (word % 5 != 4)
            text_put(out, c, 1);
    }
}

/* Real German; the figures come from an independent implementation of the definition. */
static void test_multi30k(void **state)
{
    const char *path = "../shared/data/multi30k/val.de.gz";
    FILE *probe = fopen(path, "r");
    if (!probe) {
        print_message("skipped: no %s\n", path);
        skip();
    }
    fclose(probe);
    FILE *text = popen("gunzip -c ../shared/data/multi30k/val.de.gz", "r");
    assert_non_null(text);
    char line[4096];
    Bleu split = {0}, plain = {0};
    while (fgets(line, sizeof line, text)) {
        line[strcspn(line, "\n")] = 0;
        const char *reference = line;
        Text output = {0};
        drop_words(line, &output);
        bleu_add(&split, BLEU_13A, output.data, &reference, 1);
        bleu_add(&plain, BLEU_NONE, output.data, &reference, 1);
        text_free(&output);
    }
    assert_int_equal(pclose(text), 0);
    assert_int_equal(split.correct[3], 2741);
    assert_int_equal(split.total[0], 10671);
    assert_int_equal(split.reference_length, 12825);
    assert_true(fabs(bleu_score(&split) - 53.26276751185108) < 1e-9);
    assert_true(fabs(bleu_score(&plain) - 51.01960411966539) < 1e-9);
}

static void test_signature(void **state)
{
    Arena *arena = arena_new();
    assert_string_equal(bleu_signature(arena, BLEU_13A, 1, "0.1.0"),
                        "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:tfc.0.1.0");
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokenize),  cmocka_unit_test(test_readme),
        cmocka_unit_test(test_scores),    cmocka_unit_test(test_multi30k),
        cmocka_unit_test(test_signature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
