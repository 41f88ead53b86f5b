/* SentencePiece models: ids and texts equal to libsentencepiece's, for every kind of model, on
 * text in many scripts, on bytes at random and, where ../shared/data is, on its corpora; the short
 * test on every tenth line of them. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/vec.h"
#include "base/proto.h"
#include "runtime/text/tokenizer.h"
#include "tests/short.h"
#include "tests/text/library.h"

#include <stdio.h>
#include <stdlib.h>

#define DATA "../shared/data/"
enum { MADE_LINES = 8000, MOST_LINE = 300, TRAINED_LINES = 3000 };

typedef struct Texts {
    Arena *arena;
    VEC(const char *) lines;
    VEC(size_t) lengths;
    size_t n;
} Texts;

static void add_line(Texts *texts, const char *line, size_t length)
{
    vec_push(texts->arena, texts->lines, arena_copy(texts->arena, line, length + 1));
    vec_push(texts->arena, texts->lengths, length);
    texts->n++;
}

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* Each so many lines of what a command prints. */
static void read_command(Texts *texts, int each, const char *command)
{
    FILE *pipe = popen(command, "r");
    char *line = NULL;
    size_t capacity = 0;
    int number = 0;
    for (ssize_t n; (n = getline(&line, &capacity, pipe)) >= 0;)
        if (number++ % each == 0)
            add_line(texts, line, n && line[n - 1] == '\n' ? (size_t)n - 1 : (size_t)n);
    free(line);
    pclose(pipe);
}

/* Pieces of the scripts' lines, whole and cut anywhere, blanks, and bytes of all values. */
static void make_lines(Texts *texts, int n)
{
    size_t n_scripts = texts->n;
    uint64_t state = 5;
    for (int i = 0; i < n; i++) {
        char line[MOST_LINE + 1];
        size_t length = 0, most = 1 + next_random(&state) % MOST_LINE;
        while (length < most) {
            size_t from = next_random(&state) % n_scripts, whole = texts->lengths.data[from];
            size_t start = whole ? next_random(&state) % whole : 0;
            size_t size = 1 + next_random(&state) % 40;
            size = size > whole - start ? whole - start : size;
            size = size > most - length ? most - length : size;
            memcpy(line + length, texts->lines.data[from] + start, size);
            length += size;
            if (next_random(&state) % 4 == 0)
                for (unsigned k = next_random(&state) % 4; k && length < most; k--)
                    line[length++] = ' ';
            if (next_random(&state) % 8 == 0)
                for (unsigned k = next_random(&state) % 5; k && length < most; k--)
                    line[length++] = (char)next_random(&state);
        }
        line[length] = 0;
        add_line(texts, line, length);
    }
}

static Texts *scripts(void)
{
    static Texts texts;
    if (!texts.arena) {
        texts.arena = arena_new();
        read_command(&texts, 1, "cat tests/text/scripts.txt");
        add_line(&texts, "", 0);
        make_lines(&texts, MADE_LINES / (short_test() ? 10 : 1));
    }
    return &texts;
}

/* Corpora, if they are there: more than 100,000 lines. */
static Texts *corpora(void)
{
    static Texts texts;
    if (!texts.arena && file_exists(DATA "tatoeba/deu-eng.zip")) {
        texts.arena = arena_new();
        const int each = short_test() ? 10 : 1;
        read_command(&texts, each,
                     "cat " DATA "tokenizers/botchan.txt " DATA "shakespeare/tinyshakespeare.txt");
        read_command(&texts, each, "cat " DATA "sigmorphon-2021-g2p/*_dev.tsv");
        read_command(&texts, each, "gzip -dc " DATA "multi30k/train.de.gz");
        read_command(&texts, each,
                     "gzip -dc <" DATA "tatoeba/deu-eng.zip 2>/dev/null | tail -n 60000");
    }
    return texts.n ? &texts : NULL;
}

/* ---- comparing ---- */

typedef struct Both {
    Library *library;
    Tokenizer *ours;
    TokenIds want, got;
    TokenText want_text, got_text;
} Both;

static void show(const char *what, const TokenIds *ids)
{
    printf("%s", what);
    for (size_t i = 0; i < ids->count; i++)
        printf(" %d", ids->data[i]);
    printf("\n");
}

static void compare_line(Both *b, const char *line, size_t length)
{
    b->want.count = b->got.count = b->want_text.length = b->got_text.length = 0;
    library_encode(b->library, line, length, &b->want);
    assert_true(tokenizer_encode(b->ours, line, length, &b->got));
    if (b->want.count != b->got.count ||
        memcmp(b->want.data, b->got.data, b->want.count * sizeof *b->want.data)) {
        show("the library:", &b->want);
        show("ours:       ", &b->got);
        fail_msg("ids differ: '%.*s'", (int)length, line);
    }
    library_decode(b->library, b->want.data, b->want.count, &b->want_text);
    assert_true(tokenizer_decode(b->ours, b->want.data, b->want.count, &b->got_text));
    if (b->want_text.length != b->got_text.length ||
        memcmp(b->want_text.data, b->got_text.data, b->want_text.length))
        fail_msg("texts differ: '%.*s'\n%.*s\n%.*s", (int)length, line, (int)b->want_text.length,
                 b->want_text.data, (int)b->got_text.length, b->got_text.data);
}

