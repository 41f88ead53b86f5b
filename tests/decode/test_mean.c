/* An ensemble against the mean of its members' softmax, computed here in double; its slots and
 * its searches. The members are random models whose logits depend on all that was fed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/map.h"
#include "runtime/decode/decode.h"
#include "runtime/decode/pick.h"
#include "runtime/decode/stepper.h"
#include "tests/decode/sources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More than one block of the mean, and a rest. */
enum { VOCAB = 1100, EOS = 0, BOS = 1, SLOTS = 16, MEMBERS = 3 };

typedef struct Fake {
    uint64_t salt, history[SLOTS];
    const Sources *sources;
    bool fresh[SLOTS], is_broken, fails;
    uint64_t before[SLOTS]; /* of each slot, before its last step */
    int32_t length[SLOTS], length_before[SLOTS];
    float *logits;
    int freed;
} Fake;

static Fake fakes[MEMBERS];

/* Of some tokens nothing is left, of others hardly anything. */
static void logits_of(uint64_t history, float *out)
{
    for (int i = 0; i < VOCAB; i++) {
        uint64_t h = hash_u64(history, (uint64_t)i);
        out[i] = (float)(h % 10007) / 10007.0f * 12.0f;
        if (h % 50 == 3)
            out[i] = -200 - (float)(h % 7);
        if (h % 50 == 4)
            out[i] = -INFINITY;
    }
}

static uint64_t start_history(const Fake *fake, const Tokens *source)
{
    return hash_u64(hash_u64(HASH_SEED, fake->salt), (uint64_t)source->ids[0]);
}

static bool fake_begin(void *self, const Sources *sources, int32_t n_slots)
{
    Fake *fake = self;
    assert_true(n_slots <= SLOTS);
    fake->sources = sources;
    for (int32_t i = 0; i < n_slots; i++) {
        fake->fresh[i] = true;
        fake->length[i] = 0;
    }
    return true;
}

static const float *fake_step(void *self, int32_t n, const int32_t *sentence, const int32_t *slot,
                              const int32_t *counts, const int32_t *tokens)
{
    Fake *fake = self;
    size_t fed = 0;
    if (fake->fails)
        return NULL;
    for (int32_t r = 0; r < n; r++) {
        fake->before[slot[r]] = fake->history[slot[r]];
        fake->length_before[slot[r]] = fake->length[slot[r]];
        fake->length[slot[r]] += counts ? counts[r] : 1;
    }
    for (int32_t r = 0; r < n; r++)
        for (int32_t k = counts ? counts[r] : 1; k > 0; k--, fed++) {
            uint64_t *history = &fake->history[slot[r]];
            fake->logits = realloc(fake->logits, sizeof(float) * VOCAB * (fed + 1));
            const Tokens source = text_of(fake->sources, sentence[r]);
            if (fake->fresh[slot[r]])
                *history = start_history(fake, &source);
            fake->fresh[slot[r]] = false;
            *history = hash_u64(*history, (uint64_t)tokens[fed]);
            logits_of(*history, fake->logits + fed * VOCAB);
        }
    if (fake->is_broken)
        fake->logits[3] = NAN;
    return fake->logits;
}

static bool fake_feed(void *self, int32_t n, const int32_t *sentence, const int32_t *slot,
                      const int32_t *counts, const int32_t *tokens)
{
    return fake_step(self, n, sentence, slot, counts, tokens) != NULL;
}

static int32_t fake_length(void *self, int32_t slot) { return ((Fake *)self)->length[slot]; }

/* Before the last step. */
static int32_t fake_roll_back(void *self, int32_t slot, int32_t length)
{
    Fake *fake = self;
    if (length < fake->length[slot]) {
        assert_int_equal(length, fake->length_before[slot]);
        fake->history[slot] = fake->before[slot];
        fake->fresh[slot] = !length;
        fake->length[slot] = length;
    }
    return length;
}

static void fake_copy(void *self, int32_t from, int32_t to)
{
    Fake *fake = self;
    fake->history[to] = fake->history[from];
    fake->fresh[to] = fake->fresh[from];
}

