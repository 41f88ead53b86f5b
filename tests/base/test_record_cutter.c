/* RecordCutter: odd contents give the same records from each kind of source, one by one and in
 * parts, however they come; limits, waiting, places. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/record_cutter.h"
#include "tests/base/sources.h"

#include <fcntl.h>
#include <string.h>

static const char *const passed[] = {"#", "-DOC-", NULL};
#define LINES(most) {.ends = RECORD_LINES, .longest = (most)}
#define QUOTED(most, field) {.ends = RECORD_QUOTED, .longest = (most), .quoted = (field)}
#define BLOCKS(most) {.ends = RECORD_BLOCKS, .longest = (most), .passed = passed}
#define OBJECTS(most) {.ends = RECORD_OBJECTS, .longest = (most)}
#define JOINED(how) {.ends = RECORD_##how, .joins_empty = true, .longest = 99, .quoted = 99}
#define TEXT(text) (text), sizeof(text) - 1

/* Case: what the records of a text are, each as [TEXT] with the letters of its flags behind it: m a
 * mark before it, r CRLF, c cut (then of the text only the rule's longest). lines: of the text. */
typedef struct Case {
    RecordRule rule;
    const char *text;
    size_t n;
    const char *records;
    int64_t lines;
} Case;

static const Case cases[] = {
    {LINES(99), TEXT(""), "", 0},
    {LINES(99), TEXT("\n"), "[]", 1},
    {LINES(99), TEXT("a"), "[a]", 1},
    {LINES(99), TEXT("a\nb\n"), "[a][b]", 2},
    {LINES(99), TEXT("a\r\n\r\nb\r"), "[a]r[]r[b]r", 3},
    {LINES(99), TEXT("a\rb\n\r\r\n"), "[a\rb][\r]r", 2},
    {LINES(99), TEXT("\xEF\xBB\xBF"), "", 0},
    {LINES(99),
     TEXT("\xEF\xBB\xBF"
          "a\nb"),
     "[a]m[b]", 2},
    {LINES(99), TEXT("\xEF\xBB\xBF\n\xEF\xBB\xBF\n"), "[]m[\xEF\xBB\xBF]", 2},
    {LINES(99), TEXT("ab\nc"), "[ab][c]", 2}, /* three bytes that are no mark */
    {LINES(99), TEXT("\xEF\xBB"), "[\xEF\xBB]", 1},
    {LINES(99), TEXT("a\0b\n\0"), "[a.b][.]", 2},
    {LINES(3), TEXT("abc\r\nabcd\nx"), "[abc]r[abc]c[x]", 3},
    {LINES(3), TEXT("abcdefghijk\r\nx\n"), "[abc]c[x]", 2},
    {LINES(3), TEXT("abcdefghijk"), "[abc]c", 1},
    {LINES(0), TEXT("\na\n"), "[][]c", 2},
    {QUOTED(99, 99), TEXT("a,\"b\nc\"\nd"), "[a,\"b\nc\"][d]", 3},
    {QUOTED(99, 99), TEXT("\"a\"\"\r\n\"\r\n\r\n"), "[\"a\"\"\r\n\"]r[]r", 3},
    {QUOTED(99, 99), TEXT("\"a\nb\nc\n"), "[\"a\nb\nc]", 3},
    {QUOTED(99, 4), TEXT("\"a\nb\nc\nd\ne\nf\n"), "[\"a\nb\nc][d][e][f]", 6},
    {QUOTED(4, 99), TEXT("\"a\nbcdef\ngh\"\nx\n"), "[\"a\nb]c[x]", 4},
    {JOINED(LINES), TEXT("a\n\n\r\nb\n\n\r\n"), "[a][\n\r\nb]", 6},
    {JOINED(LINES), TEXT("\n\n"), "", 2},
    {JOINED(LINES), TEXT("a\n \n"), "[a][ ]", 2},
    {JOINED(LINES), TEXT("a\n\nb"), "[a][\nb]", 3},
    {JOINED(QUOTED), TEXT("\"a\n\n\"\n\n\"b\n\n"), "[\"a\n\n\"][\n\"b\n]", 6},
    {OBJECTS(99), TEXT("[{\"a\":{}},\n {\"}\\\"{\":1}\n]\n"), "[[{\"a\":{}}][,\n {\"}\\\"{\":1}]",
     3},
    {OBJECTS(99), TEXT("[\n]"), "", 1},
    {OBJECTS(99), TEXT("[{},{"), "[[{}][,{]", 0},
    {OBJECTS(3), TEXT("[{\"a\"},{}]"), "[[{\"]c[,{}]", 0},
    {BLOCKS(99), TEXT("a\nb\n\nc\n"), "[a\nb\n][c]", 4},
    {BLOCKS(99), TEXT("\n\n#x\n\na\n \t\r\n\n"), "[\n\n#x\n\na\n \t]r[]", 7},
    {BLOCKS(99), TEXT("-DOC- x\n\na\n\n# b"), "[-DOC- x\n\na\n][# b]", 5},
};

