/* Choosing tokens of a row, and what they become. */
#include "runtime/data/hiding.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/philox.h"

#include <stdlib.h>

struct Hiding {
    const ColumnSpec *spec;
    const Vocabulary *vocab;
    uint64_t seed;
    bool *is_special;  /* of each id */
    int32_t *ordinary; /* the ids that are not special */
    int64_t n_ordinary;
};

Hiding *hiding_new(const ColumnSpec *spec, const Vocabulary *vocab, uint64_t seed)
{
    const int32_t n = vocab_size(vocab);
    Hiding *hiding = memory_zeroed(1, sizeof *hiding);
    *hiding = (Hiding){.spec = spec,
                       .vocab = vocab,
                       .seed = seed,
                       .is_special = memory_zeroed((size_t)n, sizeof *hiding->is_special),
                       .ordinary = memory_zeroed((size_t)n, sizeof *hiding->ordinary)};
    for (int32_t id = 0; id < n; id++) {
        hiding->is_special[id] = vocab_is_special(vocab, id);
        if (!hiding->is_special[id])
            hiding->ordinary[hiding->n_ordinary++] = id;
    }
    return hiding;
}

void hiding_free(Hiding *hiding)
{
    if (!hiding)
        return;
    free(hiding->is_special);
    free(hiding->ordinary);
    free(hiding);
}

/* Where a row is: what its random numbers are drawn by. */
typedef struct HiddenRow {
    uint32_t key[2];
    int64_t row;
} HiddenRow;

static HiddenRow place_row(const Hiding *hiding, int64_t row, int64_t use)
{
    const uint64_t key = hash_string(hash_u64(hash_u64(HASH_SEED, hiding->seed), (uint64_t)use),
                                     hiding->spec->input);
    return (HiddenRow){{(uint32_t)key, (uint32_t)(key >> 32)}, row};
}

static void draw_hidden(const HiddenRow *at, int64_t position, uint32_t out[4])
{
    const uint32_t counter[4] = {(uint32_t)position, (uint32_t)at->row,
                                 (uint32_t)((uint64_t)at->row >> 32), 0};
    philox4x32(counter, at->key, out);
}

static double in_unit(uint32_t random) { return (double)random * 0x1p-32; }

static int32_t hidden_as(const Hiding *hiding, int32_t id, const uint32_t random[4])
{
    const HideRule *rule = &hiding->spec->hide;
    const double how = in_unit(random[1]);
    if (how < rule->keep)
        return id;
    if (how < rule->keep + rule->random && hiding->n_ordinary)
        return hiding->ordinary[(uint64_t)random[2] * (uint64_t)hiding->n_ordinary >> 32];
    return vocab_rules(hiding->vocab)->mask;
}

/* Whether the token of position i begins a word of its own. */
static bool begins_word(const Hiding *hiding, const int32_t *ids, int64_t i)
{
    return i == 0 || !hiding->spec->hide.whole_words || hiding->is_special[ids[i - 1]] ||
           vocab_begins_word(hiding->vocab, ids[i - 1], ids[i]);
}

void hiding_row(const Hiding *hiding, int64_t row, int64_t use, int32_t *ids, int64_t n,
                int32_t *labels)
{
    const HiddenRow at = place_row(hiding, row, use);
    bool is_chosen = false;
    for (int64_t i = 0; i < n; i++) {
        uint32_t random[4];
        draw_hidden(&at, i, random);
        if (begins_word(hiding, ids, i))
            is_chosen = in_unit(random[0]) < hiding->spec->hide.rate;
        labels[i] =
            is_chosen && !hiding->is_special[ids[i]] ? hidden_as(hiding, ids[i], random) : -1;
    }
    for (int64_t i = 0; i < n; i++) {
        const int32_t shown = labels[i];
        if (shown >= 0) {
            labels[i] = ids[i];
            ids[i] = shown;
        }
    }
}