static void fake_free(void *self)
{
    Fake *fake = self;
    fake->freed++;
    free(fake->logits);
    fake->logits = NULL;
}

/* All of one salt: the same model. */
static Stepper ensemble(int n, bool same)
{
    Stepper members[MEMBERS], mean;
    for (int i = 0; i < n; i++) {
        fakes[i] = (Fake){.salt = same ? 7 : (uint64_t)i};
        members[i] = (Stepper){.self = &fakes[i],
                               .vocab = VOCAB,
                               .most_fed = STEPPER_MOST_FED,
                               .begin = fake_begin,
                               .step = fake_step,
                               .feed = fake_feed,
                               .copy = fake_copy,
                               .free = fake_free,
                               .length = fake_length,
                               .roll_back = fake_roll_back};
    }
    assert_true(stepper_mean_new(members, n, &mean));
    return mean;
}

static void end(Stepper *mean, int n)
{
    mean->free(mean->self);
    for (int i = 0; i < n; i++)
        assert_int_equal(fakes[i].freed, 1);
}

/* Mean probabilities of n members after a source and the tokens fed. */
static void expect(int n, const Tokens *source, const int32_t *fed, int n_fed, double *out)
{
    static float logits[VOCAB];
    memset(out, 0, sizeof(double) * VOCAB);
    for (int i = 0; i < n; i++) {
        uint64_t history = start_history(&fakes[i], source);
        for (int t = 0; t < n_fed; t++)
            history = hash_u64(history, (uint64_t)fed[t]);
        logits_of(history, logits);
        double total = 0;
        for (int v = 0; v < VOCAB; v++)
            total += exp(logits[v]);
        for (int v = 0; v < VOCAB; v++)
            out[v] += exp(logits[v]) / total / n;
    }
}

static void assert_row(const float *row, const double *probabilities)
{
    double total = pick_logsumexp(row, VOCAB);
    assert_true(fabs(total) < 1e-5);
    for (int v = 0; v < VOCAB; v++) {
        double expected = log(probabilities[v]);
        if (isinf(expected))
            assert_true(isinf(row[v]) && row[v] < 0);
        else
            assert_true(fabs(row[v] - expected) < 4e-6 * (1 + fabs(expected)));
    }
}

static void probabilities_are_means(void **state)
{
    (void)state;
    static double expected[VOCAB];
    const int32_t ids[2] = {11, 12};
    const Tokens sources[2] = {{&ids[0], 1}, {&ids[1], 1}};
    Arena *arena = arena_new();
    for (int n = 1; n <= MEMBERS; n++) {
        Stepper mean = ensemble(n, false);
        assert_int_equal(mean.vocab, VOCAB);
        assert_true(mean.begin(mean.self, pack_sources(arena, sources, 2), 4));
        const float *rows = mean.step(mean.self, 2, (int32_t[]){0, 1}, (int32_t[]){0, 2}, NULL,
                                      (int32_t[]){BOS, BOS});
        for (int r = 0; r < 2; r++) {
            expect(n, &sources[r], (int32_t[]){BOS}, 1, expected);
            assert_row(rows + r * VOCAB, expected);
        }
        /* The second sentence goes on in two slots. */
        mean.copy(mean.self, 2, 3);
        rows =
            mean.step(mean.self, 2, (int32_t[]){1, 1}, (int32_t[]){3, 2}, NULL, (int32_t[]){5, 6});
        for (int r = 0; r < 2; r++) {
            expect(n, &sources[1], (int32_t[]){BOS, 5 + r}, 2, expected);
            assert_row(rows + r * VOCAB, expected);
        }
        end(&mean, n);
    }
    arena_free(arena);
}

static DecodeSettings settings_for(bool sample)
{
    DecodeSettings settings = decode_defaults();
    settings.beam = 3;
    settings.nbest = 2;
    settings.length_factor = 0;
    settings.length_extra = 5;
    settings.bos = settings.forbidden[0] = BOS;
    settings.eos = EOS;
    settings.sample = sample;
    return settings;
}

