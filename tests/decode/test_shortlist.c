/* Shortlists: the tokens of a batch and of each sentence, against sets made here; and decoding over
 * them, against decoding over the whole vocabulary with all other tokens at -inf. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/map.h"
#include "runtime/decode/decode.h"
#include "runtime/decode/decode_shortlist.h"
#include "tests/decode/sources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCES = 40, TARGETS = 60, EACH = 3, SENTENCES = 5, LENGTH = 4, SLOTS = 64 };
enum { BOS = 50, EOS = 51, UNK = 52, FIRST = 2 };

static int32_t start[SOURCES + 1], candidates[SOURCES * EACH];
static ShortlistCount counted;
static const Shortlist table = {SOURCES,     TARGETS,          FIRST,   start, candidates,
                                "shortlist", &shortlist_calls, &counted};
static int32_t words[SENTENCES][LENGTH];
static Tokens sources[SENTENCES];

/* Source tokens below 10 have no candidates. */
static void fill_table(uint64_t seed)
{
    int32_t n = 0;
    for (int32_t s = 0; s < SOURCES; s++) {
        start[s] = n;
        for (int k = 0; s >= 10 && k < EACH; k++)
            candidates[n++] = (int32_t)(hash_u64(hash_u64(seed, (uint64_t)s), (uint64_t)k) % BOS);
    }
    start[SOURCES] = n;
    for (int i = 0; i < SENTENCES; i++) {
        for (int k = 0; k < LENGTH; k++) /* some of them are outside the table */
            words[i][k] = (int32_t)(hash_u64(hash_u64(seed, 99), (uint64_t)(i * LENGTH + k)) %
                                    (SOURCES + 5)) -
                          1;
        sources[i] = (Tokens){words[i], i};
    }
}

static const int32_t forced[] = {7, 7};
static const Tokens prefixes[SENTENCES] = {{NULL, 0}, {forced, 1}, {NULL, 0}, {forced, 2}};

/* Whether a sentence may use a target token, common ones left out. */
static bool is_candidate(int sentence, int32_t id)
{
    bool found = id < FIRST;
    for (int k = 0; k < prefixes[sentence].n; k++)
        found = found || prefixes[sentence].ids[k] == id;
    for (int k = 0; k < sources[sentence].n; k++) {
        int32_t word = words[sentence][k];
        for (int32_t c = word >= 0 && word < SOURCES ? start[word] : 0;
             word >= 0 && word < SOURCES && c < start[word + 1]; c++)
            found = found || candidates[c] == id;
    }
    return found;
}

static bool is_needed(const int32_t *needed, int n, int32_t id)
{
    bool found = false;
    for (int i = 0; i < n; i++)
        found = found || needed[i] == id;
    return found;
}

static void test_tokens_of_a_batch(void **state)
{
    (void)state;
    static const int32_t needed[] = {BOS, -1, EOS, 9, TARGETS, 9};
    const int n_needed = sizeof needed / sizeof *needed;
    ShortlistBatch batch = {0};
    for (uint64_t seed = 1; seed < 30; seed++) {
        const int32_t n = (int32_t)(seed % (SENTENCES + 1));
        int32_t count = 0;
        fill_table(seed);
        const TokenNeeds needs = {n, n_needed, sources, prefixes, needed};
        assert_true(shortlist_choose(&table, &needs, &batch));
        const ChosenTokens *chosen = &batch.chosen;
        for (int32_t id = 0; id < TARGETS; id++) {
            bool common = is_needed(needed, n_needed, id) || id < FIRST, any = common;
            int32_t place = shortlist_place(chosen->list, chosen->n, id);
            for (int i = 0; i < n; i++)
                any = any || is_candidate(i, id);
            assert_int_equal(place, any ? count : -1);
            for (int i = 0; any && i < n; i++)
                assert_int_equal(chosen->may[i * chosen->n + place], common || is_candidate(i, id));
            count += any;
        }
        assert_int_equal(chosen->n, count);
    }
    shortlist_free_batch(&batch);
}

/* ---- decoding ---- */

/* A model of random logits that depend on all tokens fed, by their ids. */
typedef struct Fake {
    uint64_t history[SLOTS];
    ShortlistBatch batch;
    bool is_narrow;
    float *logits;
} Fake;

static bool fake_begin(void *self, const Sources *given, int32_t n_slots)
{
    Fake *fake = self;
    (void)given;
    assert_true(n_slots <= SLOTS);
    for (int i = 0; i < n_slots; i++)
        fake->history[i] = HASH_SEED;
    return true;
}

