/* Beam search against brute force on a random model whose logits depend on the
 * whole history (so that a slot copied wrongly shows), and the promises of
 * decode.h: independence of the batch, n-best order, sampling. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/map.h"
#include "runtime/decode/decode.h"
#include "runtime/decode/pick.h"
#include "tests/decode/sources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VOCAB = 5, EOS = 0, BOS = 4, MAX_SLOTS = 4096 };

typedef struct Fake {
    uint64_t history[MAX_SLOTS]; /* hash of the source and all tokens fed */
    bool fresh[MAX_SLOTS];
    const Sources *sources;
    float *logits;
    int steps, tokens;
} Fake;

static void logits_of(uint64_t history, float *out)
{
    for (int i = 0; i < VOCAB; i++) {
        uint64_t h = hash_u64(history, (uint64_t)i);
        out[i] = (float)(h % 10007) / 10007.0f * 4.0f;
    }
}

static uint64_t start_history(const Tokens *source)
{
    return hash_bytes(HASH_SEED, source->ids, (size_t)source->n * sizeof(int32_t));
}

static bool fake_begin(void *self, const Sources *sources, int32_t n_slots)
{
    Fake *fake = self;
    assert_true(n_slots <= MAX_SLOTS);
    fake->sources = sources;
    for (int32_t i = 0; i < n_slots; i++)
        fake->fresh[i] = true;
    return true;
}

static const float *fake_step(void *self, int32_t n, const int32_t *sentence, const int32_t *slot,
                              const int32_t *counts, const int32_t *tokens)
{
    Fake *fake = self;
    size_t fed = 0;
    for (int32_t r = 0; r < n; r++)
        for (int32_t k = counts ? counts[r] : 1; k > 0; k--, fed++) {
            fake->logits = realloc(fake->logits, sizeof(float) * VOCAB * (fed + 1));
            const Tokens source = fake->sources ? text_of(fake->sources, sentence[r]) : (Tokens){0};
            if (fake->fresh[slot[r]])
                fake->history[slot[r]] = start_history(&source);
            fake->fresh[slot[r]] = false;
            fake->history[slot[r]] = hash_u64(fake->history[slot[r]], (uint64_t)tokens[fed]);
            logits_of(fake->history[slot[r]], fake->logits + fed * VOCAB);
        }
    fake->steps++;
    fake->tokens += (int)fed;
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
    fake->fresh[to] = fake->fresh[from];
}

static Fake fake;
static Stepper fake_stepper(void)
{
    return (Stepper){.self = &fake,
                     .vocab = VOCAB,
                     .most_fed = STEPPER_MOST_FED,
                     .begin = fake_begin,
                     .step = fake_step,
                     .feed = fake_feed,
                     .copy = fake_copy};
}

static DecodeSettings settings_for(int beam, int longest, double alpha)
{
    DecodeSettings settings = decode_defaults();
    settings.beam = beam;
    settings.length_penalty = alpha;
    settings.length_factor = 0;
    settings.length_extra = longest;
    settings.bos = settings.forbidden[0] = BOS;
    settings.eos = EOS;
    return settings;
}

typedef struct Best {
    double score;
    int n;
    int32_t ids[8];
} Best;

static void brute_force(uint64_t history, int32_t token, double log_probability, int32_t *ids,
                        int n, int longest, double alpha, Best *best)
{
    history = hash_u64(history, (uint64_t)token);
    float logits[VOCAB];
    logits_of(history, logits);
    double total = 0;
    for (int i = 0; i < VOCAB; i++)
        total += exp(logits[i]);
    total = log(total);
    double ended = log_probability + logits[EOS] - total;
    double score = ended / decode_length_penalty(alpha, n + 1);
    if (score > best->score) {
        best->score = score;
        best->n = n;
        memcpy(best->ids, ids, sizeof(int32_t) * (size_t)n);
    }
    for (int next = 1; n < longest && next < BOS; next++) {
        ids[n] = next;
        brute_force(history, next, log_probability + logits[next] - total, ids, n + 1, longest,
                    alpha, best);
    }
}