/* Any ids, those that no text gives included. */
static void compare_ids(Both *b)
{
    uint64_t state = 9;
    uint32_t size = (uint32_t)tokenizer_size(b->ours);
    for (int i = 0; i < 2000; i++) {
        b->want.count = b->want_text.length = b->got_text.length = 0;
        for (unsigned n = next_random(&state) % 12; n; n--)
            token_ids_push(&b->want,
                           (int32_t)(next_random(&state) % (i % 2 && size > 270 ? 270 : size)));
        library_decode(b->library, b->want.data, b->want.count, &b->want_text);
        assert_true(tokenizer_decode(b->ours, b->want.data, b->want.count, &b->got_text));
        if (b->want_text.length != b->got_text.length ||
            memcmp(b->want_text.data, b->got_text.data, b->want_text.length))
            fail_msg("texts of any ids differ");
    }
}

static void compare_pieces(Both *b)
{
    int32_t special[4];
    TokenizerSpecial ours = tokenizer_special(b->ours);
    library_special(b->library, special);
    assert_int_equal(ours.pad, special[0]);
    assert_int_equal(ours.unk, special[1]);
    assert_int_equal(ours.bos, special[2]);
    assert_int_equal(ours.eos, special[3]);
    assert_int_equal(tokenizer_size(b->ours), library_size(b->library));
    for (int32_t i = 0; i < tokenizer_size(b->ours); i++) {
        char name[1000];
        size_t length;
        const char *piece = tokenizer_piece(b->ours, i, &length);
        snprintf(name, sizeof name, "%.*s", (int)length, piece);
        assert_int_equal(tokenizer_find(b->ours, piece, length), library_find(b->library, name));
    }
}

static void compare(const char *model, size_t size, const Texts *texts)
{
    const char *problem;
    Both b = {.library = library_load(model, size),
              .ours = tokenizer_sentencepiece(model, size, &problem)};
    assert_non_null(b.library);
    if (!b.ours)
        fail_msg("%s", problem);
    compare_pieces(&b);
    for (size_t i = 0; i < texts->n; i++)
        compare_line(&b, texts->lines.data[i], texts->lengths.data[i]);
    compare_ids(&b);
    token_ids_free(&b.want);
    token_ids_free(&b.got);
    token_text_free(&b.want_text);
    token_text_free(&b.got_text);
    tokenizer_free(b.ours);
    library_free(b.library);
}

/* ---- models ---- */

static TokenText train(const char *settings, const Texts *texts, size_t most)
{
    TokenText model = {0};
    size_t n = texts->n < most ? texts->n : most;
    if (!library_train(settings, texts->lines.data, texts->lengths.data, n, &model))
        fail_msg("no model: %s", settings);
    return model;
}

static const char *const settings[] = {
    "--model_type=unigram --vocab_size=2000",
    "--model_type=unigram --vocab_size=1400 --byte_fallback=true --character_coverage=0.98"
    " --user_defined_symbols=abc,<sep>,▁the,o --control_symbols=<2de>",
    "--model_type=unigram --vocab_size=2000 --normalization_rule_name=identity"
    " --add_dummy_prefix=false --remove_extra_whitespaces=false",
    "--model_type=unigram --vocab_size=2000 --normalization_rule_name=nfkc_cf"
    " --treat_whitespace_as_suffix=true --pad_id=3",
    "--model_type=bpe --vocab_size=2000",
    "--model_type=bpe --vocab_size=2000 --byte_fallback=true --character_coverage=0.98"
    " --normalization_rule_name=identity --remove_extra_whitespaces=false"
    " --user_defined_symbols=fox,▁,<|endoftext|> --split_digits=true --bos_id=-1",
    "--model_type=bpe --vocab_size=2000 --allow_whitespace_only_pieces=true"
    " --remove_extra_whitespaces=false --add_dummy_prefix=false",
    "--model_type=char --vocab_size=1000 --user_defined_symbols=the",
    "--model_type=word --vocab_size=1000",
};
enum { N_SETTINGS = sizeof settings / sizeof *settings };

static void test_kinds(void **state)
{
    for (int i = 0; i < N_SETTINGS; i++) {
        TokenText model = train(settings[i], scripts(), TRAINED_LINES);
        compare(model.data, model.length, scripts());
        token_text_free(&model);
    }
}

/* Every third piece of a model unused: written behind the fields of its message. */
static TokenText with_unused(const TokenText *model)
{
    TokenText out = {0};
    Proto message = proto_message(model->data, model->length);
    ProtoField f;
    int n = 0;
    for (const unsigned char *from = message.at; proto_next(&message, &f); from = message.at) {
        bool changed = f.number == 1 && n++ % 3 == 2 && n > 20 && f.size < 120;
        if (changed) {
            char head[] = {0x0A, (char)(f.size + 2)}, tail[] = {0x18, 5};
            token_text_put(&out, head, 2);
            token_text_put(&out, f.bytes, f.size);
            token_text_put(&out, tail, 2);
        } else
            token_text_put(&out, (const char *)from, (size_t)(message.at - from));
    }
    return out;
}

