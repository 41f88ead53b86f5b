/* Sets of texts by their hashes, emptied by a new number of the set. */
#include "runtime/data/distinct.h"

#include "base/arena.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

/* A text of the set `set`; of an older set: free. */
typedef struct DistinctSlot {
    uint64_t hash, set;
} DistinctSlot;

struct DistinctRows {
    const Corpus *corpus;
    uint64_t set;
    size_t n, n_slots; /* a power of 2 */
    DistinctSlot *slots;
};

enum { LEAST_SLOTS = 1024 };

DistinctRows *distinct_new(const Corpus *corpus)
{
    DistinctRows *rows = memory_zeroed(1, sizeof *rows);
    rows->corpus = corpus;
    rows->n_slots = LEAST_SLOTS;
    rows->slots = memory_zeroed(rows->n_slots, sizeof *rows->slots);
    return rows;
}

void distinct_free(DistinctRows *rows)
{
    if (rows)
        free(rows->slots);
    free(rows);
}

void distinct_begin(DistinctRows *rows)
{
    rows->set++;
    rows->n = 0;
}

/* The slot that has the text, or is free for it. */
static DistinctSlot *find_text(const DistinctRows *rows, uint64_t hash)
{
    size_t at = hash_slot(&hash, sizeof hash) & (rows->n_slots - 1);
    while (rows->slots[at].set == rows->set && rows->slots[at].hash != hash)
        at = (at + 1) & (rows->n_slots - 1);
    return &rows->slots[at];
}

static void grow_set(DistinctRows *rows)
{
    DistinctSlot *old = rows->slots;
    const size_t n = rows->n_slots;
    rows->n_slots *= 2;
    rows->slots = memory_zeroed(rows->n_slots, sizeof *rows->slots);
    for (size_t i = 0; i < n; i++)
        if (old[i].set == rows->set)
            *find_text(rows, old[i].hash) = old[i];
    free(old);
}

static uint64_t hash_row(const Rows *rows, int64_t row, uint64_t side)
{
    return hash_bytes(hash_u64(HASH_SEED, side), rows->ids.data + rows->start[row],
                      (size_t)rows_length(rows, row) * sizeof(int32_t));
}

/* The hashes of a row's texts; returns how many. */
static int hash_texts(const Corpus *corpus, int64_t row, uint64_t hashes[MOST_VALUES])
{
    int n = 0;
    for (int k = 0; k < corpus_values(&corpus->options); k++)
        if (corpus_is_text(&corpus->options, k))
            hashes[n++] = hash_row(&corpus->values[k], row, (uint64_t)k);
    return n;
}

bool distinct_add(DistinctRows *rows, int64_t row)
{
    uint64_t hashes[MOST_VALUES];
    const int n = hash_texts(rows->corpus, row, hashes);
    for (int i = 0; i < n; i++)
        if (find_text(rows, hashes[i])->set == rows->set)
            return false;
    while (2 * (rows->n + (size_t)n) > rows->n_slots)
        grow_set(rows);
    for (int i = 0; i < n; i++)
        *find_text(rows, hashes[i]) = (DistinctSlot){hashes[i], rows->set};
    rows->n += (size_t)n;
    return true;
}