static void beam_finds_the_best(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    Stepper stepper = fake_stepper();
    for (int trial = 0; trial < 50; trial++) {
        const double alpha = trial % 2 ? 0 : 0.6;
        const int longest = 4;
        int32_t ids[2] = {trial, 7};
        Tokens source = {ids, 2};
        /* 1 + 3 + 9 + 27 + 81 sequences: a beam of 128 sees them all */
        DecodeSettings settings = settings_for(128, longest, alpha);
        Decoded decoded;
        assert_true(decode_batch(&stepper, &settings, pack_sources(arena, &source, 1), NULL, NULL,
                                 1, arena, &decoded));
        Best best = {.score = -INFINITY};
        int32_t path[8];
        brute_force(start_history(&source), BOS, 0, path, 0, longest, alpha, &best);
        assert_int_equal(decoded.n, 1);
        assert_int_equal(decoded.best[0].n, best.n);
        assert_memory_equal(decoded.best[0].ids, best.ids, sizeof(int32_t) * (size_t)best.n);
        assert_true(fabs(decoded.best[0].score - best.score) < 1e-5);
    }
    arena_free(arena);
}

/* The log-probability of a result, by feeding it again. */
static double rescore(const Tokens *source, const Hypothesis *hypothesis)
{
    uint64_t history = hash_u64(start_history(source), BOS);
    double sum = 0;
    for (int32_t i = 0; i <= hypothesis->n; i++) {
        float logits[VOCAB];
        logits_of(history, logits);
        int32_t token = i < hypothesis->n ? hypothesis->ids[i] : EOS;
        sum += logits[token] - pick_logsumexp(logits, VOCAB);
        history = hash_u64(history, (uint64_t)token);
    }
    return sum;
}

static void batches_do_not_matter(void **state)
{
    (void)state;
    enum { N = 40 };
    Arena *arena = arena_new();
    Stepper stepper = fake_stepper();
    int32_t ids[N];
    Tokens sources[N];
    int64_t numbers[N];
    for (int i = 0; i < N; i++) {
        ids[i] = i * 31;
        sources[i] = (Tokens){&ids[i], 1};
        numbers[i] = i;
    }
    for (int sample = 0; sample < 2; sample++) {
        DecodeSettings settings = settings_for(3, 9, 0.6);
        settings.nbest = 3;
        settings.sample = sample;
        settings.seed = 5;
        Decoded together[N];
        assert_true(decode_batch(&stepper, &settings, pack_sources(arena, sources, N), NULL,
                                 numbers, N, arena, together));
        for (int i = 0; i < N; i++) {
            Decoded alone;
            assert_true(decode_batch(&stepper, &settings, pack_sources(arena, &sources[i], 1), NULL,
                                     &numbers[i], 1, arena, &alone));
            assert_int_equal(alone.n, together[i].n);
            assert_true(alone.n >= 1 && alone.n <= 3);
            for (int k = 0; k < alone.n; k++) {
                const Hypothesis *a = &alone.best[k], *b = &together[i].best[k];
                assert_int_equal(a->n, b->n);
                assert_memory_equal(a->ids, b->ids, sizeof(int32_t) * (size_t)a->n);
                assert_true(a->score == b->score);
                assert_true(k == 0 || a->score <= alone.best[k - 1].score);
                assert_true(fabs(a->log_probability - rescore(&sources[i], a)) < 1e-5);
                double sum = 0;
                for (int t = 0; t < a->n_each; t++)
                    sum += a->each[t];
                assert_int_equal(a->n_each, a->n + 1);
                assert_true(sum == a->log_probability);
            }
        }
    }
    arena_free(arena);
}

