/* The slab planner: nothing that lives together overlaps, the total is exact and
 * between the obvious bounds, and small cases are as good as the best order. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/exec/slab.h"

#include <stdbool.h>
#include <stdlib.h>

static uint32_t seed;

static int64_t random_below(int64_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (int64_t)(seed >> 8) % n;
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
            alive +=
                items[i].first <= step && step <= items[i].last ? slab_aligned(items[i].bytes) : 0;
        most = alive > most ? alive : most;
    }
    return most;
}

static void check(const SlabItem *items, int n, int64_t total)
{
    int64_t end = 0;
    for (int i = 0; i < n; i++) {
        assert_true(items[i].offset >= 0 && items[i].offset % SLAB_ALIGN == 0);
        int64_t stop = items[i].offset + slab_aligned(items[i].bytes);
        end = stop > end ? stop : end;
        for (int j = 0; j < i; j++)
            if (live_together(&items[i], &items[j]))
                assert_true(stop <= items[j].offset ||
                            items[j].offset + slab_aligned(items[j].bytes) <= items[i].offset);
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
            sum += slab_aligned(items[i].bytes);
        assert_true(total >= lower_bound(items, n, steps) && total <= sum);
        seed = kept;
    }
}

/* ---- many items: the plan is that of the definition ---- */

enum { MANY = 3000 };

static int larger_first(const void *a, const void *b)
{
    const SlabItem *x = *(SlabItem *const *)a, *y = *(SlabItem *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x < y ? -1 : x > y;
}

/* The lowest place of the last of these items that is free during its life. */
static int64_t lowest_place(SlabItem *const *placed, int n, const SlabItem *item)
{
    int64_t offset = 0;
    for (int i = 0; i < n; i++) {
        const SlabItem *other = placed[i];
        if (live_together(item, other) && other->offset < offset + slab_aligned(item->bytes) &&
            offset < other->offset + slab_aligned(other->bytes)) {
            offset = other->offset + slab_aligned(other->bytes);
            i = -1;
        }
    }
    return offset;
}

/* Lives as in training: half of the items wait from a layer's forward for its backward. */
static void fill_layers(SlabItem *items, int n, int32_t steps)
{
    for (int i = 0; i < n; i++) {
        int32_t first = (int32_t)random_below(steps / 2);
        items[i] = (SlabItem){.bytes = 64 * (1 + random_below(6)), .first = first, .offset = -1};
        items[i].last = i % 2 ? steps - 1 - first : first + (int32_t)random_below(6);
    }
}

static void test_many_items(void **state)
{
    (void)state;
    SlabItem *items = calloc(MANY, sizeof *items), **order = calloc(MANY, sizeof *order);
    assert_true(items && order);
    for (int round = 0; round < 4; round++) {
        int32_t steps = round == 3 ? 40 : 2000;
        seed = 1 + (uint32_t)round;
        if (round % 2)
            fill_items(items, MANY, 1000, steps);
        else
            fill_layers(items, MANY, steps);
        slab_plan(items, MANY);
        for (int i = 0; i < MANY; i++)
            order[i] = &items[i];
        qsort(order, MANY, sizeof *order, larger_first);
        for (int i = 0; i < MANY; i += 1 + (int)random_below(40))
            assert_int_equal(order[i]->offset, lowest_place(order, i, order[i]));
    }
    free(items);
    free(order);
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
                    item.offset < items[j].offset + slab_aligned(items[j].bytes) &&
                    items[j].offset < item.offset + slab_aligned(item.bytes)) {
                    item.offset = items[j].offset + slab_aligned(items[j].bytes);
                    moved = true;
                }
        }
        items[placed] = item;
        int64_t end = item.offset + slab_aligned(item.bytes);
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
        cmocka_unit_test(test_many_items),
        cmocka_unit_test(test_near_the_best),
        cmocka_unit_test(test_chain_reuses_two_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
