/* What the pieces of auto:N are made from: every line, and texts normalized or as they are. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/data/vocabulary.h"

#include <string.h>

enum { LONGEST_LINE = 4192 /* bytes that the library's trainer takes */ };

static Vocabulary *make(Arena *arena, const char *text, size_t length, int pieces, bool as_is)
{
    Diagnostics diags;
    diag_init(&diags, arena);
    const Lines *lines = lines_parse(&diags, arena, diag_source(arena, "text", text, length), 0);
    assert_non_null(lines);
    Vocabulary *vocab =
        vocab_make(&diags, arena, arena_printf(arena, "auto:%d", pieces), &lines, 1, as_is);
    if (!vocab)
        fail_msg("%s", diags.list.count ? diags.list.data[0].message : "no vocabulary");
    return vocab;
}

static int unknown_tokens(const Vocabulary *vocab, const char *text)
{
    Ids ids = {0};
    int n = 0;
    vocab_encode(vocab, text, strlen(text), &ids);
    for (size_t i = 0; i < ids.count; i++)
        n += ids.data[i] == vocab_rules(vocab)->unk;
    ids_free(&ids);
    return n;
}

static void expect_back(const Vocabulary *vocab, const char *text, const char *expected)
{
    Ids ids = {0};
    Text back = {0};
    vocab_encode(vocab, text, strlen(text), &ids);
    vocab_decode(vocab, ids.data, ids.count, &back);
    assert_string_equal(back.data ? back.data : "", expected);
    text_free(&back);
    ids_free(&ids);
}

/* `times` times the words, with this between them. */
static void put_words(Text *text, const char *word, const char *between, int times)
{
    for (int i = 0; i < times; i++)
        text_add(text, "%s%s", i ? between : "", word);
}

/* A short line, and longer ones with letters that no other has: cut at blanks, and, where there are
 * none, between characters. */
static void test_long_lines(void **state)
{
    Arena *arena = arena_new();
    Text text = {0};
    text_string(&text, "abc\n");
    put_words(&text, "quick fox", " ", LONGEST_LINE);
    text_string(&text, "\n");
    put_words(&text, "жщы", "", LONGEST_LINE);
    text_string(&text, "z\n");
    Vocabulary *vocab = make(arena, text.data, text.length, 40, false);
    assert_int_equal(unknown_tokens(vocab, "quick fox abc жщы z"), 0);
    assert_true(unknown_tokens(vocab, "W") > 0);
    text_free(&text);
    arena_free(arena);
}

/* U+2585, which the library puts in place of what it does not know, is a character as others. */
static void test_the_library_s_sign(void **state)
{
    static const char text[] = "load ▅▅▅▅ full\nload ▅▅ half\nqwx ▅\n";
    Arena *arena = arena_new();
    Vocabulary *vocab = make(arena, text, strlen(text), 40, false);
    assert_int_equal(unknown_tokens(vocab, "load ▅▅ full qwx"), 0);
    expect_back(vocab, "load ▅▅ qwx", "load ▅▅ qwx");
    arena_free(arena);
}

static void test_normalization(void **state)
{
    static const char text[] =
        "if x:\n\treturn 1\nelse:\n\t\treturn  2…\n        deep ½ ﬁne\n\tx\ty ▅\n";
    static const char *const lines[] = {"\treturn 1", "\t\treturn  2…", "        deep ½ ﬁne",
                                        "x\ty", "  x  "};
    static const char *const normalized[] = {"return 1", "return 2...", "deep 1⁄2 fine", "x y",
                                             "x"};
    Arena *arena = arena_new();
    Vocabulary *as_is = make(arena, text, strlen(text), 60, true),
               *nfkc = make(arena, text, strlen(text), 60, false);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        assert_int_equal(unknown_tokens(as_is, lines[i]), 0);
        expect_back(as_is, lines[i], lines[i]);
        expect_back(nfkc, lines[i], normalized[i]);
    }
    expect_back(as_is, "▅\tx", "▅\tx");
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_the_library_s_sign),
        cmocka_unit_test(test_normalization),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
