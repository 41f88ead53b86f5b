/* Vocabularies: training, files, encoding and decoding, foreign models. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "runtime/data/token_rules.h"
#include "runtime/data/vocabulary.h"
#include "tests/messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct Fixture {
    Arena *arena;
    Diagnostics diags;
    char folder[64];
} Fixture;

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    f->arena = arena_new();
    diag_init(&f->diags, f->arena);
    strcpy(f->folder, "/tmp/tfc-vocabulary-XXXXXX");
    if (!mkdtemp(f->folder))
        return -1;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;
    static const char *const names[] = {"vocab.txt", "vocab.model", "list.txt", "text",
                                        "tokenizer.json"};
    for (int i = 0; i < 5; i++)
        unlink(arena_printf(f->arena, "%s/%s", f->folder, names[i]));
    int left = rmdir(f->folder);
    arena_free(f->arena);
    free(f);
    return left;
}

static const Lines *lines_of(Fixture *f, const char *text)
{
    return lines_parse(&f->diags, f->arena, diag_source(f->arena, "text", text, strlen(text)), 0);
}

static void take_message(Fixture *f, const char *part)
{
    expect_message(&f->diags, part);
    diag_init(&f->diags, f->arena);
}

static Ids encode(const Vocabulary *vocab, const char *text)
{
    Ids ids = {0};
    vocab_encode(vocab, text, strlen(text), &ids);
    return ids;
}

static void expect_ids(const Vocabulary *vocab, const char *text, int n, const int32_t *expected)
{
    Ids ids = encode(vocab, text);
    assert_int_equal(ids.count, n);
    for (int i = 0; i < n; i++)
        assert_int_equal(ids.data[i], expected[i]);
    ids_free(&ids);
}

/* What comes back after encoding and decoding. */
static void expect_back(const Vocabulary *vocab, const char *text, const char *expected)
{
    Ids ids = encode(vocab, text);
    Text out = {0};
    text_put(&out, "", 0);
    vocab_decode(vocab, ids.data, ids.count, &out);
    assert_string_equal(out.data, expected);
    text_free(&out);
    ids_free(&ids);
}

static Vocabulary *save_and_load(Fixture *f, const Vocabulary *vocab)
{
    assert_true(vocab_save(vocab, &f->diags, f->folder));
    Vocabulary *again = vocab_load(&f->diags, f->arena, f->folder);
    assert_non_null(again);
    assert_int_equal(vocab_size(again), vocab_size(vocab));
    assert_true(vocab_hash(again) == vocab_hash(vocab));
    return again;
}

/* expect_back of the vocabulary saved and loaded again. */
static void expect_saved(Fixture *f, const Vocabulary *vocab, const char *text,
                         const char *expected)
{
    Vocabulary *again = save_and_load(f, vocab);
    expect_back(again, text, expected);
}

static void test_words(void **state)
{
    Fixture *f = *state;
    const Lines *texts[] = {lines_of(f, "b a@@ b\tc  b\n\nc <s>\n"), lines_of(f, "a@@ d\r\n")};
    Vocabulary *vocab = vocab_make(&f->diags, f->arena, "words:auto", texts, 2, false);
    assert_int_equal(vocab_size(vocab), 8);
    static const char *const order[] = {"<pad>", "<unk>", "<s>", "</s>", "b", "a@@", "c", "d"};
    for (int i = 0; i < 8; i++) {
        assert_string_equal(vocab_token(vocab, i), order[i]);
        assert_int_equal(vocab_find(vocab, order[i]), i);
    }
    assert_int_equal(vocab_find(vocab, "x"), -1);
    assert_int_equal(vocab_rules(vocab)->pad, 0);
    assert_int_equal(vocab_rules(vocab)->unk, 1);
    assert_int_equal(vocab_rules(vocab)->begin, 2);
    assert_int_equal(vocab_rules(vocab)->end, 3);
    expect_ids(vocab, " c  a@@\tx </s> ", 4, (int32_t[]){6, 5, 1, 1});
    expect_ids(vocab, "  ", 0, NULL);
    expect_back(vocab, "b a@@ b a@@ a@@ c d a@@", "b ab aac d a");
    expect_saved(f, vocab, "b a@@ b", "b ab");

    Text out = {0};
    vocab_decode(vocab, (int32_t[]){2, 4, 0, 6, 3}, 5, &out);
    assert_string_equal(out.data, "b c");
    text_free(&out);

    Vocabulary *few = vocab_make(&f->diags, f->arena, "words:auto:6", texts, 2, false);
    assert_int_equal(vocab_size(few), 6);
    assert_true(vocab_hash(few) != vocab_hash(vocab));
}

