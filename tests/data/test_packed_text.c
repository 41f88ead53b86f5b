/* Compressed texts: the same lines as the plain text, whatever the pieces; cut, damaged and too
 * large ones are errors. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/byte_source.h"
#include "base/unpack.h"
#include "runtime/data/lines.h"
#include "tests/messages.h"
#include "tests/packing.h"

#include <stdlib.h>
#include <sys/mman.h>
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

/* ---- reading ---- */

/* The bytes as a file; read from its beginning. */
static const char *file_of(Fixture *f, int *fd, const Text *bytes)
{
    *fd = memfd_create("packed", MFD_CLOEXEC);
    assert_true(*fd >= 0);
    assert_int_equal(write(*fd, bytes->data, bytes->length), bytes->length);
    return arena_printf(f->arena, "/proc/self/fd/%d", *fd);
}

static Lines *read_bytes(Fixture *f, const Text *bytes, const LineLimits *limits)
{
    int fd;
    const char *path = file_of(f, &fd, bytes);
    Lines *lines = lines_read(&f->diags, f->arena, path, limits);
    close(fd);
    return lines;
}

static void expect_same(const Lines *got, const Lines *wanted)
{
    assert_non_null(got);
    assert_int_equal(got->n, wanted->n);
    for (int64_t i = 0; i < got->n; i++) {
        assert_int_equal(got->at[i].length, wanted->at[i].length);
        assert_memory_equal(got->at[i].text, wanted->at[i].text, got->at[i].length);
    }
}

/* Lines that compress neither well nor badly. */
static void make_text(Text *text, int lines)
{
    unsigned state = 7;
    for (int i = 0; i < lines; i++) {
        state = state * 1664525u + 1013904223u;
        text_add(text, "line %d has %u ä\n", i, state >> 8);
    }
}

static void test_same(void **state)
{
    Fixture *f = *state;
    Text text = {0};
    make_text(&text, 30000); /* several chunks, packed and unpacked */
    const Lines *plain = read_bytes(f, &text, NULL);
    assert_int_equal(plain->n, 30000);
    for (int k = 0; k < N_PACKS; k++) {
        Text whole = {0}, members = {0};
        packs[k].pack(&whole, text.data, text.length);
        assert_true(whole.length > 70000 && whole.length < text.length);
        assert_string_equal(unpack_program(whole.data, whole.length), packs[k].program);
        expect_same(read_bytes(f, &whole, NULL), plain);
        const size_t cuts[] = {0, 1, 1, 12345, 200000, text.length}; /* one of them is empty */
        for (size_t i = 1; i < sizeof cuts / sizeof *cuts; i++)
            packs[k].pack(&members, text.data + cuts[i - 1], cuts[i] - cuts[i - 1]);
        expect_same(read_bytes(f, &members, NULL), plain);
        text_free(&whole);
        text_free(&members);
    }
    text_free(&text);
    assert_int_equal(f->diags.list.count, 0);
}

static void test_empty(void **state)
{
    Fixture *f = *state;
    for (int k = 0; k < N_PACKS; k++) {
        Text packed = {0};
        packs[k].pack(&packed, "", 0);
        const Lines *lines = read_bytes(f, &packed, NULL);
        assert_non_null(lines);
        assert_int_equal(lines->n, 0);
        text_free(&packed);
    }
}

/* A pipe whose writer sends a byte at a time. */
static void test_pipe(void **state)
{
    Fixture *f = *state;
    static const char text[] = "one\ntwo\nthree\n";
    for (int k = 0; k < N_PACKS; k++) {
        Text packed = {0};
        int ends[2];
        packs[k].pack(&packed, text, strlen(text));
        assert_int_equal(pipe(ends), 0);
        const pid_t child = fork();
        if (!child) {
            for (size_t i = 0; i < packed.length; i++)
                if (write(ends[1], packed.data + i, 1) != 1)
                    _exit(1);
            _exit(0);
        }
        close(ends[1]);
        const Lines *lines =
            lines_read(&f->diags, f->arena, arena_printf(f->arena, "/dev/fd/%d", ends[0]), NULL);
        close(ends[0]);
        waitpid(child, NULL, 0);
        assert_non_null(lines);
        assert_int_equal(lines->n, 3);
        assert_memory_equal(lines->at[2].text, "three", 5);
        text_free(&packed);
    }
}

/* A file that ends anywhere before its end, but between two members, is an error that says so. */
static void test_cut(void **state)
{
    Fixture *f = *state;
    static const char text[] = "a first line\nand a second one\n";
    for (int k = 0; k < N_PACKS; k++) {
        Text packed = {0};
        packs[k].pack(&packed, text, 13);
        const size_t member = packed.length;
        packs[k].pack(&packed, text + 13, strlen(text) - 13);
        assert_int_equal(read_bytes(f, &packed, NULL)->n, 2);
        for (size_t n = PACKED_BEGIN; n < packed.length; n++) {
            const Text cut = {packed.data, n, 0};
            diag_init(&f->diags, f->arena);
            const Lines *lines = read_bytes(f, &cut, NULL);
            assert_int_equal(lines != NULL, n == member);
            assert_int_equal(f->diags.errors, n != member);
            if (n != member)
                expect_message(&f->diags,
                               arena_printf(f->arena, "it is compressed by %s, and ends too early",
                                            packs[k].program));
        }
        text_free(&packed);
    }
}

