/* Vocabularies of Marian's kind: ids are the list's, text is cut as the language's own model cuts
 * it, and what the list lacks is unknown. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "runtime/data/sentencepiece.h"
#include "runtime/data/vocabulary.h"
#include "runtime/text/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_LISTED = 400 };

/* A folder with a vocabulary, and what stands in it. */
typedef struct Fixture {
    Arena *arena;
    Diagnostics diags;
    char folder[64];
    Tokenizer *sides[2]; /* source, target, as SentencePiece has them */
    const char *listed[MOST_LISTED];
    int n;
} Fixture;

static const char *const names[] = {"source.spm", "target.spm"};
static const char *const files[] = {"README.md", "docs/ir.md"};

static const char *path_in(Fixture *f, const char *name)
{
    return arena_printf(f->arena, "%s/%s", f->folder, name);
}

static Tokenizer *train_side(Fixture *f, int side)
{
    const Lines *lines = lines_read(&f->diags, f->arena, files[side], NULL);
    char *bytes = NULL, *error = NULL;
    size_t size = 0;
    int least;
    assert_non_null(lines);
    assert_true(sp_load(&f->diags) && sp_train(lines->at, lines->n, 200, &(SpTexts){0}, true,
                                               &bytes, &size, &least, &error));
    assert_true(file_write_all(&f->diags, path_in(f, names[side]), bytes, size));
    const char *problem, *copy = arena_copy(f->arena, bytes, size);
    free(bytes);
    return tokenizer_sentencepiece(copy, size, &problem);
}

/* Position in the list; -1: absent. */
static int place(const Fixture *f, const char *piece, size_t length)
{
    for (int i = 0; i < f->n; i++)
        if (strlen(f->listed[i]) == length && !memcmp(f->listed[i], piece, length))
            return i;
    return -1;
}

/* The pieces of both, in an order of its own; every seventh is left out. */
static void list_pieces(Fixture *f)
{
    static const char *const first[] = {"</s>", "<unk>", ">>deu<<"};
    for (int i = 0; i < 3; i++)
        f->listed[f->n++] = first[i];
    for (int side = 0; side < 2; side++)
        for (int32_t id = tokenizer_size(f->sides[side]) - 1; id >= 0; id--) {
            size_t length;
            const char *piece = tokenizer_piece(f->sides[side], id, &length);
            bool special = length == 3 && !memcmp(piece, "<s>", 3);
            bool is_pad = length == 5 && !memcmp(piece, "<pad>", 5);
            if (id % 7 && !special && !is_pad && place(f, piece, length) < 0)
                f->listed[f->n++] = arena_strndup(f->arena, piece, length);
        }
    f->listed[f->n++] = "<pad>";
    assert_true(f->n < MOST_LISTED);
}

