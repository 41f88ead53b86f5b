/* ByteSource: each kind of source gives the same bytes, whatever is asked for at a time; what is
 * wrong with a source is said. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/byte_source.h"
#include "tests/base/sources.h"
#include "tests/messages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Contents that readers have stumbled over. */
static const struct {
    const char *text;
    size_t n;
} contents[] = {
    {"", 0},
    {"a", 1},
    {"\n", 1},
    {"\x1f", 1},   /* as gzip begins */
    {"(\xb5/", 3}, /* as zstd does */
    {"\xfd"
     "7zX",
     4},
    {"\xEF\xBB\xBF", 3},
    {"\0\0\0", 3},
    {"one\r\ntwo\n\nthree", 15},
};

static void expect_bytes(const ByteSource *s, const Text *got, const char *text, size_t n)
{
    assert_null(byte_source_problem(s));
    assert_int_equal(got->length, n);
    if (n)
        assert_memory_equal(got->data, text, n);
}

/* All that is left, `step` bytes at a time: read ahead or copied. */
static void read_rest(ByteSource *s, size_t step, bool copies, Text *got)
{
    char block[64];
    ssize_t n;
    while (copies && (n = byte_source_take(s, block, step)) > 0)
        text_put(got, block, (size_t)n);
    while (!copies && (s->length || byte_source_more(s, step))) {
        const size_t passed = s->length < step ? s->length : step;
        text_put(got, s->data, passed);
        byte_source_pass(s, passed);
    }
}

static void try_content(SourceKind kind, const char *text, size_t n)
{
    for (int way = 0; way < 8; way++) {
        const size_t step = way & 1 ? 64 : 1, looked = way & 4 ? 2 : 0;
        Sourced sourced;
        Text got = {0};
        source_open(&sourced, kind, text, n);
        ByteSource *s = &sourced.source;
        assert_int_equal(byte_source_look(s, looked), looked < n ? looked : n);
        read_rest(s, step, way & 2, &got);
        expect_bytes(s, &got, text, n);
        assert_int_equal(s->is_packed, kind >= SOURCE_GZIP);
        assert_true(byte_source_ready(s));
        assert_false(byte_source_more(s, 1));
        got.length = 0;
        if (kind != SOURCE_PIPE) {
            assert_true(byte_source_rewind(s));
            read_rest(s, step, way & 2, &got);
            expect_bytes(s, &got, text, n);
        }
        text_free(&got);
        source_close(&sourced);
    }
}

static void test_same(void **state)
{
    (void)state;
    for (SourceKind kind = 0; kind < N_SOURCES; kind++)
        for (size_t i = 0; i < sizeof contents / sizeof *contents; i++)
            try_content(kind, contents[i].text, contents[i].n);
}

/* More bytes than one read gives, in all kinds. */
static void test_long(void **state)
{
    (void)state;
    Text text = {0};
    for (int i = 0; i < 60000; i++)
        text_add(&text, "%d\n", i);
    for (SourceKind kind = 0; kind < N_SOURCES; kind++) {
        Sourced sourced;
        Text got = {0};
        if (kind == SOURCE_PIPE)
            continue; /* has no room for them; the next test has a writer */
        source_open(&sourced, kind, text.data, text.length);
        assert_int_equal(byte_source_look(&sourced.source, 200000), 200000);
        assert_memory_equal(sourced.source.data, text.data, 200000);
        byte_source_pass(&sourced.source, 5);
        text_put(&got, text.data, 5);
        read_rest(&sourced.source, 64, false, &got);
        expect_bytes(&sourced.source, &got, text.data, text.length);
        text_free(&got);
        source_close(&sourced);
    }
    text_free(&text);
}

/* A pipe is ready while it has bytes, and read with waiting else; a pipe that is kept can be read
 * again. */