static Vocabulary *load_list(Fixture *f, const char *content)
{
    const char *path = arena_printf(f->arena, "%s/list.txt", f->folder);
    assert_true(file_write_all(&f->diags, path, content, strlen(content)));
    return vocab_make(&f->diags, f->arena, arena_printf(f->arena, "words:%s", path), NULL, 0,
                      false);
}

static void test_word_files(void **state)
{
    Fixture *f = *state;
    Vocabulary *vocab = load_list(f, "the 120\r\n5 7\n</s>\nx\n");
    assert_int_equal(vocab_size(vocab), 7);
    assert_int_equal(vocab_rules(vocab)->pad, 0);
    assert_int_equal(vocab_rules(vocab)->unk, 1);
    assert_int_equal(vocab_rules(vocab)->begin, 2);
    assert_int_equal(vocab_rules(vocab)->end, 5);
    expect_ids(vocab, "5 the x", 3, (int32_t[]){4, 3, 6});
    assert_null(load_list(f, "a\nb\na\n"));
    take_message(f, "list.txt:3:1: error: token a is in the list twice");
    assert_null(load_list(f, "a\n\nb\n"));
    take_message(f, "list.txt:2:1: error: expected one token");
    assert_null(load_list(f, "a b\n"));
    take_message(f, "list.txt:1:1: error: expected one token");
    assert_null(load_list(f, ""));
    take_message(f, "the list holds no tokens");
    assert_null(load_list(f, "a\nb\xff\n"));
    take_message(f, "list.txt:2:2: error: invalid UTF-8: byte 0xff");
    assert_null(load_list(f, "# characters\na\nbc\n"));
    take_message(f, "list.txt:3:1: error: expected one character");
}

/* Tokens that are called as rules call others: none is no token, and each can be said. */
static void test_names_of_rules(void **state)
{
    Fixture *f = *state;
    Vocabulary *vocab = load_list(f, "none\n#4\n#05\na=b\n");
    assert_int_equal(vocab_size(vocab), 8);
    for (int32_t id = -1; id < vocab_size(vocab); id++) {
        const char *text = token_rule_text(f->arena, vocab, "end", id);
        assert_true(token_rules_set(vocab, &f->diags, &text, 1));
        assert_int_equal(vocab_rules(vocab)->end, id);
    }
    assert_string_equal(token_rule_text(f->arena, vocab, "end", vocab_find(vocab, "none")),
                        "end=#04");
}

static void test_characters(void **state)
{
    Fixture *f = *state;
    const Lines *text = lines_of(f, "a\\ä a\n#\t日\n");
    Vocabulary *vocab = vocab_make(&f->diags, f->arena, "chars:auto", &text, 1, false);
    assert_true(vocab_is_characters(vocab));
    assert_int_equal(vocab_size(vocab), 4 + 8); /* newline a space # \ tab ä 日 */
    expect_back(vocab, "a ä\n日\t\\#", "a ä\n日\t\\#");
    expect_back(vocab, "aé", "a\xEF\xBF\xBD");
    Vocabulary *again = save_and_load(f, vocab);
    assert_true(vocab_is_characters(again));
    expect_back(again, "a ä\n日\t\\#", "a ä\n日\t\\#");
    expect_ids(again, "\n", 1, (int32_t[]){vocab_find(vocab, "\n")});
}

