/* Lines and corpora: what is read, left out, cut, and refused. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "runtime/data/corpus.h"
#include "tests/messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Fixture {
    Arena *arena;
    Diagnostics diags;
    Vocabulary *words; /* a = 4, b = 5, c = 6, d = 7, e = 8 */
} Fixture;

static const Lines *lines_named(Fixture *f, const char *name, const char *text, size_t length)
{
    return lines_parse(&f->diags, f->arena, diag_source(f->arena, name, text, length), 0);
}

static const Lines *lines_of(Fixture *f, const char *text)
{
    return lines_named(f, "text", text, strlen(text));
}

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    f->arena = arena_new();
    diag_init(&f->diags, f->arena);
    const Lines *text = lines_of(f, "a a a a a b b b b c c c d d e");
    f->words = vocab_make(&f->diags, f->arena, "words:auto", &text, 1, false);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;
    arena_free(f->arena);
    free(f);
    return 0;
}

static void test_lines(void **state)
{
    Fixture *f = *state;
    const Lines *lines = lines_of(f, "\xEF\xBB\xBFone\r\n\n tw\ro \nlast");
    static const char *const expected[] = {"one", "", " tw\ro ", "last"};
    assert_int_equal(lines->n, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(lines->at[i].length, strlen(expected[i]));
        assert_memory_equal(lines->at[i].text, expected[i], strlen(expected[i]));
    }
    assert_int_equal(lines_of(f, "")->n, 0);
    assert_int_equal(lines_of(f, "\n")->n, 1);
}

/* Lines that are not those of their file by number, alone, split at tabs and joined. */
static void test_places(void **state)
{
    Fixture *f = *state;
    static const int64_t numbers[] = {1, 4};
    Lines *first = arena_copy(f->arena, lines_named(f, "one", "a\tb\nc\td\n", 8), sizeof *first);
    first->line = numbers;
    Lines *second, *parts[] = {lines_columns(&f->diags, f->arena, first, &second),
                               arena_copy(f->arena, lines_of(f, "x\ny"), sizeof *first)};
    const Lines *all = lines_join(f->arena, parts, 2);
    static const int lines[] = {2, 5, 1, 2};
    for (int i = 0; i < 4; i++) {
        const Loc place = lines_place(all, i);
        assert_int_equal(place.line, lines[i]);
        assert_string_equal(place.source->path, i < 2 ? "one" : "text");
    }
    assert_string_equal(lines_where(f->arena, all, 1), "line 5 of one");
    assert_string_equal(lines_where(f->arena, all, 3), "line 2 of text");
    assert_string_equal(lines_where(f->arena, first, 1), "line 5");
    assert_string_equal(lines_where(f->arena, second, 0), "line 2");
    assert_string_equal(lines_where(f->arena, first, 2), "line 3"); /* past the end: as counted */
}

