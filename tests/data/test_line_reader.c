/* Lines one by one: the same as those of the whole text, however it is cut; waiting for
 * nobody; bad lines passed over; in bounded memory. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/record_cutter.h"
#include "runtime/data/line_reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Fixture {
    Arena *arena;
    Diagnostics diags;
} Fixture;

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    f->arena = arena_new();
    diag_init(&f->diags, f->arena);
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

/* A reader of what is written into *in. */
static LineReader *open_pipe(Fixture *f, int *in, int64_t limit)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    *in = ends[1];
    LineReader *reader =
        line_reader_open(&f->diags, arena_printf(f->arena, "/dev/fd/%d", ends[0]), limit);
    close(ends[0]);
    assert_non_null(reader);
    return reader;
}

static void put(int fd, const char *text, size_t length)
{
    assert_int_equal(write(fd, text, length), length);
}

static void expect_line(LineReader *reader, int64_t number, const char *text)
{
    LineResult result = line_reader_next(reader);
    assert_int_equal(result.status, LINE_READ);
    assert_int_equal(result.number, number);
    assert_int_equal(result.line.length, strlen(text));
    assert_memory_equal(result.line.text, text, strlen(text));
}

static void expect_bad(LineReader *reader, int64_t number, int column, const char *part)
{
    LineResult result = line_reader_next(reader);
    assert_int_equal(result.status, LINE_BAD);
    assert_int_equal(result.number, number);
    assert_int_equal(result.column, column);
    assert_non_null(strstr(result.message, part));
}

/* Part of a line is not ready, a line is, and so is the end. */
static void test_ready(void **state)
{
    Fixture *f = *state;
    int in;
    LineReader *reader = open_pipe(f, &in, 0);
    assert_false(line_reader_ready(reader));
    put(in, "on", 2);
    assert_false(line_reader_ready(reader));
    put(in, "e\ntwo\nth", 8);
    assert_true(line_reader_ready(reader));
    expect_line(reader, 1, "one");
    assert_true(line_reader_ready(reader));
    expect_line(reader, 2, "two");
    assert_false(line_reader_ready(reader));
    close(in);
    assert_true(line_reader_ready(reader));
    expect_line(reader, 3, "th");
    assert_int_equal(line_reader_next(reader).status, LINE_END);
    assert_int_equal(line_reader_next(reader).status, LINE_END);
    line_reader_close(reader);
}

static void test_bad_lines(void **state)
{
    Fixture *f = *state;
    int in;
    LineReader *reader = open_pipe(f, &in, 8);
    static const char text[] = "\xEF\xBB\xBF"
                               "12345678\r\n123456789\nab\xff\n\0\nlonger than eight\nend";
    put(in, text, sizeof text - 1);
    close(in);
    expect_line(reader, 1, "12345678");
    expect_bad(reader, 2, 1, "longer than 8 bytes");
    expect_bad(reader, 3, 3, "invalid UTF-8: byte 0xff");
    expect_bad(reader, 4, 1, "a NUL byte");
    expect_bad(reader, 5, 1, "longer than 8 bytes");
    expect_line(reader, 6, "end");
    assert_int_equal(line_reader_next(reader).status, LINE_END);
    line_reader_close(reader);
}

/* A byte order mark is no line. */
static void test_mark_alone(void **state)
{
    Fixture *f = *state;
    int in;
    LineReader *reader = open_pipe(f, &in, 8);
    put(in, "\xEF\xBB\xBF", 3);
    close(in);
    assert_int_equal(line_reader_next(reader).status, LINE_END);
    line_reader_close(reader);
}

/* A pipe that is set not to block, as some shells and Node do: its next line is waited for. */
static void test_not_blocking(void **state)
{
    Fixture *f = *state;
    int ends[2];
    RecordCutter lines;
    Record line;
    assert_int_equal(pipe(ends), 0);
    assert_true(record_cutter_open(&lines, arena_printf(f->arena, "/dev/fd/%d", ends[0]),
                                   (RecordRule){.longest = 8}));
    assert_int_equal(fcntl(lines.source.fd, F_SETFL, O_NONBLOCK), 0);
    const pid_t writer = fork();
    if (!writer) {
        usleep(50000);
        _exit(write(ends[1], "late\n", 5) != 5);
    }
    close(ends[1]);
    assert_int_equal(record_next(&lines, &line), RECORD_READ);
    assert_int_equal(line.length, 4);
    assert_memory_equal(line.text, "late", 4);
    assert_int_equal(record_next(&lines, &line), RECORD_END);
    assert_int_equal(waitpid(writer, NULL, 0), writer);
    record_cutter_close(&lines);
    close(ends[0]);
}

