/* Hashes of tables in memory: keys that were chosen to meet do not, and each process has others. */
#include "base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

enum { KEYS = 20000, SLOTS = 1 << 16, NARROW = SLOTS / 512, LENGTH = 20 };

/* The next key, from number *at on, that hash_string gives a slot below `most` of SLOTS. */
static void next_key(uint64_t *at, size_t most, char key[LENGTH])
{
    do
        snprintf(key, LENGTH, "w%llx", (unsigned long long)++*at);
    while ((hash_string(HASH_SEED, key) & (SLOTS - 1)) >= most);
}

/* Seconds that it takes to put KEYS such keys into a map, and to find them. */
static double fill_map(size_t most)
{
    Arena *arena = arena_new();
    char(*keys)[LENGTH] = memory_zeroed(KEYS, sizeof *keys);
    uint64_t at = 0;
    for (int i = 0; i < KEYS; i++)
        next_key(&at, most, keys[i]);
    Map map;
    map_init(&map, arena);
    const clock_t begin = clock();
    for (int i = 0; i < KEYS; i++)
        map_set(&map, keys[i], keys[i]);
    for (int i = 0; i < KEYS; i++)
        assert_ptr_equal(map_get(&map, keys[i]), keys[i]);
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    assert_int_equal(map.count, KEYS);
    assert_false(map_has(&map, "x"));
    free(keys);
    arena_free(arena);
    return seconds;
}

/* Keys that meet by a hash that everybody can compute take no longer than others. */
static void chosen_keys(void **state)
{
    (void)state;
    const double plain = fill_map(SLOTS), chosen = fill_map(NARROW);
    assert_true(chosen < 10 * plain + 0.05);
}

static void all_bytes_count(void **state)
{
    (void)state;
    char text[40] = {0}, other[40] = {0};
    for (size_t n = 0; n < sizeof text; n++) {
        assert_true(hash_slot(text, n) == hash_slot(other, n));
        assert_true(hash_slot(text, n) != hash_slot(text, n + 1)); /* NULs, too */
        for (size_t i = 0; i <= n; i++) {
            other[i] = 1;
            assert_true(hash_slot(text, n + 1) != hash_slot(other, n + 1));
            other[i] = 0;
        }
    }
}

static void each_process_its_own(void **state)
{
    (void)state;
    FILE *other = popen("/proc/$PPID/exe hash", "r");
    unsigned long long there = 0;
    assert_non_null(other);
    assert_int_equal(fscanf(other, "%llx", &there), 1);
    assert_int_equal(pclose(other), 0);
    assert_true(there != hash_slot("key", 3));
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "hash"))
        return printf("%llx\n", (unsigned long long)hash_slot("key", 3)) < 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(chosen_keys),
                                       cmocka_unit_test(all_bytes_count),
                                       cmocka_unit_test(each_process_its_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