/* Forced beginnings and rules against repetition, in a beam and in samples. */
static void rules_hold(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    Stepper stepper = fake_stepper();
    const int32_t begin[3] = {2, 3, 2};
    for (int trial = 0; trial < 40; trial++) {
        int32_t id = trial;
        Tokens source = {&id, 1}, prefix = {begin, trial % 4};
        DecodeSettings settings = settings_for(3, 8, 0.6);
        settings.sample = trial % 8 >= 4;
        settings.nbest = settings.best_of = 3;
        settings.prefixes = &prefix;
        settings.no_repeat_ngram = 2;
        Decoded decoded;
        assert_true(decode_batch(&stepper, &settings, pack_sources(arena, &source, 1), NULL, NULL,
                                 1, arena, &decoded));
        assert_true(decoded.n >= 1);
        for (int k = 0; k < decoded.n; k++) {
            const Hypothesis *h = &decoded.best[k];
            assert_true(h->n >= prefix.n);
            assert_memory_equal(h->ids, begin, sizeof(int32_t) * (size_t)prefix.n);
            assert_true(fabs(h->log_probability - rescore(&source, h)) < 1e-5);
            for (int i = 0; i + 1 < h->n; i++)
                for (int j = 0; j < i; j++)
                    assert_false(h->ids[i] == h->ids[j] && h->ids[i + 1] == h->ids[j + 1]);
        }
    }
    arena_free(arena);
}

/* Without an end, each token once: after all of them an answer ends where it is, a longer limit or
 * not. */
static void an_answer_without_a_token_left_ends(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    Stepper stepper = fake_stepper();
    for (int32_t trial = 0; trial < 20; trial++) {
        int32_t ids[2] = {trial, trial + 100};
        const int32_t limits[2] = {2, 10};
        Tokens sources[2] = {{&ids[0], 1}, {&ids[1], 1}};
        _Atomic int64_t n_stuck = 0;
        DecodeSettings settings = settings_for(trial % 3 + 1, 10, 0.6);
        settings.sample = trial % 2;
        settings.limits = limits;
        settings.until_eos = false;
        settings.no_repeat_ngram = 1;
        settings.n_stuck = &n_stuck;
        Decoded decoded[2];
        assert_true(decode_batch(&stepper, &settings, pack_sources(arena, sources, 2), NULL, NULL,
                                 2, arena, decoded));
        for (int s = 0; s < 2; s++) {
            const Hypothesis *h = decoded[s].best;
            double sum = 0;
            assert_true(decoded[s].n >= 1);
            assert_int_equal(h->n, s ? VOCAB - 1 : 2);
            assert_int_equal(h->is_stuck, s);
            assert_int_equal(h->n_each, h->n);
            for (int t = 0; t < h->n; t++)
                sum += h->each[t];
            assert_true(fabs(sum - h->log_probability) < 1e-9);
        }
        assert_int_equal(n_stuck, 1);
    }
    arena_free(arena);
}

static void best_tokens_are_allowed_and_of_equal_ones_the_lower_first(void **state)
{
    (void)state;
    static const float logits[] = {1, 3, 2, 3, 3, 0, NAN, 3, 2};
    enum { N = sizeof logits / sizeof *logits, K = 5 };
    static const int32_t expected[] = {1, 3, 4, 7, 2};
    Candidate best[K];
    assert_int_equal(pick_best(logits, N, (const int32_t[]){-1, -1, -1, -1}, K, best), K);
    for (int i = 0; i < K; i++)
        assert_int_equal(best[i].token, expected[i]);
    for (int place = 0; place < 4; place++) {
        int32_t forbidden[4] = {-1, -1, -1, -1};
        forbidden[place] = expected[0];
        assert_int_equal(pick_best(logits, N, forbidden, K, best), K);
        assert_int_equal(best[0].token, expected[1]);
    }
}