/* What never ends a line is given up, even where bad lines are passed over. */
static void test_endless(void **state)
{
    Fixture *f = *state;
    LineReader *reader = line_reader_open(&f->diags, "/dev/zero", 1000);
    expect_bad(reader, 1, 1, "longer than 1000 bytes");
    LineResult result = line_reader_next(reader);
    assert_int_equal(result.status, LINE_FAILED);
    assert_non_null(strstr(result.message, "line 1 has no end"));
    line_reader_close(reader);

    assert_null(lines_read(&f->diags, f->arena, "/dev/zero", NULL));
    const LineLimits small = {.memory = 3000000};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        while (write(ends[1], "yes\n", 4) == 4)
            continue;
        _exit(0);
    }
    close(ends[1]);
    assert_null(
        lines_read(&f->diags, f->arena, arena_printf(f->arena, "/dev/fd/%d", ends[0]), &small));
    close(ends[0]);
    waitpid(child, NULL, 0);
    Text said = {0};
    diag_render(&f->diags, &said);
    assert_non_null(strstr(said.data, "/dev/zero:1:1: error: a NUL byte"));
    assert_non_null(strstr(said.data, "it has more than 1."));
    text_free(&said);
}

static void test_files(void **state)
{
    Fixture *f = *state;
    char path[] = "/tmp/tfc-lines-XXXXXX";
    int fd = mkstemp(path);
    put(fd, "a\n", 2);
    const LineLimits none = {.memory = 1}, line = {.line = 20};
    assert_null(lines_read(&f->diags, f->arena, path, &none));
    assert_int_equal(ftruncate(fd, 1 << 28), 0); /* a hole: NULs */
    assert_null(lines_read(&f->diags, f->arena, path, NULL));
    assert_int_equal(ftruncate(fd, 2), 0);
    put(fd, "123456789012345678901\n", 22);
    assert_null(lines_read(&f->diags, f->arena, path, &line));
    assert_non_null(lines_read(&f->diags, f->arena, path, NULL));
    close(fd);
    unlink(path);
    assert_null(line_reader_open(&f->diags, path, 0));
    assert_null(line_reader_open(&f->diags, "/tmp", 0));
    Text said = {0};
    diag_render(&f->diags, &said);
    assert_non_null(strstr(said.data, "kB, and 0.0 kB of memory are free; give a part"));
    assert_non_null(
        strstr(said.data, ":2:1: error: the line is longer than 20 bytes; --line-limit"));
    assert_non_null(strstr(said.data, "cannot read /tmp: it is a folder, not a file"));
    text_free(&said);
}

static void expect_gzip(Fixture *f)
{
    int in;
    LineReader *reader = open_pipe(f, &in, 0);
    put(in, "\x1f\x8b\x08\x00", 4);
    close(in);
    LineResult result = line_reader_next(reader);
    assert_int_equal(result.status, LINE_FAILED);
    assert_non_null(strstr(result.message, "gzip"));
    line_reader_close(reader);
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* Bytes that are likely to matter, written in pieces of any size, give the lines and the
 * faults of the whole text. */
static void test_as_whole(void **state)
{
    Fixture *f = *state;
    static const char *const parts[] = {"\n", "\r", "a", "bc", "ä", "\xC3", "\xff", "\n\n", "\r\n"};
    uint64_t random = 5;
    expect_gzip(f);
    for (int round = 0; round < 300; round++) {
        Text text = {0};
        text_add(&text, "%s", "");
        for (int n = (int)(next_random(&random) % 40); n > 0; n--)
            text_add(&text, "%s", parts[next_random(&random) % (sizeof parts / sizeof *parts)]);
        int in, column;
        LineReader *reader = open_pipe(f, &in, 5);
        size_t written = 0;
        Lines whole = {.n = 0};
        const char *at = text.data, *end = text.data + text.length;
        while (at < end) { /* as lines_parse has it, without its check of the text */
            const char *stop = memchr(at, '\n', (size_t)(end - at));
            const char *next = stop ? stop + 1 : end;
            while (written < text.length && written < (size_t)(next - text.data)) {
                size_t piece = 1 + next_random(&random) % 7;
                if (piece > text.length - written)
                    piece = text.length - written;
                put(in, text.data + written, piece);
                written += piece;
                line_reader_ready(reader);
            }
            if (written == text.length && in >= 0) {
                close(in);
                in = -1;
            }
            Line line = {at, (size_t)((stop ? stop : end) - at)};
            line.length -= line.length && line.text[line.length - 1] == '\r';
            const char *fault = line_fault(f->arena, &line, 5, &column);
            LineResult result = line_reader_next(reader);
            assert_int_equal(result.number, ++whole.n);
            assert_int_equal(result.status, fault ? LINE_BAD : LINE_READ);
            if (!fault)
                assert_int_equal(result.line.length, line.length);
            if (!fault)
                assert_memory_equal(result.line.text, line.text, line.length);
            if (fault)
                assert_string_equal(result.message, fault);
            at = next;
        }
        if (in >= 0)
            close(in);
        assert_int_equal(line_reader_next(reader).status, LINE_END);
        line_reader_close(reader);
        text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ready, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_lines, setup, teardown),
        cmocka_unit_test_setup_teardown(test_mark_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_not_blocking, setup, teardown),
        cmocka_unit_test_setup_teardown(test_endless, setup, teardown),
        cmocka_unit_test_setup_teardown(test_files, setup, teardown),
        cmocka_unit_test_setup_teardown(test_as_whole, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