static void test_pieces_from_little_text(void **state)
{
    Fixture *f = *state;
    const Lines *text = lines_of(f, "ein kleiner Text\nnoch ein kleiner\nText\n");
    Vocabulary *vocab = vocab_make(&f->diags, f->arena, "auto:8000", &text, 1, false);
    if (!vocab)
        take_message(f, "nothing");
    take_message(f, "warning: the text supports only");
    assert_int_equal(vocab_rules(vocab)->pad, 0);
    assert_int_equal(vocab_rules(vocab)->unk, 1);
    assert_int_equal(vocab_rules(vocab)->begin, 2);
    assert_int_equal(vocab_rules(vocab)->end, 3);
    expect_back(vocab, "noch ein Text", "noch ein Text");
    expect_saved(f, vocab, "noch ein Text", "noch ein Text");
}

static void test_wrong_specs(void **state)
{
    Fixture *f = *state;
    const Lines *text = lines_of(f, "\n\n"), *some = lines_of(f, "abc def\n");
    assert_true(vocab_needs_text("auto:8000") && vocab_needs_text("words:auto"));
    assert_false(vocab_needs_text("words:automobile.txt") || vocab_needs_text("v.model"));
    assert_null(vocab_make(&f->diags, f->arena, "auto:8000", &text, 1, false));
    take_message(f, "no text to make a vocabulary from");
    assert_null(vocab_make(&f->diags, f->arena, "auto:12x", &some, 1, false));
    take_message(f, "expected a number of tokens");
    assert_null(vocab_make(&f->diags, f->arena, "auto:99999999999999999999", &some, 1, false));
    take_message(f, "expected a number of tokens");
    assert_null(vocab_make(&f->diags, f->arena, "auto:6", &some, 1, false));
    take_message(f, "--vocab auto:6: the text has so many different characters that 11 pieces are "
                    "the least");
    assert_non_null(vocab_make(&f->diags, f->arena, "auto:11", &some, 1, false));
    assert_int_equal(vocab_spec_size("auto:12") + vocab_spec_size("words:auto:30"), 42);
    assert_int_equal(vocab_spec_size("auto"), 8000);
    assert_int_equal(vocab_spec_size("words:auto") + vocab_spec_size("v.model"), 0);
    assert_null(vocab_make(&f->diags, f->arena, "/nonexistent.model", NULL, 0, false));
    take_message(f, "cannot read /nonexistent.model");
    const char *path = arena_printf(f->arena, "%s/text", f->folder);
    assert_true(file_write_all(&f->diags, path, "not a model\n", 12));
    assert_null(vocab_make(&f->diags, f->arena, path, NULL, 0, false));
    take_message(f, "text: error: not a SentencePiece model");
}

static const char *const botchan = "../shared/data/tokenizers/botchan.txt";

static void need(const char *path)
{
    if (!file_exists(path)) {
        print_message("skipped: no %s\n", path);
        skip();
    }
}

static void test_pieces_from_a_book(void **state)
{
    Fixture *f = *state;
    need(botchan);
    const Lines *text = lines_read(&f->diags, f->arena, botchan, NULL);
    Vocabulary *vocab = vocab_make(&f->diags, f->arena, "auto:1000", &text, 1, false);
    assert_int_equal(vocab_size(vocab), 1000);
    assert_int_equal(f->diags.list.count, 0);
    Vocabulary *again = vocab_make(&f->diags, f->arena, "auto:1000", &text, 1, false);
    assert_true(vocab_hash(vocab) == vocab_hash(again));
    expect_back(vocab, "I heard the Principal say so.", "I heard the Principal say so.");
    for (int64_t i = 0; i < text->n; i += 37) {
        Ids ids = {0};
        vocab_encode(vocab, text->at[i].text, text->at[i].length, &ids);
        for (size_t j = 0; j < ids.count; j++)
            assert_true(ids.data[j] >= 4 && ids.data[j] < 1000);
        ids_free(&ids);
    }
}