static void test_utf8(void **state)
{
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {
        {"a", 1},
        {"ä", 2},
        {"€", 3},
        {"𝄞", 4},
        {"\xED\x9F\xBF", 3},
        {"\xF4\x8F\xBF\xBF", 4},
        {"\x80", 0},
        {"\xC0\x80", 0},
        {"\xC1\xBF", 0},
        {"\xE0\x9F\xBF", 0},
        {"\xED\xA0\x80", 0},
        {"\xF0\x8F\xBF\xBF", 0},
        {"\xF4\x90\x80\x80", 0},
        {"\xF5\x80\x80\x80", 0},
        {"\xC3", 0},
        {"\xE2\x82", 0},
        {"\xC3(", 0},
        {"\xFF", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(utf8_length(cases[i].text, strlen(cases[i].text)), cases[i].length);
}

/* Where a text is cut: before the character of the byte, and somewhere in bytes that are none. */
static void test_utf8_start(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t at, start;
    } cases[] = {
        {"abc", 2, 2}, {"aé", 1, 1},           {"aé", 2, 1},        {"a€b", 3, 1},
        {"a€b", 4, 4}, {"\x80\x80\x80", 2, 0}, {"a\xFF\xFF", 2, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(utf8_start(cases[i].text, cases[i].at), cases[i].start);
}

static void test_bad_text(void **state)
{
    Fixture *f = *state;
    assert_null(lines_of(f, "fine\nab\xfc"
                            "c\n\xc3\n"));
    expect_message(&f->diags, "text:2:3: error: invalid UTF-8: byte 0xfc");
    expect_message(&f->diags, "text:3:1: error: invalid UTF-8: byte 0xc3");
    assert_null(lines_of(f, "\xff\n\xff\n\xff\n\xff\n\xff\n"));
    expect_message(&f->diags, "2 more lines are no text");
    assert_null(lines_named(f, "zero", "a\0b\n", 4));
    expect_message(&f->diags, "zero:1:2: error: a NUL byte");
    assert_null(lines_named(f, "t.gz", "\x1f\x8b\x08\x00", 4));
    expect_message(&f->diags, "t.gz: error: the file is compressed by gzip");
    assert_null(lines_read(&f->diags, f->arena, "/nonexistent", NULL));
    expect_message(&f->diags, "cannot read /nonexistent");
    assert_null(lines_read(&f->diags, f->arena, "/tmp", NULL));
    expect_message(&f->diags, "cannot read /tmp: it is a folder, not a file");
}

static void test_pipe(void **state)
{
    Fixture *f = *state;
    char folder[] = "/tmp/tfc-corpus-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *path = arena_printf(f->arena, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    if (fork() == 0) {
        FILE *out = fopen(path, "w");
        for (int i = 0; i < 50000; i++)
            fprintf(out, "line %d\n", i);
        fclose(out);
        _exit(0);
    }
    const Lines *lines = lines_read(&f->diags, f->arena, path, NULL);
    unlink(path);
    rmdir(folder);
    assert_non_null(lines);
    assert_int_equal(lines->n, 50000);
    assert_memory_equal(lines->at[49999].text, "line 49999", 10);
}

static void expect_row(const Rows *rows, int64_t i, int n, const int32_t *ids)
{
    assert_int_equal(rows_length(rows, i), n);
    for (int j = 0; j < n; j++)
        assert_int_equal(rows->ids.data[rows->start[i] + j], ids[j]);
}

static const char source_text[] = "a b\n\nc\na b c d\ne\na b c\n";
static const char target_text[] = "c\nd\n \nd\na a a a\nb b b\n";

static void test_pairs_for_training(void **state)
{
    Fixture *f = *state;
    CorpusOptions options = {.kind = CORPUS_PAIRS, .max_length = 4};
    Corpus *c = corpus_encode(
        &f->diags, f->words, &options,
        &(CorpusText){.source = lines_of(f, source_text), .target = lines_of(f, target_text)});
    assert_non_null(c);
    assert_int_equal(c->n, 2);
    assert_int_equal(c->lines, 6);
    assert_int_equal(c->empty, 2);
    assert_int_equal(c->long_, 2);
    assert_int_equal(c->line[0], 0);
    assert_int_equal(c->line[1], 5);
    expect_row(&c->source, 0, 2, (int32_t[]){4, 5});
    expect_row(&c->target, 0, 1, (int32_t[]){6});
    expect_row(&c->source, 1, 3, (int32_t[]){4, 5, 6});
    expect_row(&c->target, 1, 3, (int32_t[]){5, 5, 5});
    assert_int_equal(corpus_side_length(c, 1, SIDE_SOURCE), 4);
    assert_int_equal(corpus_side_length(c, 0, SIDE_TARGET), 2);
    expect_message(&f->diags,
                   "2 of 6 sentence pairs have an empty side and are left out (the first on "
                   "line 2)");
    expect_message(&f->diags,
                   "2 of 6 sentence pairs are longer than 4 tokens and are left out (the "
                   "first on line 4)");
    corpus_free(c);
}

static void test_pairs_for_evaluation(void **state)
{
    Fixture *f = *state;
    CorpusOptions options = {.kind = CORPUS_PAIRS, .max_length = 4, .keep_all = true};
    Corpus *c = corpus_encode(
        &f->diags, f->words, &options,
        &(CorpusText){.source = lines_of(f, source_text), .target = lines_of(f, target_text)});
    assert_int_equal(c->n, 6);
    expect_row(&c->source, 1, 0, NULL);
    expect_row(&c->target, 2, 0, NULL);
    expect_row(&c->source, 3, 3, (int32_t[]){4, 5, 6});
    expect_row(&c->target, 4, 4, (int32_t[]){4, 4, 4, 4});
    assert_int_equal(corpus_side_length(c, 4, SIDE_TARGET), 4);
    expect_row(&c->source, 5, 3, (int32_t[]){4, 5, 6});
    expect_message(&f->diags,
                   "warning: 1 of 6 sources is longer than 4 tokens and cut (the first on line 4)");
    expect_message(
        &f->diags,
        "warning: 1 of 6 targets is longer than 4 tokens: the loss is over the first 4 of "
        "each (the first on line 5)");
    corpus_free(c);
}

static void test_one_side(void **state)
{
    Fixture *f = *state;
    const Lines *text = lines_of(f, "a b c\n\n");
    CorpusOptions options = {.kind = CORPUS_SOURCES, .max_length = 3, .keep_all = true};
    Corpus *c = corpus_encode(&f->diags, f->words, &options, &(CorpusText){.source = text});
    expect_row(&c->source, 0, 2, (int32_t[]){4, 5});
    assert_int_equal(corpus_side_length(c, 1, SIDE_SOURCE), 1);
    assert_int_equal(corpus_side_length(c, 0, SIDE_TARGET), 0);
    corpus_free(c);

    options.kind = CORPUS_SENTENCES;
    c = corpus_encode(&f->diags, f->words, &options, &(CorpusText){.source = text});
    expect_row(&c->source, 0, 1, (int32_t[]){4});
    assert_int_equal(corpus_side_length(c, 0, SIDE_SOURCE), 3);
    corpus_free(c);

    options = (CorpusOptions){.kind = CORPUS_LINES};
    c = corpus_encode(&f->diags, f->words, &options, &(CorpusText){.source = text});
    assert_int_equal(c->n, 1);
    expect_row(&c->target, 0, 3, (int32_t[]){4, 5, 6});
    assert_int_equal(corpus_side_length(c, 0, SIDE_SOURCE), 0);
    assert_int_equal(corpus_side_length(c, 0, SIDE_TARGET), 4);
    corpus_free(c);
}

static void test_streams(void **state)
{
    Fixture *f = *state;
    CorpusOptions options = {.kind = CORPUS_STREAM, .max_length = 8};
    const Lines *text = lines_of(f, "ab\n\nc");
    Corpus *c = corpus_encode(&f->diags, f->words, &options,
                              &(CorpusText){.source = lines_of(f, "a b\n\nc")});
    expect_row(&c->target, 0, 6, (int32_t[]){4, 5, 3, 3, 6, 3});
    corpus_free(c);
    Vocabulary *chars = vocab_make(&f->diags, f->arena, "chars:auto", &text, 1, false);
    c = corpus_encode(&f->diags, chars, &options, &(CorpusText){.source = text});
    int32_t newline = vocab_find(chars, "\n");
    expect_row(&c->target, 0, 6,
               (int32_t[]){vocab_find(chars, "a"), vocab_find(chars, "b"), newline, newline,
                           vocab_find(chars, "c"), newline});
    corpus_free(c);
}

static void test_refused(void **state)
{
    Fixture *f = *state;
    CorpusOptions options = {.kind = CORPUS_PAIRS};
    assert_null(corpus_encode(&f->diags, f->words, &options,
                              &(CorpusText){.source = lines_named(f, "train.en", "a\nb\n", 4),
                                            .target = lines_named(f, "train.de", "a\n", 2)}));
    expect_message(&f->diags, "source and target differ: train.en has 2 lines, train.de has 1");
    options.kind = CORPUS_LINES;
    assert_null(corpus_encode(&f->diags, f->words, &options,
                              &(CorpusText){.source = lines_of(f, "\n \n")}));
    expect_message(&f->diags, "text: error: no line of 2 can be used");
    options.kind = CORPUS_STREAM;
    assert_null(
        corpus_encode(&f->diags, f->words, &options, &(CorpusText){.source = lines_of(f, "\n")}));
    expect_message(&f->diags, "text: error: the text is too short: it has 1 token");
    options = (CorpusOptions){.kind = CORPUS_SOURCES, .keep_all = true};
    Corpus *c =
        corpus_encode(&f->diags, f->words, &options, &(CorpusText){.source = lines_of(f, "")});
    assert_non_null(c); /* nothing to translate is no error */
    assert_int_equal(c->n, 0);
    corpus_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lines, setup, teardown),
        cmocka_unit_test_setup_teardown(test_places, setup, teardown),
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_utf8_start),
        cmocka_unit_test_setup_teardown(test_bad_text, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pipe, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pairs_for_training, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pairs_for_evaluation, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_side, setup, teardown),
        cmocka_unit_test_setup_teardown(test_streams, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