/* lp(n) = (5 + n)^α / (5 + 1)^α: Wu et al. 2016, equation 14. */
static void length_penalty_is_that_of_the_paper(void **state)
{
    (void)state;
    for (int n = 1; n < 40; n += 6)
        for (double alpha = -0.6; alpha < 1.5; alpha += 0.6)
            assert_true(fabs(decode_length_penalty(alpha, n) / (pow(5 + n, alpha) / pow(6, alpha)) -
                             1) < 1e-12);
    assert_true(decode_length_penalty(0.6, 1) == 1 && decode_length_penalty(1, 7) == 2);
}

/* Each alternative is the search whose prefix has one token more, the most probable first. */
static void alternatives_go_on_from_each_token(void **state)
{
    (void)state;
    enum { K = 5 }; /* of four tokens that are allowed */
    Arena *arena = arena_new();
    Stepper stepper = fake_stepper();
    const int32_t begin[3] = {2, 3, 2};
    for (int32_t trial = 0; trial < 20; trial++) {
        int32_t ids[2] = {trial, trial + 100};
        Tokens sources[2] = {{&ids[0], 1}, {&ids[1], 1}},
               prefixes[2] = {{begin, trial % 4}, {begin, 1}};
        DecodeSettings settings = settings_for(trial % 3 + 1, 6, 0.6);
        settings.prefixes = prefixes;
        settings.alternatives = K;
        Decoded decoded[2];
        assert_true(decode_batch(&stepper, &settings, pack_sources(arena, sources, 2), NULL, NULL,
                                 2, arena, decoded));
        settings.alternatives = 0;
        for (int s = 0; s < 2; s++) {
            int32_t n = prefixes[s].n, forced[4];
            memcpy(forced, begin, sizeof begin);
            assert_int_equal(decoded[s].n, VOCAB - 1);
            for (int k = 0; k < decoded[s].n; k++) {
                const Hypothesis *h = &decoded[s].best[k];
                assert_true(!k || h->each[n] <= decoded[s].best[k - 1].each[n]);
                for (int other = 0; other < k; other++) { /* each goes on with another token */
                    const Hypothesis *before = &decoded[s].best[other];
                    assert_true((before->n > n ? before->ids[n] : EOS) !=
                                (h->n > n ? h->ids[n] : EOS));
                }
                assert_true(fabs(h->log_probability - rescore(&sources[s], h)) < 1e-5);
                if (h->n == n)
                    continue; /* it ended at once */
                Tokens longer = {forced, n + 1};
                forced[n] = h->ids[n];
                settings.prefixes = &longer;
                Decoded alone;
                assert_true(decode_batch(&stepper, &settings, pack_sources(arena, &sources[s], 1),
                                         NULL, NULL, 1, arena, &alone));
                assert_int_equal(alone.best[0].n, h->n);
                assert_memory_equal(alone.best[0].ids, h->ids, sizeof(int32_t) * (size_t)h->n);
                assert_true(alone.best[0].score == h->score);
            }
        }
    }
    arena_free(arena);
}

/* The second token after a forced first one, whose logit the penalty divides. */
static void penalty_is_that_of_the_paper(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    Stepper stepper = fake_stepper();
    for (int32_t trial = 0; trial < 20; trial++) {
        Tokens source = {&trial, 1}, prefix = {(const int32_t[]){2, 2}, 2};
        DecodeSettings settings = settings_for(1, 2, 0);
        settings.prefixes = &prefix;
        settings.repetition_penalty = 1.5;
        Decoded decoded;
        assert_true(decode_batch(&stepper, &settings, pack_sources(arena, &source, 1), NULL, NULL,
                                 1, arena, &decoded));
        uint64_t history = hash_u64(start_history(&source), BOS);
        double expected = 0;
        for (int i = 0; i < 3; i++) {
            float logits[VOCAB];
            int32_t token = i < 2 ? 2 : EOS;
            logits_of(history, logits);
            if (i)
                logits[2] /= 1.5f;
            expected += logits[token] - pick_logsumexp(logits, VOCAB);
            history = hash_u64(history, (uint64_t)token);
        }
        assert_true(fabs(decoded.best[0].log_probability - expected) < 1e-5);
    }
    arena_free(arena);
}