/* Puts a record as the cases have it: NULs as dots. */
static void put_record(Text *out, const Record *record, size_t longest)
{
    const size_t n = record->is_cut ? longest : record->length;
    text_put(out, "[", 1);
    for (size_t i = 0; i < n; i++)
        text_put(out, record->text[i] ? record->text + i : ".", 1);
    text_string(out, "]");
    text_string(out, record->has_mark ? "m" : "");
    text_string(out, record->is_cut ? "c" : record->has_cr ? "r" : "");
}

static void expect_records(RecordCutter *cutter, const Case *wanted)
{
    Text got = {0};
    Record record;
    RecordStatus status;
    text_string(&got, "");
    while ((status = record_next(cutter, &record)) == RECORD_READ)
        put_record(&got, &record, cutter->rule.longest);
    assert_int_equal(status, RECORD_END);
    assert_int_equal(record_next(cutter, &record), RECORD_END);
    assert_string_equal(got.data, wanted->records);
    assert_int_equal(cutter->line, wanted->lines);
    assert_int_equal(cutter->at, wanted->n);
    text_free(&got);
}

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (SourceKind kind = 0; kind < N_SOURCES; kind++) {
            Sourced sourced;
            RecordCutter cutter;
            source_open(&sourced, kind, cases[i].text, cases[i].n);
            cutter.source = sourced.source;
            record_cutter_begin(&cutter, cases[i].rule);
            expect_records(&cutter, &cases[i]);
            record_cutter_close(&cutter);
            text_free(&sourced.bytes);
        }
}

/* A writer that sends a byte at a time; what is not there is not ready. */
static void test_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *c = &cases[i];
        RecordCutter cutter;
        Record record;
        Text got = {0};
        int ends[2];
        text_string(&got, "");
        assert_int_equal(pipe(ends), 0);
        byte_source_of(&cutter.source, ends[0]);
        byte_source_unpack(&cutter.source);
        record_cutter_begin(&cutter, c->rule);
        for (size_t at = 0; at <= c->n; at++) {
            while (at && record_ready(&cutter)) {
                assert_int_equal(record_next(&cutter, &record), RECORD_READ);
                put_record(&got, &record, c->rule.longest);
            }
            if (at < c->n)
                assert_int_equal(write(ends[1], c->text + at, 1), 1);
        }
        close(ends[1]);
        while (record_next(&cutter, &record) == RECORD_READ)
            put_record(&got, &record, c->rule.longest);
        assert_string_equal(got.data, c->records);
        assert_int_equal(cutter.line, c->lines);
        record_cutter_close(&cutter);
        text_free(&got);
    }
}

/* Parts of one record, put together, are the text; each begins where the one before it ended. */
static void test_parts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (SourceKind kind = 0; kind < N_SOURCES; kind++) {
            const RecordPart one = {.records = 1, .bytes = SIZE_MAX, .waits = true},
                             all = {.records = INT64_MAX, .bytes = SIZE_MAX, .waits = true};
            Sourced sourced;
            RecordCutter cutter;
            Text got = {0};
            size_t bytes, whole;
            source_open(&sourced, kind, cases[i].text, cases[i].n);
            cutter.source = sourced.source;
            record_cutter_begin(&cutter, cases[i].rule);
            cutter.rule.longest = 99;
            assert_true(record_part(&cutter, &all, &whole));
            assert_int_equal(whole, cases[i].n);
            while (record_part(&cutter, &one, &bytes) && bytes) {
                assert_int_equal(cutter.at, got.length);
                text_put(&got, cutter.source.data, bytes);
                record_pass(&cutter, bytes);
            }
            assert_int_equal(got.length, cases[i].n);
            assert_true(!got.length || !memcmp(got.data, cases[i].text, got.length));
            record_cutter_close(&cutter);
            text_free(&sourced.bytes);
            text_free(&got);
        }
}

static size_t cut_part(RecordCutter *cutter, RecordPart part)
{
    size_t bytes;
    assert_true(record_part(cutter, &part, &bytes));
    return bytes;
}

