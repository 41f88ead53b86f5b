/* Which two fields of a file are the pair's: by --column, a header, keys, or their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "driver/corpus/field_pair.h"

#include <string.h>

static const FieldPair sides = {{"source", "target"}, .needs_both = true},
                       labelled = {{"text", "label"}, .needs_both = false};

static void test_fields(void **state)
{
    (void)state;
    static const struct {
        const FieldPair *pair;
        TableFormat format;
        const char *beginning, *given, *fields[2];
    } rows[] = {
        {&sides, TABLE_TSV, "Ein Hund.\tA dog.\n", NULL, {"1", "2"}},
        {&sides, TABLE_TSV, "id\tsource\ttarget\n1\ta\tb\n", NULL, {"source", "target"}},
        {&sides, TABLE_TSV, "source\tof light\n", NULL, {"1", "2"}}, /* half a header is a text */
        {&labelled, TABLE_TSV, "text\tclass\n", NULL, {"text", "label"}},
        {&sides, TABLE_CSV, "\"source\";\"target\"\r\na;b\r\n", NULL, {"source", "target"}},
        {&sides, TABLE_CSV, "sep=;\nsource;target\na;b\n", NULL, {"source", "target"}},
        {&sides, TABLE_JSON, "{\"de\": \"a\"}\n", NULL, {"source", "target"}},
        {&sides, TABLE_TSV, "a\tb\tc\n", "target=3", {"1", "3"}},
        {&sides, TABLE_TSV, "de\ten\n", "source=de", {"de", "target"}},
        {&labelled, TABLE_CONLL, "EU NNP B-NP B-ORG\nrejects VBZ B-VP O\n\n", NULL, {"1", "4"}},
        {&labelled, TABLE_CONLLU, "1\tThe\tthe\tDET\n", NULL, {"2", "4"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Arena *arena = arena_new();
        Job job = {.arena = arena};
        diag_init(&job.diags, arena);
        const Source source = {
            .path = "t", .text = rows[i].beginning, .length = strlen(rows[i].beginning)};
        TextList given = {0};
        const char *fields[2];
        if (rows[i].given)
            vec_push(arena, given, rows[i].given);
        assert_true(field_pair_check(&job, rows[i].pair, &given, ""));
        field_pair_choose(&job, rows[i].pair, &given, &source, rows[i].format, fields);
        for (int k = 0; k < 2; k++)
            if (strcmp(fields[k], rows[i].fields[k]) != 0)
                fail_msg("row %zu: field %d is '%s', not '%s'", i, k, fields[k], rows[i].fields[k]);
        assert_int_equal(field_pair_is_numbered(fields),
                         strspn(fields[0], "0123456789") && strspn(fields[1], "0123456789"));
        arena_free(arena);
    }
}

static void test_wrong_names(void **state)
{
    (void)state;
    static const char *const wrong[] = {"source",  "source=", "sources=1",
                                        "sourc=1", "=1",      "label=2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Arena *arena = arena_new();
        Job job = {.arena = arena};
        TextList given = {0};
        Text said = {0};
        diag_init(&job.diags, arena);
        vec_push(arena, given, wrong[i]);
        assert_false(field_pair_check(&job, &sides, &given, " (advice)"));
        diag_render(&job.diags, &said);
        assert_non_null(strstr(said.data, "expected source=FIELD or target=FIELD (advice)"));
        text_free(&said);
        arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fields),
                                       cmocka_unit_test(test_wrong_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