static void greedy_takes_the_most_probable(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    Stepper stepper = fake_stepper();
    for (int trial = 0; trial < 20; trial++) {
        int32_t id = trial;
        Tokens source = {&id, 1};
        DecodeSettings settings = settings_for(1, 6, 0);
        Decoded decoded, sampled;
        assert_true(decode_batch(&stepper, &settings, pack_sources(arena, &source, 1), NULL, NULL,
                                 1, arena, &decoded));
        uint64_t history = hash_u64(start_history(&source), BOS);
        for (int32_t i = 0; i < decoded.best[0].n; i++) {
            float logits[VOCAB];
            logits_of(history, logits);
            for (int next = 0; next < BOS; next++)
                assert_true(logits[next] <= logits[decoded.best[0].ids[i]]);
            history = hash_u64(history, (uint64_t)decoded.best[0].ids[i]);
        }
        settings.sample = true; /* temperature 0 is greedy too */
        settings.temperature = 0;
        assert_true(decode_batch(&stepper, &settings, pack_sources(arena, &source, 1), NULL, NULL,
                                 1, arena, &sampled));
        assert_int_equal(sampled.best[0].n, decoded.best[0].n);
        assert_memory_equal(sampled.best[0].ids, decoded.best[0].ids,
                            sizeof(int32_t) * (size_t)decoded.best[0].n);
    }
    arena_free(arena);
}

static void prompts_are_fed_first(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    Stepper stepper = fake_stepper();
    enum { N = 1200 };
    int32_t id = 3, prompt_ids[N];
    for (int i = 0; i < N; i++)
        prompt_ids[i] = i * i % BOS;
    Tokens source = {&id, 1}, prompt = {prompt_ids, N};
    DecodeSettings settings = settings_for(1, 1, 0);
    settings.until_eos = false;
    settings.sample = true;
    settings.nbest = 4;
    Decoded decoded;
    fake.steps = 0;
    assert_true(decode_batch(&stepper, &settings, pack_sources(arena, &source, 1), &prompt, NULL, 1,
                             arena, &decoded));
    assert_int_equal(fake.steps, N / STEPPER_MOST_FED + 3); /* the last feeds what was drawn */
    assert_int_equal(decoded.n, 4);
    uint64_t history = hash_u64(start_history(&source), BOS);
    for (int i = 0; i < N; i++)
        history = hash_u64(history, (uint64_t)prompt_ids[i]);
    float logits[VOCAB];
    logits_of(history, logits);
    for (int k = 0; k < 4; k++) {
        assert_int_equal(decoded.best[k].n, 1);
        double expected = logits[decoded.best[k].ids[0]] - pick_logsumexp(logits, VOCAB);
        assert_true(fabs(decoded.best[k].log_probability - expected) < 1e-6);
    }
    arena_free(arena);
}

static void sampling_follows_the_distribution(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    const float logits[VOCAB] = {0.3f, 1.5f, -0.7f, 0.9f, 2.0f};
    DecodeSettings settings = settings_for(1, 1, 0);
    settings.temperature = 0.8;
    Candidate scratch[VOCAB];
    int counts[VOCAB] = {0};
    for (uint32_t i = 0; i < DRAWS; i++)
        counts[pick_sample(logits, VOCAB, &settings, (uint32_t[4]){i, 0, 0, 0}, scratch).token]++;
    double total = 0;
    for (int i = 0; i < BOS; i++)
        total += exp(logits[i] / 0.8);
    assert_int_equal(counts[BOS], 0);
    for (int i = 0; i < BOS; i++) {
        double p = exp(logits[i] / 0.8) / total;
        assert_true(fabs(counts[i] - DRAWS * p) < 4 * sqrt(DRAWS * p * (1 - p)));
    }
    settings.top_k = 2;
    for (uint32_t i = 0; i < 200; i++) {
        int32_t token =
            pick_sample(logits, VOCAB, &settings, (uint32_t[4]){i, 1, 0, 0}, scratch).token;
        assert_true(token == 1 || token == 3);
    }
    settings.top_k = 0;
    settings.top_p = 0.3; /* token 1 alone has more */
    for (uint32_t i = 0; i < 200; i++)
        assert_int_equal(
            pick_sample(logits, VOCAB, &settings, (uint32_t[4]){i, 2, 0, 0}, scratch).token, 1);
}

