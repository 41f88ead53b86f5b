/* The slab planner: nothing that lives together overlaps, the total is exact and
 * between the obvious bounds, and small cases are as good as the best order. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/exec/slab.h"

#include <stdbool.h>

static uint32_t seed;

static int64_t random_below(int64_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (int64_t)(seed >> 8) % n;
}

static int64_t aligned(int64_t bytes)
{
    return bytes < 1 ? SLAB_ALIGN : (bytes + SLAB_ALIGN - 1) / SLAB_ALIGN * SLAB_ALIGN;
}

static bool live_together(const SlabItem *a, const SlabItem *b)
{
    return a->first <= b->last && b->first <= a->last;
}

enum { MOST = 200 };

static void fill_items(SlabItem *items, int n, int64_t bytes, int32_t steps)
{
    for (int i = 0; i < n; i++) {
        items[i] = (SlabItem){.bytes = random_below(bytes), .first = (int32_t)random_below(steps)};
        items[i].last = items[i].first + (int32_t)random_below(steps / 4 + 1);
        items[i].offset = -1;
    }
}

/* The most bytes alive at any one step: no plan can be smaller. */
static int64_t lower_bound(const SlabItem *items, int n, int32_t steps)
{
    int64_t most = 0;
    for (int32_t step = 0; step < 2 * steps; step++) {
        int64_t alive = 0;
        for (int i = 0; i < n; i++)
            alive += items[i].first <= step && step <= items[i].last ? aligned(items[i].bytes) : 0;
        most = alive > most ? alive : most;
    }
    return most;
}

static void check(const SlabItem *items, int n, int64_t total)
{
    int64_t end = 0;
    for (int i = 0; i < n; i++) {
        assert_true(items[i].offset >= 0 && items[i].offset % SLAB_ALIGN == 0);
        int64_t stop = items[i].offset + aligned(items[i].bytes);
        end = stop > end ? stop : end;
        for (int j = 0; j < i; j++)
            if (live_together(&items[i], &items[j]))
                assert_true(stop <= items[j].offset ||
                            items[j].offset + aligned(items[j].bytes) <= items[i].offset);
    }
    assert_int_equal(end, total);
}

static void test_random_lifetimes(void **state)
{
    (void)state;
    SlabItem items[MOST];
    for (seed = 1; seed < 400; seed++) {
        uint32_t kept = seed;
        int n = 1 + (int)random_below(MOST);
        int32_t steps = 1 + (int32_t)random_below(100);
        fill_items(items, n, 100000, steps);
        int64_t total = slab_plan(items, n), sum = 0;
        check(items, n, total);
        for (int i = 0; i < n; i++)
            sum += aligned(items[i].bytes);
        assert_true(total >= lower_bound(items, n, steps) && total <= sum);
        seed = kept;
    }
}

/* The best total over every order of placing, each at its lowest free place. */
static int64_t best_total(SlabItem *items, int n, int placed, int64_t total)
{
    if (placed == n)
        return total;
    int64_t best = INT64_MAX;
    for (int i = placed; i < n; i++) {
        SlabItem item = items[i];
        items[i] = items[placed];
        item.offset = 0;
        for (bool moved = true; moved;) {
            moved = false;
            for (int j = 0; j < placed; j++)
                if (live_together(&item, &items[j]) &&
                    item.offset < items[j].offset + aligned(items[j].bytes) &&
                    items[j].offset < item.offset + aligned(item.bytes)) {
                    item.offset = items[j].offset + aligned(items[j].bytes);
                    moved = true;
                }
        }
        items[placed] = item;
        int64_t end = item.offset + aligned(item.bytes);
        int64_t found = best_total(items, n, placed + 1, end > total ? end : total);
        best = found < best ? found : best;
        items[placed] = items[i];
        items[i] = item;
    }
    return best;
}

static void test_near_the_best(void **state)
{
    (void)state;
    int64_t greedy = 0, best = 0;
    for (seed = 1; seed < 200; seed++) {
        uint32_t kept = seed;
        SlabItem items[6];
        fill_items(items, 6, 4096, 8);
        int64_t total = slab_plan(items, 6), least = best_total(items, 6, 0, 0);
        assert_true(total >= least);
        greedy += total;
        best += least;
        seed = kept;
    }
    assert_true((double)greedy <= 1.03 * (double)best);
}

static void test_chain_reuses_two_places(void **state)
{
    (void)state;
    SlabItem items[50];
    for (int i = 0; i < 50; i++)
        items[i] = (SlabItem){.bytes = 6400, .first = i, .last = i + 1};
    assert_int_equal(slab_plan(items, 50), 2 * 6400);
    assert_int_equal(slab_plan(items, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_lifetimes),
        cmocka_unit_test(test_near_the_best),
        cmocka_unit_test(test_chain_reuses_two_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