static void test_unused(void **state)
{
    for (int i = 0; i < 5; i += 4) {
        TokenText model = train(settings[i], scripts(), TRAINED_LINES);
        TokenText changed = with_unused(&model);
        compare(changed.data, changed.length, scripts());
        token_text_free(&model);
        token_text_free(&changed);
    }
}

static void test_corpora(void **state)
{
    Texts *texts = corpora();
    if (!texts)
        skip();
    assert_true(texts->n > (short_test() ? 10000 : 100000));
    static const char *const trained[] = {
        "--model_type=unigram --vocab_size=6000",
        "--model_type=bpe --vocab_size=4000 --byte_fallback=true"};
    for (int i = 0; i < 2; i++) {
        TokenText model = train(trained[i], texts, 4 * TRAINED_LINES);
        compare(model.data, model.length, texts);
        token_text_free(&model);
    }
}

static void test_files(void **state)
{
    Texts *texts = corpora();
    if (!texts)
        skip();
    static const char *const files[] = {DATA "tokenizers/bergamot_vocab.deen.spm",
                                        DATA "tokenizers/sentencepiece_test_model.model"};
    for (int i = 0; i < 2; i++) {
        Arena *arena = arena_new();
        Diagnostics diags;
        diag_init(&diags, arena);
        const Source *model = file_read(&diags, arena, files[i], 1 << 24);
        assert_non_null(model);
        compare(model->text, model->length, texts);
        compare(model->text, model->length, scripts());
        arena_free(arena);
    }
}

/* ---- what is refused, and arguments of all kinds ---- */

static void test_refused(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *problem;
    } cases[] = {
        {"", 0, "it has no piece for what is unknown"},
        {"not a model", 11, "a field is cut off or damaged"},
        {"\x0a\x00", 2, "a piece is empty"},
        {"\x0a\x05\x0a\x03"
         "a\0b",
         7, "a piece has a NUL"},
        {"\x0a\x03\x0a\x01"
         "a",
         5, "it has no piece for what is unknown"},
        {"\x0a\x05\x0a\x01u\x18\x02\x0a\x05\x0a\x01v\x18\x02", 14,
         "it has two pieces for what is unknown"},
        {"\x0a\x05\x0a\x01u\x18\x02\x0a\x03\x0a\x01"
         "a\x0a\x03\x0a\x01"
         "a",
         17, "a piece is there twice"},
        {"\x0a\x05\x0a\x01u\x18\x02\x0a\x08\x0a\x01"
         "a\x15\x00\x00\xc0\x7f",
         17, "the score of a piece is no number"},
        {"\x0a\x05\x0a\x01u\x18\x02", 7, "it has no pieces"},
        {"\x0a\x05\x0a\x01u\x18\x02\x12\x03\x98\x02\x01", 12,
         "it falls back to bytes and lacks pieces for some"},
        {"\x1a\x05\x12\x03"
         "abc",
         7, "its rules of normalization are damaged"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *problem = NULL;
        assert_null(tokenizer_sentencepiece(cases[i].bytes, cases[i].size, &problem));
        assert_string_equal(problem, cases[i].problem);
    }
}

static void test_arguments(void **state)
{
    TokenIds ids = {0};
    TokenText text = {0};
    size_t length;
    assert_null(tokenizer_sentencepiece(NULL, 3, NULL));
    tokenizer_free(NULL);
    assert_int_equal(tokenizer_size(NULL), 0);
    assert_int_equal(tokenizer_special(NULL).eos, -1);
    assert_false(tokenizer_encode(NULL, "a", 1, &ids));
    assert_false(tokenizer_decode(NULL, NULL, 0, &text));
    assert_string_equal(tokenizer_piece(NULL, 0, &length), "");
    TokenText model = train(settings[0], scripts(), TRAINED_LINES);
    Tokenizer *t = tokenizer_sentencepiece(model.data, model.length, NULL);
    assert_non_null(t);
    assert_false(tokenizer_encode(t, NULL, 1, &ids));
    assert_false(tokenizer_encode(t, "a", 1, NULL));
    assert_false(tokenizer_encode(t, "a", (size_t)-1, &ids));
    assert_true(tokenizer_encode(t, NULL, 0, &ids));
    int32_t outside[] = {-1, INT32_MAX, INT32_MIN, tokenizer_size(t)};
    assert_true(tokenizer_decode(t, outside, 4, &text));
    assert_int_equal(text.length, 0);
    assert_int_equal(tokenizer_find(t, "no such piece", 13), -1);
    assert_int_equal(tokenizer_find(t, NULL, 0), -1);
    tokenizer_piece(t, tokenizer_size(t), &length);
    assert_int_equal(length, 0);
    tokenizer_free(t);
    token_text_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),   cmocka_unit_test(test_unused),
        cmocka_unit_test(test_corpora), cmocka_unit_test(test_files),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