static void logsumexp_is_exact_enough(void **state)
{
    (void)state;
    float row[3000];
    for (int i = 0; i < 3000; i++)
        row[i] = (float)(hash_u64(HASH_SEED, (uint64_t)i) % 20011) / 1000.0f - 10.0f;
    double sum = 0;
    for (int i = 0; i < 3000; i++)
        sum += exp(row[i]);
    assert_true(fabs(pick_logsumexp(row, 3000) - log(sum)) < 1e-6);
    float far[2] = {-1000, 500};
    assert_true(pick_logsumexp(far, 2) == 500);
}

/* What prompts have in common at their beginning is fed once; their texts are those of each
 * alone. */
static void shared_beginnings(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    Stepper stepper = fake_stepper();
    enum { SENTENCES = 3, SHARED = 700, TAIL = 5 };
    int32_t ids[SENTENCES][SHARED + TAIL];
    Tokens prompts[SENTENCES];
    for (int i = 0; i < SENTENCES; i++) {
        for (int k = 0; k < SHARED + TAIL; k++)
            ids[i][k] = (k < SHARED ? k * k : k + i) % BOS;
        prompts[i] = (Tokens){ids[i], SHARED + TAIL};
    }
    DecodeSettings settings = settings_for(2, 6, 0);
    Decoded together[SENTENCES], alone;
    fake.tokens = 0;
    assert_true(decode_batch(&stepper, &settings, NULL, prompts, NULL, SENTENCES, arena, together));
    assert_true(fake.tokens < 1 + SHARED + SENTENCES * (TAIL + 2 * 7));
    for (int i = 0; i < SENTENCES; i++) {
        assert_true(decode_batch(&stepper, &settings, NULL, &prompts[i], NULL, 1, arena, &alone));
        assert_int_equal(together[i].best[0].n, alone.best[0].n);
        assert_memory_equal(together[i].best[0].ids, alone.best[0].ids,
                            sizeof(int32_t) * (size_t)alone.best[0].n);
    }
    prompts[1].n = 0; /* it has nothing in common with them */
    assert_true(decode_batch(&stepper, &settings, NULL, prompts, NULL, SENTENCES, arena, together));
    assert_true(decode_batch(&stepper, &settings, NULL, &prompts[1], NULL, 1, arena, &alone));
    assert_memory_equal(together[1].best[0].ids, alone.best[0].ids,
                        sizeof(int32_t) * (size_t)alone.best[0].n);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beam_finds_the_best),
        cmocka_unit_test(batches_do_not_matter),
        cmocka_unit_test(rules_hold),
        cmocka_unit_test(an_answer_without_a_token_left_ends),
        cmocka_unit_test(best_tokens_are_allowed_and_of_equal_ones_the_lower_first),
        cmocka_unit_test(length_penalty_is_that_of_the_paper),
        cmocka_unit_test(alternatives_go_on_from_each_token),
        cmocka_unit_test(penalty_is_that_of_the_paper),
        cmocka_unit_test(greedy_takes_the_most_probable),
        cmocka_unit_test(prompts_are_fed_first),
        cmocka_unit_test(shared_beginnings),
        cmocka_unit_test(sampling_follows_the_distribution),
        cmocka_unit_test(logsumexp_is_exact_enough),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(fake.logits);
    return failed;
}