/* A model of another system: eos 0, unk 1, no pad and no bos. */
static void test_foreign_model(void **state)
{
    Fixture *f = *state;
    const char *path = "../shared/data/tokenizers/bergamot_vocab.deen.spm";
    need(path);
    Vocabulary *vocab = vocab_make(&f->diags, f->arena, path, NULL, 0, false);
    assert_int_equal(vocab_size(vocab), 32000);
    assert_int_equal(vocab_rules(vocab)->end, 0);
    assert_int_equal(vocab_rules(vocab)->unk, 1);
    assert_int_equal(vocab_rules(vocab)->pad, -1);
    assert_int_equal(vocab_rules(vocab)->begin, vocab_rules(vocab)->end);
    expect_back(vocab, "Ein Hund läuft über die Straße.", "Ein Hund läuft über die Straße.");
    expect_saved(f, vocab, "Größe", "Größe");

    const Source *whole = file_read(&f->diags, f->arena, path, 1 << 24);
    const char *cut = arena_printf(f->arena, "%s/text", f->folder);
    for (size_t size = 0; size < whole->length; size += whole->length / 7 + 1) {
        assert_true(file_write_all(&f->diags, cut, whole->text, size));
        Vocabulary *part = vocab_load(&f->diags, f->arena, cut);
        assert_true(!part == (f->diags.errors > 0)); /* a cut between pieces may be a model */
        diag_init(&f->diags, f->arena);
    }
}

static void test_tokenizer_json(void **state)
{
    Fixture *f = *state;
    Vocabulary *vocab = vocab_load(&f->diags, f->arena, "tests/hf/cases/unigram.json");
    assert_non_null(vocab);
    assert_int_equal(vocab_rules(vocab)->pad, 0);
    assert_int_equal(vocab_rules(vocab)->end, 1);
    assert_int_equal(vocab_rules(vocab)->begin, 1);
    assert_int_equal(vocab_rules(vocab)->unk, 2);
    assert_int_equal(vocab_find(vocab, "</s>"), 1);
    assert_string_equal(vocab_token(vocab, 1), "</s>");
    expect_back(vocab, " the  old dog", "the old dog");
    expect_saved(f, vocab, "the old dog", "the old dog");
    /* without special tokens */
    vocab = vocab_load(&f->diags, f->arena, "tests/hf/cases/words.json");
    assert_non_null(vocab);
    assert_int_equal(vocab_rules(vocab)->end, -1);
    assert_int_equal(vocab_rules(vocab)->text.begin, -1);
    assert_int_equal(vocab_rules(vocab)->text.n_stops, 0);
}

/* Sides agree if their tokens do, whatever files they are of. */
static void test_sides(void **state)
{
    Fixture *f = *state;
    const struct {
        const char *source, *target;
        bool agree;
    } rows[] = {
        {"a b b", "a b b", true},
        {"a b b", "a a b", false},
        {"a b b", "a c b b", false},
        {"a b c c", "a b b", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Lines *texts[] = {lines_of(f, rows[i].source), lines_of(f, rows[i].target)};
        Vocabulary *sides[2];
        for (int k = 0; k < 2; k++)
            sides[k] = vocab_make(&f->diags, f->arena, "words:auto", &texts[k], 1, 0);
        assert_true(vocab_sides_agree(sides[1]));
        vocab_join(sides[1], sides[0]);
        assert_int_equal(vocab_sides_agree(sides[1]), rows[i].agree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_words, setup, teardown),
        cmocka_unit_test_setup_teardown(test_word_files, setup, teardown),
        cmocka_unit_test_setup_teardown(test_characters, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pieces_from_little_text, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_specs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pieces_from_a_book, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names_of_rules, setup, teardown),
        cmocka_unit_test_setup_teardown(test_foreign_model, setup, teardown),
        cmocka_unit_test_setup_teardown(test_tokenizer_json, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sides, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
