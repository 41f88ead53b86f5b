/* The tokens around a text in the post_processor of a tokenizer.json, of each kind. */
#define _GNU_SOURCE
#include "driver/exchange/revise_template.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Items of a template, and its parts: of token number n, as text. */
#define A "{\"Sequence\": {\"id\": \"A\",\"type_id\": 0}}"
#define B "{\"Sequence\": {\"id\": \"B\",\"type_id\": 0}}"
#define T(n) "{\"SpecialToken\": {\"id\": \"t" n "\",\"type_id\": 0}}"
#define SPECIAL(n) "\"t" n "\": {\"id\": \"t" n "\",\"ids\": [" n "],\"tokens\": [\"t" n "\"]}"
#define TEMPLATE(single, pair, special)                                                \
    "{\"type\": \"TemplateProcessing\",\"single\": [" single "],\"pair\": [" pair "]," \
    "\"special_tokens\": {" special "}}"

typedef struct Fixture {
    Job job;
    Revise revise;
    char words[32];
} Fixture;

/* Tokens t4 to t9, behind the four that each list of words has. */
static int set_up(void **state)
{
    static const char words[] = "t4\nt5\nt6\nt7\nt8\nt9\n";
    Fixture *f = calloc(1, sizeof *f);
    Job *job = &f->job;
    strcpy(f->words, "/tmp/words-XXXXXX.txt");
    const int fd = mkstemps(f->words, 4);
    assert_true(fd >= 0);
    close(fd);
    job->arena = arena_new();
    diag_init(&job->diags, job->arena);
    assert_true(file_write_all(&job->diags, f->words, words, sizeof words - 1));
    f->revise = (Revise){
        .job = job, .folder = "/nowhere", .vocab = vocab_load(&job->diags, job->arena, f->words)};
    assert_non_null(f->revise.vocab);
    revise_quiet(&f->revise);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *f = *state;
    unlink(f->words);
    arena_free(f->job.arena);
    free(f);
    return 0;
}

/* A tokenizer.json with that post_processor (NULL: without one) becomes the one that is edited. */
static void begin_file(Fixture *f, const char *step)
{
    Arena *arena = f->job.arena;
    const char *problem,
        *text = step ? arena_printf(arena, "{\"post_processor\": %s}", step) : "{}";
    const RevisedFile file = {.name = "tokenizer.json",
                              .json = json_read(arena, text, strlen(text), &problem)};
    assert_non_null(file.json);
    f->revise.files.count = 0;
    vec_push(arena, f->revise.files, file);
}

/* The post_processor without line breaks and indents. */
static const char *step_text(Fixture *f)
{
    Text text = {0};
    assert_true(f->revise.files.data[0].is_changed);
    json_edit_print(json_member(f->revise.files.data[0].json, "post_processor"), &text);
    char *flat = arena_strdup(f->job.arena, text.data);
    size_t n = 0;
    for (const char *at = text.data; *at; at++)
        if (*at == '\n')
            while (at[1] == ' ')
                at++;
        else
            flat[n++] = *at;
    flat[n] = 0;
    text_free(&text);
    return flat;
}

static void test_no_step(void **state)
{
    Fixture *f = *state;
    static const char *const without[] = {NULL, "null"};
    for (size_t i = 0; i < 2; i++) {
        begin_file(f, without[i]);
        revise_template(&f->revise, false, 9);
        assert_string_equal(step_text(f), TEMPLATE(T("9") "," A, T("9") "," A "," B, SPECIAL("9")));
    }
}

/* A token on a side is replaced, added, or taken away; the other side stays. */
static void test_template(void **state)
{
    Fixture *f = *state;
    begin_file(f, TEMPLATE(T("4") "," A, A, SPECIAL("4")));
    revise_template(&f->revise, false, 5);
    revise_template(&f->revise, true, 6);
    assert_string_equal(step_text(f), TEMPLATE(T("5") "," A "," T("6"), T("5") "," A "," T("6"),
                                               SPECIAL("4") "," SPECIAL("5") "," SPECIAL("6")));
    revise_template(&f->revise, false, -1);
    revise_template(&f->revise, true, -1);
    revise_template(&f->revise, true, -1); /* there is none any more */
    assert_string_equal(step_text(f),
                        TEMPLATE(A, A, SPECIAL("4") "," SPECIAL("5") "," SPECIAL("6")));
}

/* BERT's and RoBERTa's always have both. */
static void test_sides(void **state)
{
    Fixture *f = *state;
    static const char *const kinds[] = {"BertProcessing", "RobertaProcessing"};
    for (size_t i = 0; i < 2; i++) {
        begin_file(f, arena_printf(f->job.arena,
                                   "{\"type\": \"%s\",\"sep\": [\"t1\",1],\"cls\": [\"t2\",2]}",
                                   kinds[i]));
        revise_template(&f->revise, false, 8);
        revise_template(&f->revise, true, -1);
        assert_string_equal(
            step_text(f),
            arena_printf(f->job.arena, "{\"type\": \"%s\",\"sep\": [\"t1\",1],\"cls\": [\"t8\",8]}",
                         kinds[i]));
        revise_template(&f->revise, true, 9);
        assert_string_equal(
            step_text(f),
            arena_printf(f->job.arena, "{\"type\": \"%s\",\"sep\": [\"t9\",9],\"cls\": [\"t8\",8]}",
                         kinds[i]));
    }
}

/* The step within a sequence is edited; a step that names no tokens is followed by a new one. */
static void test_sequences(void **state)
{
    Fixture *f = *state;
    static const char made[] = TEMPLATE(A "," T("4"), A "," B "," T("4"), SPECIAL("4"));
#define BYTES "{\"type\": \"ByteLevel\",\"trim_offsets\": false}"
    begin_file(f, BYTES);
    revise_template(&f->revise, true, 4);
    assert_string_equal(step_text(f),
                        arena_printf(f->job.arena,
                                     "{\"type\": \"Sequence\",\"processors\": [" BYTES ",%s]}",
                                     made));
    revise_template(&f->revise, true, 7);
    const char *again = step_text(f);
    assert_non_null(strstr(again, T("7")));
    assert_null(strstr(again, T("4")));
    assert_null(strstr(strstr(again, "\"processors\"") + 1, "\"processors\"")); /* once */
}

/* A folder without tokenizer.json gets none. */
static void test_no_file(void **state)
{
    Fixture *f = *state;
    f->revise.files.count = 0;
    revise_template(&f->revise, true, 4);
    assert_int_equal(f->revise.files.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_step), cmocka_unit_test(test_template),
        cmocka_unit_test(test_sides),   cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_no_file),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