/* What ends a part: a count, bytes, a record that is too long, a pipe that has no more. */
static void test_part_ends(void **state)
{
    (void)state;
    static const char text[] = "1\n22\n333\n4444444444\n5\n";
    RecordCutter cutter;
    int ends[2];
    byte_source_memory(&cutter.source, text, sizeof text - 1);
    record_cutter_begin(&cutter, (RecordRule)LINES(99));
    assert_int_equal(cut_part(&cutter, (RecordPart){2, 99, true}), 5);
    assert_int_equal(cut_part(&cutter, (RecordPart){9, 1, true}), 2);
    assert_int_equal(cut_part(&cutter, (RecordPart){9, 3, true}), 5);
    assert_int_equal(cut_part(&cutter, (RecordPart){9, 99, true}), sizeof text - 1);
    assert_int_equal(record_lines_bytes(&cutter, 3), 9);
    assert_int_equal(record_lines_bytes(&cutter, 0), 0);
    record_pass(&cutter, 9);
    assert_int_equal(cutter.line, 3);
    assert_int_equal(cut_part(&cutter, (RecordPart){1, 99, true}), 11);
    record_cutter_close(&cutter);

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "1\n2\n3", 5), 5);
    byte_source_of(&cutter.source, ends[0]);
    record_cutter_begin(&cutter, (RecordRule)LINES(99));
    assert_int_equal(cut_part(&cutter, (RecordPart){9, 99, false}), 4);
    record_pass(&cutter, 4);
    close(ends[1]);
    assert_int_equal(cut_part(&cutter, (RecordPart){9, 99, false}), 1);
    record_pass(&cutter, 1);
    assert_int_equal(cut_part(&cutter, (RecordPart){9, 99, false}), 0);
    record_cutter_close(&cutter);
}

/* A record that is cut can be skipped at once; then the place is behind it. */
static void test_skip(void **state)
{
    (void)state;
    RecordCutter cutter;
    Record record;
    Sourced sourced;
    static char text[300000];
    memset(text, 'x', sizeof text);
    memcpy(text + sizeof text - 5, "\nend\n", 5);
    source_open(&sourced, SOURCE_FILE, text, sizeof text);
    cutter.source = sourced.source;
    record_cutter_begin(&cutter, (RecordRule)LINES(10));
    assert_int_equal(record_next(&cutter, &record), RECORD_READ);
    assert_true(record.is_cut);
    assert_true(cutter.at < 200000);
    record_skip(&cutter);
    assert_int_equal(cutter.at, sizeof text - 4);
    assert_int_equal(cutter.line, 1);
    assert_int_equal(record_next(&cutter, &record), RECORD_READ);
    assert_int_equal(record.length, 3);
    assert_true(record_cutter_seek(&cutter, (int64_t)sizeof text - 3, 7));
    assert_int_equal(record_next(&cutter, &record), RECORD_READ);
    assert_int_equal(record.length, 2);
    assert_int_equal(cutter.line, 8);
    record_cutter_close(&cutter);
    text_free(&sourced.bytes);
}

/* What never ends is given up, unless it is a file, which ends. A cut file gives no part of a
 * record. */
static void test_failures(void **state)
{
    (void)state;
    RecordCutter cutter;
    Record record;
    assert_false(record_cutter_open(&cutter, "/proc/no-such-file", (RecordRule)LINES(9)));
    record_cutter_close(&cutter);
    assert_true(record_cutter_open(&cutter, "/dev/zero", (RecordRule)LINES(100)));
    assert_int_equal(record_next(&cutter, &record), RECORD_READ);
    assert_true(record.is_cut);
    assert_int_equal(record_next(&cutter, &record), RECORD_FAILED);
    assert_null(byte_source_problem(&cutter.source));
    record_cutter_close(&cutter);
    for (int k = 0; k < N_PACKS; k++) {
        Text packed = {0};
        packs[k].pack(&packed, "one\ntwo\nthree\n", 14);
        byte_source_memory(&cutter.source, packed.data, packed.length - 1);
        byte_source_unpack(&cutter.source);
        record_cutter_begin(&cutter, (RecordRule)LINES(100));
        RecordStatus status;
        while ((status = record_next(&cutter, &record)) == RECORD_READ)
            assert_true(record.length == 3 || record.length == 5);
        assert_int_equal(status, RECORD_FAILED);
        assert_non_null(byte_source_problem(&cutter.source));
        record_cutter_close(&cutter);
        text_free(&packed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases), cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_parts), cmocka_unit_test(test_part_ends),
        cmocka_unit_test(test_skip),  cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