static const float *fake_step(void *self, int32_t n, const int32_t *sentence, const int32_t *slot,
                              const int32_t *counts, const int32_t *tokens)
{
    Fake *fake = self;
    const int32_t width = fake->is_narrow ? fake->batch.chosen.n : TARGETS;
    int32_t total = 0, at = 0;
    for (int32_t r = 0; r < n; r++)
        total += counts ? counts[r] : 1;
    fake->logits = realloc(fake->logits, sizeof(float) * (size_t)(total * width));
    for (int32_t r = 0; r < n; r++)
        for (int32_t k = 0; k < (counts ? counts[r] : 1); k++, at++) {
            uint64_t *history = &fake->history[slot[r]];
            int32_t token = fake->is_narrow ? fake->batch.list[tokens[at]] : tokens[at];
            *history = hash_u64(*history, (uint64_t)token);
            for (int32_t i = 0; i < width; i++) {
                int32_t id = fake->is_narrow ? fake->batch.list[i] : i;
                bool may = is_candidate(sentence[r], id) || id == BOS || id == EOS;
                float logit = (float)(hash_u64(*history, (uint64_t)id) % 1000) / 100;
                fake->logits[at * width + i] = may || fake->is_narrow ? logit : -INFINITY;
            }
        }
    return fake->logits;
}

static bool fake_feed(void *self, int32_t n, const int32_t *sentence, const int32_t *slot,
                      const int32_t *counts, const int32_t *tokens)
{
    return fake_step(self, n, sentence, slot, counts, tokens) != NULL;
}

static void fake_copy(void *self, int32_t from, int32_t to)
{
    Fake *fake = self;
    fake->history[to] = fake->history[from];
}

static bool fake_choose(void *self, const TokenNeeds *needs, ChosenTokens *out)
{
    Fake *fake = self;
    bool ok = shortlist_choose(&table, needs, &fake->batch);
    *out = fake->batch.chosen;
    return ok;
}

static void compare_decoding(const DecodeSettings *settings)
{
    Fake wide = {.is_narrow = false}, narrow = {.is_narrow = true};
    Stepper steppers[] = {{.self = &wide,
                           .vocab = TARGETS,
                           .most_fed = STEPPER_MOST_FED,
                           .begin = fake_begin,
                           .step = fake_step,
                           .feed = fake_feed,
                           .copy = fake_copy},
                          {.self = &narrow,
                           .vocab = TARGETS,
                           .most_fed = STEPPER_MOST_FED,
                           .begin = fake_begin,
                           .step = fake_step,
                           .feed = fake_feed,
                           .copy = fake_copy,
                           .choose = fake_choose,
                           .calls = &shortlist_calls}};
    Decoded results[2][SENTENCES];
    Arena *arena = arena_new();
    for (int k = 0; k < 2; k++)
        assert_true(decode_batch(&steppers[k], settings, pack_sources(arena, sources, SENTENCES),
                                 NULL, NULL, SENTENCES, arena, results[k]));
    for (int i = 0; i < SENTENCES; i++) {
        assert_int_equal(results[0][i].n, results[1][i].n);
        for (int k = 0; k < results[0][i].n; k++) {
            const Hypothesis *a = &results[0][i].best[k], *b = &results[1][i].best[k];
            assert_int_equal(a->n, b->n);
            assert_memory_equal(a->ids, b->ids, sizeof *a->ids * (size_t)a->n);
            assert_true(fabs(a->log_probability - b->log_probability) < 1e-4);
        }
    }
    arena_free(arena);
    shortlist_free_batch(&narrow.batch);
    free(wide.logits);
    free(narrow.logits);
}

static void test_decoding(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 20; seed++) {
        DecodeSettings s = decode_defaults();
        fill_table(seed);
        s.bos = BOS;
        s.eos = EOS;
        s.forbidden[0] = BOS;
        s.forbidden[1] = UNK; /* in no list */
        s.length_extra = 6;
        s.beam = 1 + (int32_t)(seed % 4);
        s.nbest = s.beam;
        s.prefixes = prefixes;
        if (seed % 3 == 0)
            s.no_repeat_ngram = 2;
        if (seed % 5 == 0)
            s.repetition_penalty = 1.5;
        compare_decoding(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens_of_a_batch),
        cmocka_unit_test(test_decoding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
