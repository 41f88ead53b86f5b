/* Archives as they are written and read back: pieces of entries, names beyond ASCII, and more
 * entries than a directory of 16 bits counts. */
#define _GNU_SOURCE
#include "driver/formats/zip_write.h"

#include "base/file.h"
#include "driver/formats/zip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Fixture {
    Arena *arena;
    Diagnostics diags;
    char path[32];
} Fixture;

static Fixture begin(void)
{
    Fixture f = {.arena = arena_new(), .path = "/tmp/zip-XXXXXX"};
    diag_init(&f.diags, f.arena);
    int fd = mkstemp(f.path);
    assert_true(fd >= 0);
    close(fd);
    return f;
}

static ZipArchive *read_back(Fixture *f, const ZipStored *entries, size_t n)
{
    uint64_t size;
    assert_true(zip_write(&f->diags, f->path, entries, n));
    const void *map = file_map(&f->diags, f->path, &size);
    assert_non_null(map);
    const void *bytes = arena_copy(f->arena, map, size);
    file_unmap(map, size);
    ZipArchive *zip = zip_parse(&f->diags, f->arena, f->path, bytes, size);
    assert_true(zip && zip->entries.count == n && !f->diags.errors);
    return zip;
}

static void end(Fixture *f)
{
    unlink(f->path);
    arena_free(f->arena);
}

static void test_entries(void **state)
{
    (void)state;
    Fixture f = begin();
    const ZipStored entries[] = {
        {.name = "a/b", .head = "he", .head_size = 2, .data = "llo", .data_size = 3},
        {.name = "gr\xc3\xbc\xc3\x9f", .head = "x", .head_size = 1},
        {.name = "data", .head = "", .data = "yz", .data_size = 2},
        {.name = "empty", .head = ""}};
    static const char *const texts[] = {"hello", "x", "yz", ""};
    ZipArchive *zip = read_back(&f, entries, 4);
    for (size_t i = 0; i < 4; i++) {
        const ZipEntry *entry = zip_find(zip, entries[i].name);
        assert_true(entry && entry->size == strlen(texts[i]));
        assert_memory_equal(zip_checked(zip, entry), texts[i], entry->size);
    }
    end(&f);
}

/* The bytes of an archive of one entry: 30 + 1 + 1, 46 + 1 and 22. */
static void test_bytes(void **state)
{
    (void)state;
    static const char expected[] =
        "PK\3\4\n\0\0\0\0\0\0\0\x21\0\x83\x16\xdc\x8c\1\0\0\0\1\0\0\0\1\0\0\0ax"
        "PK\1\2\x3f\3\n\0\0\0\0\0\0\0\x21\0\x83\x16\xdc\x8c\1\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\0\0"
        "\0\0\xb6\x81\0\0\0\0a"
        "PK\5\6\0\0\0\0\1\0\1\0\x2f\0\0\0\x20\0\0\0\0\0";
    Fixture f = begin();
    uint64_t size;
    const ZipStored entry = {.name = "a", .head = "x", .head_size = 1};
    assert_true(zip_write(&f.diags, f.path, &entry, 1));
    const void *map = file_map(&f.diags, f.path, &size);
    assert_int_equal(size, sizeof expected - 1);
    assert_memory_equal(map, expected, size);
    file_unmap(map, size);
    end(&f);
}

static void test_many(void **state)
{
    (void)state;
    enum { MANY = 65535 }; /* of 16 bits: means that the 64-bit record has the number */
    Fixture f = begin();
    ZipStored *entries = ARENA_ARRAY(f.arena, ZipStored, MANY);
    for (int i = 0; i < MANY; i++)
        entries[i] =
            (ZipStored){.name = arena_printf(f.arena, "%d", i), .head = "x", .head_size = 1};
    ZipArchive *zip = read_back(&f, entries, MANY);
    assert_non_null(zip_find(zip, "65534"));
    end(&f);
}

static void test_nowhere(void **state)
{
    (void)state;
    Fixture f = begin();
    assert_false(zip_write(&f.diags, "/no/such/folder/a.zip", NULL, 0));
    assert_int_equal(f.diags.errors, 1);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_entries), cmocka_unit_test(test_bytes),
                                       cmocka_unit_test(test_many), cmocka_unit_test(test_nowhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