static void write_list(Fixture *f)
{
    Text json = {0};
    for (int i = 0; i < f->n; i++) {
        text_string(&json, i ? ", \"" : "{\"");
        for (const char *c = f->listed[i]; *c; c++)
            text_add(&json, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
        text_add(&json, "\": %d", i);
    }
    text_string(&json, "}\n");
    assert_true(file_write_all(&f->diags, path_in(f, "vocab.json"), json.data, json.length));
    text_free(&json);
}

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    f->arena = arena_new();
    diag_init(&f->diags, f->arena);
    strcpy(f->folder, "/tmp/tfc-marian-XXXXXX");
    if (!mkdtemp(f->folder))
        return -1;
    for (int side = 0; side < 2; side++)
        f->sides[side] = train_side(f, side);
    list_pieces(f);
    write_list(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;
    static const char *const written[] = {"source.spm", "target.spm", "vocab.json", "vocab.model",
                                          "source-vocab.model"};
    for (int i = 0; i < 5; i++)
        unlink(path_in(f, written[i]));
    int left = rmdir(f->folder);
    for (int side = 0; side < 2; side++)
        tokenizer_free(f->sides[side]);
    arena_free(f->arena);
    free(f);
    return left;
}

/* Each line: cut by SentencePiece's own model, each piece looked up in the list. */
static int expect_side(Fixture *f, const Vocabulary *vocab, int side)
{
    const Lines *lines = lines_read(&f->diags, f->arena, files[1 - side], NULL);
    int unk = place(f, "<unk>", 5), unknown = 0;
    for (int64_t i = 0; i < lines->n; i++) {
        Ids ids = {0}, plain = {0};
        vocab_encode(vocab, lines->at[i].text, lines->at[i].length, &ids);
        assert_true(
            tokenizer_encode(f->sides[side], lines->at[i].text, lines->at[i].length, &plain));
        assert_int_equal(ids.count, plain.count);
        for (size_t k = 0; k < ids.count; k++) {
            size_t length;
            const char *piece = tokenizer_piece(f->sides[side], plain.data[k], &length);
            int id = place(f, piece, length);
            assert_int_equal(ids.data[k], id < 0 ? unk : id);
            unknown += id < 0;
        }
        ids_free(&ids);
        ids_free(&plain);
    }
    return unknown;
}

static void expect_vocabulary(Fixture *f, const Vocabulary *vocab)
{
    const Vocabulary *source = vocab_source(vocab);
    assert_ptr_not_equal(source, vocab);
    assert_true(vocab_sides_agree(vocab));
    assert_int_equal(vocab_size(vocab), f->n);
    assert_int_equal(vocab_size(source), f->n);
    for (int id = 0; id < f->n; id++) {
        assert_string_equal(vocab_token(vocab, id), f->listed[id]);
        assert_int_equal(vocab_find(source, f->listed[id]), id);
    }
    assert_true(expect_side(f, source, 0) > 0);
    assert_true(expect_side(f, vocab, 1) > 0);
    const TokenRules *rules = vocab_rules(vocab);
    assert_int_equal(rules->end, 0);
    assert_int_equal(rules->source_end, 0);
    assert_int_equal(rules->begin, 0); /* no <s>: as the end, until --token says more */
    assert_int_equal(rules->pad, f->n - 1);
    assert_int_equal(vocab_find(vocab, "<s>"), -1);
}

static void ids_are_the_lists(void **state)
{
    Fixture *f = *state;
    Vocabulary *vocab = vocab_load(&f->diags, f->arena, f->folder);
    assert_non_null(vocab);
    expect_vocabulary(f, vocab);
    /* A run's folder has them as two models. */
    unlink(path_in(f, "source.spm"));
    assert_true(vocab_save(vocab, &f->diags, f->folder));
    Vocabulary *again = vocab_load(&f->diags, f->arena, f->folder);
    assert_non_null(again);
    expect_vocabulary(f, again);
    assert_true(vocab_hash(vocab) == vocab_hash(again));
}

/* ">>deu<< text": the language is a token, the text is as it would be alone. */
static void a_language_stands_in_front(void **state)
{
    Fixture *f = *state;
    Vocabulary *vocab = vocab_load(&f->diags, f->arena, f->folder);
    assert_non_null(vocab);
    static const char with[] = ">>deu<< the model", other[] = ">>fra<< the model",
                      alone[] = "the model";
    Ids a = {0}, b = {0}, c = {0};
    vocab_encode(vocab_source(vocab), with, strlen(with), &a);
    vocab_encode(vocab_source(vocab), other, strlen(other), &b);
    vocab_encode(vocab_source(vocab), alone, strlen(alone), &c);
    assert_int_equal(a.count, c.count + 1);
    assert_int_equal(a.data[0], 2);
    assert_int_equal(b.data[0], 1);
    assert_memory_equal(a.data + 1, c.data, c.count * sizeof *c.data);
    ids_free(&a);
    ids_free(&b);
    ids_free(&c);
}

static void expect_refusal(Fixture *f, const char *file, const char *bytes, const char *part)
{
    assert_true(file_write_all(&f->diags, path_in(f, file), bytes, strlen(bytes)));
    assert_null(vocab_load(&f->diags, f->arena, f->folder));
    Text out = {0};
    diag_render(&f->diags, &out);
    if (!out.data || !strstr(out.data, part) || !strstr(out.data, file))
        fail_msg("%s\nlacks: %s", out.data ? out.data : "", part);
    text_free(&out);
    diag_init(&f->diags, f->arena);
}

static void refusals(void **state)
{
    Fixture *f = *state;
    expect_refusal(f, "vocab.json", "{\"a\": 0, \"b\": 2}", "the id of 'b' is not one of 0 to 1");
    expect_refusal(f, "vocab.json", "{\"a\": 0, \"b\": 0}", "the id of 'b'");
    expect_refusal(f, "vocab.json", "[1]", "expected {\"piece\": id");
    expect_refusal(f, "vocab.json", "{}", "it has no pieces");
    write_list(f);
    expect_refusal(f, "target.spm", "x", "not a SentencePiece model");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ids_are_the_lists, setup, teardown),
        cmocka_unit_test_setup_teardown(a_language_stands_in_front, setup, teardown),
        cmocka_unit_test_setup_teardown(refusals, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