static void test_pipe(void **state)
{
    (void)state;
    ByteSource s;
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    byte_source_of(&s, ends[0]);
    byte_source_unpack(&s);
    assert_false(byte_source_ready(&s));
    assert_int_equal(write(ends[1], "ab", 2), 2);
    assert_true(byte_source_ready(&s));
    assert_int_equal(byte_source_take(&s, &byte, 1), 1);
    assert_true(byte_source_ready(&s)); /* "b", which was read to see whether it is compressed */
    assert_true(byte_source_more(&s, 9));
    assert_int_equal(s.length, 1);
    assert_false(byte_source_ready(&s));
    byte_source_pass(&s, 1);
    close(ends[1]);
    assert_true(byte_source_ready(&s));
    assert_false(byte_source_more(&s, 1));
    assert_null(byte_source_problem(&s));
    byte_source_close(&s);

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "kept", 4), 4);
    close(ends[1]);
    byte_source_of(&s, ends[0]);
    assert_true(byte_source_keep(&s));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(byte_source_look(&s, 9), 4);
        assert_memory_equal(s.data, "kept", 4);
        assert_true(byte_source_rewind(&s));
    }
    byte_source_close(&s);
}

/* A cut or damaged file is a failure, found at any step. The bytes before it are given. */
static void test_faults(void **state)
{
    (void)state;
    static const char text[] = "a first line\nand a second one\n";
    Arena *arena = arena_new();
    Diagnostics diags;
    for (int k = 0; k < N_PACKS; k++) {
        Text whole = {0};
        packs[k].pack(&whole, text, sizeof text - 1);
        const size_t most = whole.length;
        text_string(&whole, "more");
        for (size_t n = 6; n <= whole.length; n++) {
            ByteSource s;
            Text got = {0};
            byte_source_memory(&s, whole.data, n);
            byte_source_unpack(&s);
            read_rest(&s, n % 2 ? 1 : 64, n % 3, &got);
            assert_true(s.is_packed);
            assert_int_equal(byte_source_problem(&s) != NULL, n != most);
            assert_true(got.length < sizeof text &&
                        !memcmp(got.data ? got.data : "", text, got.length));
            diag_init(&diags, arena);
            assert_int_equal(byte_source_check(&s, &diags, "x"), n == most);
            if (n < most)
                expect_message(&diags, "cannot read x: it is compressed by ");
            assert_int_equal(byte_source_take(&s, &(char){0}, 1), n == most ? 0 : -1);
            text_free(&got);
            byte_source_close(&s);
        }
        text_free(&whole);
    }
    arena_free(arena);
}

static void test_opening(void **state)
{
    (void)state;
    ByteSource s;
    assert_false(byte_source_open(&s, "/proc/no-such-file"));
    assert_int_equal(errno, ENOENT);
    byte_source_close(&s);
    assert_false(byte_source_open(&s, "/tmp"));
    assert_int_equal(errno, EISDIR);
    assert_true(byte_source_open(&s, "/dev/zero"));
    assert_int_equal(s.size, -1);
    assert_int_equal(byte_source_look(&s, 100000), 100000);
    byte_source_end(&s);
    assert_false(byte_source_more(&s, 1));
    byte_source_close(&s);
}

static void count_block(void *sum, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *(unsigned *)sum = 31 * *(unsigned *)sum + ((const unsigned char *)bytes)[i];
}

/* Who observes sees the file's own bytes, each once. */
static void test_observed(void **state)
{
    (void)state;
    static const char text[] = "observed\n";
    for (SourceKind kind = SOURCE_FILE; kind < N_SOURCES; kind++) {
        Sourced sourced;
        Text stored = {0}, got = {0};
        unsigned seen = 0, wanted = 0;
        source_bytes(&stored, kind, text, sizeof text - 1);
        source_open(&sourced, kind, text, sizeof text - 1);
        sourced.source.observe = count_block;
        sourced.source.context = &seen;
        read_rest(&sourced.source, 64, kind % 2, &got);
        count_block(&wanted, stored.data, stored.length);
        assert_int_equal(seen, wanted);
        text_free(&stored);
        text_free(&got);
        source_close(&sourced);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),    cmocka_unit_test(test_long),
        cmocka_unit_test(test_pipe),    cmocka_unit_test(test_faults),
        cmocka_unit_test(test_opening), cmocka_unit_test(test_observed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