/* Any byte may be wrong: the text is the same, or the error says that it cannot be unpacked. What
 * follows the compressed text belongs to it. */
static void test_damage(void **state)
{
    Fixture *f = *state;
    static const char text[] = "a first line\nand a second one\n";
    for (int k = 0; k < N_PACKS; k++) {
        Text packed = {0};
        int refused = 0;
        packs[k].pack(&packed, text, strlen(text));
        for (size_t i = PACKED_BEGIN; i < packed.length; i++) {
            packed.data[i] ^= 0x55;
            diag_init(&f->diags, f->arena);
            const Lines *lines = read_bytes(f, &packed, NULL);
            assert_int_equal(!lines, f->diags.errors > 0);
            refused += !lines;
            assert_true(!lines || (lines->n == 2 && !memcmp(lines->at[0].text, text, 12)));
            packed.data[i] ^= 0x55;
        }
        assert_true(refused > (int)packed.length / 2);
        text_string(&packed, "more");
        diag_init(&f->diags, f->arena);
        assert_null(read_bytes(f, &packed, NULL));
        expect_message(&f->diags,
                       arena_printf(f->arena, "it is compressed by %s, and", packs[k].program));
        text_free(&packed);
    }
}

/* Lines that are a thousand times smaller when packed are refused as soon as they are too many. */
static void test_bomb(void **state)
{
    Fixture *f = *state;
    const LineLimits limits = {.memory = 3000000};
    Text text = {0};
    for (int i = 0; i < 5000000; i++)
        text_put(&text, "ab\n", 3);
    for (int k = 0; k < N_PACKS; k++) {
        Text packed = {0};
        packs[k].pack(&packed, text.data, text.length);
        assert_true(packed.length < 30000);
        diag_init(&f->diags, f->arena);
        assert_null(read_bytes(f, &packed, &limits));
        expect_message(&f->diags, "unpacked, it has more than 1.");
        text_free(&packed);
    }
    memset(text.data, 0, text.length); /* no text: the rest is not unpacked */
    Text packed = {0};
    pack_zstd(&packed, text.data, text.length);
    assert_null(read_bytes(f, &packed, NULL));
    expect_message(&f->diags, ":1:1: error: a NUL byte");
    text_free(&packed);
    text_free(&text);
}

/* What the lines of an unpacked text have wrong is said as of a plain one. */
static void test_faults(void **state)
{
    Fixture *f = *state;
    Text packed = {0}, twice = {0};
    pack_gzip(&packed, "fine\nb\xff\n", 8);
    assert_null(read_bytes(f, &packed, NULL));
    expect_message(&f->diags, ":2:2: error: invalid UTF-8: byte 0xff");
    pack_xz(&twice, packed.data, packed.length);
    assert_null(read_bytes(f, &twice, NULL));
    expect_message(&f->diags, "the file is compressed by gzip; decompress it first");
    text_free(&packed);
    text_free(&twice);
    static const char window[] = "\x28\xb5\x2f\xfd\x00\xff\x01\x00\x00"; /* 3.75 TB of it */
    const Text bytes = {(char *)(uintptr_t)window, 9, 0};
    assert_null(read_bytes(f, &bytes, NULL));
    expect_message(&f->diags, "it is compressed by zstd, and cannot be unpacked: ");
}

/* Into room for a byte each time. */
static void test_room(void **state)
{
    (void)state;
    static const char text[] = "one\ntwo\nthree\n";
    for (int k = 0; k < N_PACKS; k++) {
        Text packed = {0};
        char byte;
        packs[k].pack(&packed, text, strlen(text));
        ByteSource reading;
        byte_source_memory(&reading, packed.data, packed.length);
        byte_source_unpack(&reading);
        for (size_t i = 0; i < strlen(text); i++) {
            assert_int_equal(byte_source_take(&reading, &byte, 1), 1);
            assert_int_equal(byte, text[i]);
        }
        assert_int_equal(byte_source_take(&reading, &byte, 1), 0);
        assert_int_equal(byte_source_take(&reading, &byte, 1), 0);
        byte_source_close(&reading);
        text_free(&packed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same, setup, teardown),
        cmocka_unit_test_setup_teardown(test_empty, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pipe, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cut, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damage, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bomb, setup, teardown),
        cmocka_unit_test_setup_teardown(test_faults, setup, teardown),
        cmocka_unit_test(test_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
