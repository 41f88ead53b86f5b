/* run.json: written and read back; what an older version left out; what is not a record. */
#define _GNU_SOURCE
#include "driver/run/record.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Fixture {
    char folder[32], path[48];
    Arena *arena;
    Job job;
} Fixture;

static int set_up(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    strcpy(f->folder, "/tmp/record-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/run.json", f->folder);
    f->arena = arena_new();
    f->job.arena = f->arena;
    diag_init(&f->job.diags, f->arena);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *f = *state;
    unlink(f->path);
    rmdir(f->folder);
    arena_free(f->arena);
    free(f);
    return 0;
}

/* What reading this file says, or NULL. */
static const char *read_text(Fixture *f, const char *text, RunRecord *record)
{
    assert_true(file_write_all(&f->job.diags, f->path, text, strlen(text)));
    size_t before = f->job.diags.list.count;
    bool ok = run_record_read(&f->job, f->folder, record);
    assert_true(ok == (f->job.diags.list.count == before));
    return ok ? NULL : f->job.diags.list.data[before].message;
}

static void test_round_trip(void **state)
{
    Fixture *f = *state;
    RunRecord written = {.version = "1",
                         .model = "m \"x\".tfg",
                         .processor = "p",
                         .kind = CORPUS_LINES,
                         .is_import = true},
              read;
    vec_push(f->arena, written.settings, "vocab=7");
    vec_push(f->arena, written.command, "täglich");
    vec_push(f->arena, written.facts, ((RunFact){"seed", "1"}));
    vec_push(f->arena, written.texts, ((RunText){"text", "/a", "00ff", INT64_C(1) << 40, 3}));
    assert_true(run_record_write(&f->job, f->folder, &written));
    assert_true(run_record_read(&f->job, f->folder, &read));
    assert_string_equal(read.model, written.model);
    assert_int_equal(read.kind, CORPUS_LINES);
    assert_string_equal(read.settings.data[0], "vocab=7");
    assert_string_equal(read.command.data[0], "täglich");
    assert_string_equal(run_record_fact(&read, "seed"), "1");
    assert_null(run_record_fact(&read, "dtype"));
    assert_true(read.texts.count == 1 && read.texts.data[0].bytes == INT64_C(1) << 40 &&
                read.texts.data[0].lines == 3);
    assert_true(read.is_import && read.unused.count == 0);
}

static void test_older(void **state)
{
    RunRecord read;
    assert_null(read_text(*state, "{\"kind\": \"pairs\", \"settings\": []}", &read));
    assert_null(read.version);
    assert_true(!read.is_import && read.tokens.count == 0 && read.facts.count == 0 &&
                read.texts.count == 0);
}

static void test_no_record(void **state)
{
    static const char *const texts[][2] = {
        {"{\"kind\": \"pairs\", \"settings\": [", "at byte 31"},
        {"[]", "is damaged, or was not written by tfc"},
        {"{\"kind\": \"pairs\"}", "is damaged, or was not written by tfc"},
        {"{\"kind\": \"verse\", \"settings\": []}", "is damaged, or was not written by tfc"},
        {"{\"kind\": \"pairs\", \"settings\": [7]}", "is damaged, or was not written by tfc"},
        {"{\"kind\": \"pairs\", \"settings\": [\"vocab\"]}",
         "is damaged, or was not written by tfc"},
        {"{\"kind\": \"pairs\", \"settings\": [\"=7\"]}", "is damaged, or was not written by tfc"},
        {"{\"kind\": \"pairs\", \"settings\": [], \"data\": [{\"option\": \"text\", \"file\": "
         "\"a\", \"sha256\": \"0\", \"bytes\": -1}]}",
         "is damaged, or was not written by tfc"},
        {"{\"kind\": \"pairs\", \"settings\": [], \"data\": [{\"option\": \"text\", \"file\": "
         "\"a\", \"sha256\": \"0\", \"lines\": 281474976710657}]}",
         "is damaged, or was not written by tfc"},
        {"{\"kind\": \"pairs\", \"settings\": [], \"decides\": []}",
         "is damaged, or was not written by tfc"},
        {"{\"kind\": \"pairs\", \"settings\": [], \"decides\": {\"seed\": 1}}",
         "is damaged, or was not written by tfc"},
        {"{\"kind\": \"pairs\", \"settings\": [], \"data\": [{\"option\": \"text\"}]}",
         "is damaged, or was not written by tfc"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        RunRecord read;
        const char *said = read_text(*state, texts[i][0], &read);
        if (!said || !strstr(said, texts[i][1]))
            fail_msg("%s: %s", texts[i][0], said ? said : "taken");
    }
}

/* A job that keeps records opens a run.json once, until it writes the file itself. */
static void test_once(void **state)
{
    static const char one[] = "{\"kind\": \"pairs\", \"settings\": [], \"model\": \"one\"}",
                      two[] = "{\"kind\": \"pairs\", \"settings\": [], \"model\": \"two\"}";
    Fixture *f = *state;
    RunRecord record;
    f->job.records = run_records_new(f->arena);
    assert_non_null(read_text(f, "[]", &record)); /* a failure is not kept */
    assert_null(read_text(f, one, &record));
    assert_null(read_text(f, two, &record));
    assert_string_equal(record.model, "one");
    Job within = job_quiet(&f->job, f->arena), apart = job_quiet(&f->job, arena_new());
    assert_true(run_record_read(&within, f->folder, &record));
    assert_string_equal(record.model, "one");
    assert_true(run_record_read(&apart, f->folder, &record));
    assert_string_equal(record.model, "two");
    arena_free(apart.arena);
    record = (RunRecord){.model = "three"};
    assert_true(run_record_write(&f->job, f->folder, &record));
    assert_true(run_record_read(&f->job, f->folder, &record));
    assert_string_equal(record.model, "three");
}

static void test_number(void **state)
{
    static const struct {
        const char *text;
        int64_t number; /* -1: an error */
    } cases[] = {{"0", 0},
                 {"9", 9},
                 {"10", -1},
                 {"-1", -1},
                 {"", -1},
                 {"7x", -1},
                 {"99999999999999999999", -1}};
    Fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        RunRecord record = {0};
        int64_t number = -1;
        vec_push(f->arena, record.facts, ((RunFact){"n", cases[i].text}));
        bool ok = run_record_number(&f->job, f->folder, &record, "n", 9, &number);
        assert_int_equal(number, cases[i].number);
        assert_int_equal(ok, number >= 0);
    }
    const RunRecord none = {0};
    int64_t number = 5;
    assert_true(run_record_number(&f->job, f->folder, &none, "n", 9, &number) && number == 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_older, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_record, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_number, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
