/* Blocks of weights in the cache: mapped as they were put, and hashed again after a change. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/codegen/cache_case.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BYTES = 300 * 4096 + 100 }; /* of a block */

static const char *block_bytes(Case *c)
{
    char *bytes = arena_alloc(c->arena, BYTES);
    for (int i = 0; i < BYTES; i++)
        bytes[i] = (char)(i * 7 + i / 4096);
    return bytes;
}

/* A file of the block key_number(1), open to be written. */
static int open_block(Case *c, const char *suffix)
{
    const int file = open(arena_printf(c->arena, "%s/01%062d%s", c->folder, 0, suffix), O_RDWR);
    assert_true(file >= 0);
    return file;
}

/* Whether the block is there, and then what was put. */
static bool has_block(Cache *cache, const char *bytes)
{
    const ProgramKey key = key_number(1);
    char *map = cache_map(cache, &key, BYTES);
    if (!map)
        return false;
    assert_memory_equal(map, bytes, BYTES);
    cache_unmap(map, BYTES);
    return true;
}

/* Whether an unchanged block is hashed whole: then its stamp is written anew. */
static bool hashes_whole(Case *c, Cache *cache, const char *bytes)
{
    const char *path = arena_printf(c->arena, "%s/01%062d.tfcs", c->folder, 0);
    struct stat before, after;
    assert_int_equal(stat(path, &before), 0);
    assert_true(has_block(cache, bytes));
    assert_int_equal(stat(path, &after), 0);
    return before.st_ino != after.st_ino;
}

static void set_time(int file, time_t seconds)
{
    assert_int_equal(futimens(file, (struct timespec[]){{.tv_sec = seconds}, {.tv_sec = seconds}}),
                     0);
}

/* Blocks are mapped as they were put: what is written stays in the process. */
static void blocks_are_mapped(void **state)
{
    Case *c = *state;
    const char *bytes = block_bytes(c);
    Cache *cache = cache_open(c->arena, c->folder, CACHE_BYTES);
    const ProgramKey key = key_number(1), other = key_number(2);
    assert_null(cache_map(cache, &key, BYTES));
    cache_put_block(cache, &key, bytes, BYTES);
    assert_null(cache_map(cache, &other, BYTES));
    assert_null(cache_map(cache, &key, BYTES - 1));
    for (int turn = 0; turn < 2; turn++) {
        char *map = cache_map(cache, &key, BYTES);
        assert_non_null(map);
        assert_int_equal((uintptr_t)map % 64, 0);
        assert_memory_equal(map, bytes, BYTES);
        memset(map, 0, BYTES);
        cache_unmap(map, BYTES);
    }
    /* What others may write to is none of ours. */
    const int file = open_block(c, ".tfcw");
    assert_int_equal(fchmod(file, 0666), 0);
    assert_null(cache_map(cache, &key, BYTES));
    close(file);
    cache_close(cache);
}

/* A byte between the pages that are looked at is found at once, also where the time of the file is
 * set back, and where another file takes its place. */
static void blocks_are_whole(void **state)
{
    Case *c = *state;
    enum { AT = 3 * 4096 + 10, AT_FILE = 4096 + AT };
    const char *bytes = block_bytes(c);
    Cache *cache = cache_open(c->arena, c->folder, CACHE_BYTES);
    const ProgramKey key = key_number(1);
    cache_put_block(cache, &key, bytes, BYTES);
    const int file = open_block(c, ".tfcw");
    struct stat info;
    assert_int_equal(fstat(file, &info), 0);
    assert_int_equal(pwrite(file, "\x55", 1, AT_FILE), 1); /* in the tick in which it was put */
    assert_false(has_block(cache, bytes));
    assert_int_equal(pwrite(file, bytes + AT, 1, AT_FILE), 1);
    assert_true(has_block(cache, bytes));
    usleep(20000);
    assert_int_equal(pwrite(file, "\x55", 1, AT_FILE), 1);
    assert_int_equal(futimens(file, (struct timespec[]){info.st_atim, info.st_mtim}), 0);
    assert_false(has_block(cache, bytes));
    assert_int_equal(pwrite(file, bytes + AT, 1, AT_FILE), 1);
    close(file);
    assert_true(has_block(cache, bytes));
    const char *path = arena_printf(c->arena, "%s/01%062d.tfcw", c->folder, 0);
    assert_int_equal(system(arena_printf(c->arena,
                                         "cp -p %s %s/copy && printf U | dd of=%s/copy "
                                         "bs=1 seek=%d conv=notrunc status=none && mv %s/copy %s",
                                         path, c->folder, c->folder, AT_FILE, c->folder, path)),
                     0);
    assert_false(has_block(cache, bytes));
    cache_close(cache);
}

/* All bytes are hashed when something may have changed, and not again at the next start. */
static void blocks_are_hashed_once(void **state)
{
    Case *c = *state;
    const char *bytes = block_bytes(c);
    Cache *cache = cache_open(c->arena, c->folder, CACHE_BYTES);
    const ProgramKey key = key_number(1);
    cache_put_block(cache, &key, bytes, BYTES);
    assert_false(hashes_whole(c, cache, bytes));
    const int file = open_block(c, ".tfcw");
    assert_int_equal(futimens(file, NULL), 0);
    assert_true(hashes_whole(c, cache, bytes));
    assert_false(hashes_whole(c, cache, bytes));
    usleep(20000);
    assert_int_equal(fchmod(file, 0600), 0); /* its ctime alone */
    assert_true(hashes_whole(c, cache, bytes));
    close(file);
    int stamp = open_block(c, ".tfcs");
    set_time(stamp, 1); /* the system has started since */
    close(stamp);
    assert_true(hashes_whole(c, cache, bytes));
    assert_false(hashes_whole(c, cache, bytes));
    stamp = open_block(c, ".tfcs");
    assert_int_equal(pwrite(stamp, "x", 1, 9), 1);
    close(stamp);
    assert_true(hashes_whole(c, cache, bytes));
    cache_close(cache);
}

/* A block that makes room takes its stamp along; a stamp alone goes, too. */
static void stamps_go_with_their_blocks(void **state)
{
    Case *c = *state;
    const char *bytes = block_bytes(c);
    Cache *cache = cache_open(c->arena, c->folder, CACHE_BYTES);
    const ProgramKey key = key_number(1), other = key_number(2);
    cache_put_block(cache, &key, bytes, BYTES);
    const int stamp = open_block(c, ".tfcs");
    set_time(stamp, 1); /* used longest ago, though its block is the younger one */
    close(stamp);
    cache_put_block(cache, &other, bytes, BYTES);
    cache_make_room(cache, ".tfcw", ".tfcs", BYTES + 4096);
    assert_null(cache_map(cache, &key, BYTES));
    char *map = cache_map(cache, &other, BYTES);
    assert_non_null(map);
    cache_unmap(map, BYTES);
    const char *count = arena_printf(c->arena, "[ $(ls %s | wc -l) = 2 ]", c->folder);
    assert_int_equal(system(count), 0);
    assert_int_equal(
        system(arena_printf(c->arena, "cp %s/02*.tfcs %s/03%062d.tfcs", c->folder, c->folder, 0)),
        0);
    cache_make_room(cache, ".tfcw", ".tfcs", BYTES + 4096);
    assert_int_equal(system(count), 0);
    cache_close(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CACHE_TEST(blocks_are_mapped),
        CACHE_TEST(blocks_are_whole),
        CACHE_TEST(blocks_are_hashed_once),
        CACHE_TEST(stamps_go_with_their_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
