/* Sorting a pool of rows by their lengths: by digits of the lengths, the least first, which keeps
 * the order of equal ones (radix sort, Seward 1954). Lengths are small, so that a pass or two
 * over the items do. */
#include "runtime/data/batch_items.h"

#include <string.h>

enum { DIGIT_BITS = 8, DIGIT_VALUES = 1 << DIGIT_BITS, KEY_BITS = 64, LENGTH_BITS = 32 };

typedef uint64_t ItemKey(const BatchItem *item, int32_t longest);

static uint64_t order_key(const BatchItem *item, int32_t longest)
{
    (void)longest;
    return (uint64_t)item->order;
}

static uint64_t length_key(const BatchItem *item, int32_t longest)
{
    const int32_t source = item->target % 2 ? longest - item->source : item->source;
    return (uint64_t)item->target << LENGTH_BITS | (uint64_t)source;
}

/* The bits in which keys differ; 0: they rise, as all items do that are sorted. */
static uint64_t differing_bits(const BatchItem *items, int64_t n, ItemKey *key, int32_t longest)
{
    const uint64_t first = key(&items[0], longest);
    uint64_t bits = 0, last = first;
    bool rises = true;
    for (int64_t i = 1; i < n; i++) {
        const uint64_t one = key(&items[i], longest);
        bits |= one ^ first;
        rises = rises && one >= last;
        last = one;
    }
    return rises ? 0 : bits;
}

static void sort_by_digit(const BatchItem *from, BatchItem *to, int64_t n, ItemKey *key,
                          int32_t longest, int shift)
{
    int64_t at[DIGIT_VALUES + 1] = {0};
    for (int64_t i = 0; i < n; i++)
        at[(key(&from[i], longest) >> shift) % DIGIT_VALUES + 1]++;
    for (int digit = 1; digit < DIGIT_VALUES; digit++)
        at[digit] += at[digit - 1];
    for (int64_t i = 0; i < n; i++)
        to[at[(key(&from[i], longest) >> shift) % DIGIT_VALUES]++] = from[i];
}

static void sort_by_key(BatchItem *items, int64_t n, BatchItem *spare, ItemKey *key,
                        int32_t longest)
{
    const uint64_t bits = differing_bits(items, n, key, longest);
    BatchItem *from = items, *to = spare;
    for (int shift = 0; shift < KEY_BITS; shift += DIGIT_BITS) {
        if (!((bits >> shift) % DIGIT_VALUES))
            continue;
        sort_by_digit(from, to, n, key, longest, shift);
        BatchItem *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != items)
        memcpy(items, from, (size_t)n * sizeof *items);
}

void batch_items_sort(BatchItem *items, int64_t n, BatchItem *spare)
{
    int32_t longest = 0;
    if (!n)
        return;
    for (int64_t i = 0; i < n; i++)
        longest = items[i].source > longest ? items[i].source : longest;
    sort_by_key(items, n, spare, order_key, longest);
    sort_by_key(items, n, spare, length_key, longest);
}