static void searches_see_the_mean(void **state)
{
    (void)state;
    static double expected[VOCAB];
    const int32_t ids[2] = {21, 22};
    const Tokens sources[2] = {{&ids[0], 1}, {&ids[1], 1}};
    Arena *arena = arena_new();
    for (int sample = 0; sample < 2; sample++) {
        DecodeSettings settings = settings_for(sample);
        Stepper mean = ensemble(MEMBERS, false);
        Decoded decoded[2];
        assert_true(decode_batch(&mean, &settings, pack_sources(arena, sources, 2), NULL, NULL, 2,
                                 arena, decoded));
        for (int r = 0; r < 2; r++)
            for (int k = 0; k < decoded[r].n; k++) {
                const Hypothesis *h = &decoded[r].best[k];
                int32_t fed[8] = {BOS};
                double sum = 0;
                for (int t = 0; t <= h->n; t++) {
                    expect(MEMBERS, &sources[r], fed, t + 1, expected);
                    fed[t + 1] = t < h->n ? h->ids[t] : EOS;
                    sum += log(expected[fed[t + 1]]);
                }
                assert_true(fabs(h->log_probability - sum) < 1e-4);
            }
        end(&mean, MEMBERS);
    }
    arena_free(arena);
}

static void equal_members_are_one(void **state)
{
    (void)state;
    const int32_t id = 31;
    const Tokens source = {&id, 1};
    Arena *arena = arena_new();
    DecodeSettings settings = settings_for(false);
    Decoded one, two;
    for (int n = 1; n <= 2; n++) {
        Stepper mean = ensemble(n, true);
        assert_true(decode_batch(&mean, &settings, pack_sources(arena, &source, 1), NULL, NULL, 1,
                                 arena, n == 1 ? &one : &two));
        end(&mean, n);
    }
    assert_int_equal(one.n, two.n);
    for (int k = 0; k < one.n; k++) {
        assert_int_equal(one.best[k].n, two.best[k].n);
        assert_memory_equal(one.best[k].ids, two.best[k].ids,
                            sizeof(int32_t) * (size_t)one.best[k].n);
        assert_true(one.best[k].score == two.best[k].score);
    }
    arena_free(arena);
}

/* A member that gives no numbers spoils the row, not the process. */
static void no_numbers_no_results(void **state)
{
    (void)state;
    const int32_t id = 41;
    const Tokens source = {&id, 1};
    Arena *arena = arena_new();
    DecodeSettings settings = settings_for(false);
    Stepper mean = ensemble(2, false);
    fakes[1].is_broken = true;
    Decoded decoded;
    assert_true(decode_batch(&mean, &settings, pack_sources(arena, &source, 1), NULL, NULL, 1,
                             arena, &decoded));
    assert_int_equal(decoded.n, 0);
    end(&mean, 2);
    arena_free(arena);
}

/* If a member fails, the others take back what they were fed, and the same step can follow. */
static void a_failed_step_feeds_nothing(void **state)
{
    (void)state;
    static double expected[VOCAB];
    const int32_t id = 51, sentence = 0, slot = 1, begin = BOS, fed[2] = {5, 6}, two = 2;
    const Tokens source = {&id, 1};
    Arena *arena = arena_new();
    for (int broken = 0; broken < MEMBERS; broken++) {
        Stepper mean = ensemble(MEMBERS, false);
        assert_true(mean.begin(mean.self, pack_sources(arena, &source, 1), 2));
        assert_non_null(mean.step(mean.self, 1, &sentence, &slot, NULL, &begin));
        fakes[broken].fails = true;
        assert_null(mean.step(mean.self, 1, &sentence, &slot, &two, fed));
        assert_false(mean.feed(mean.self, 1, &sentence, &slot, &two, fed));
        assert_int_equal(mean.length(mean.self, slot), 1);
        fakes[broken].fails = false;
        const float *rows = mean.step(mean.self, 1, &sentence, &slot, &two, fed);
        expect(MEMBERS, &source, (int32_t[]){BOS, 5, 6}, 3, expected);
        assert_row(rows + VOCAB, expected);
        end(&mean, MEMBERS);
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probabilities_are_means),     cmocka_unit_test(searches_see_the_mean),
        cmocka_unit_test(equal_members_are_one),       cmocka_unit_test(no_numbers_no_results),
        cmocka_unit_test(a_failed_step_feeds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
