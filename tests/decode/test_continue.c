/* Going on with texts: what stands before one, what ends it, and how much of it is seen; with a
 * model that counts, so that the token behind t is t + 1. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/decode/continue.h"

#include <string.h>

enum { VOCAB = 40, MOST_FED = 64 };

typedef struct Counter {
    int32_t fed[MOST_FED], n;
    float logits[MOST_FED][VOCAB];
} Counter;

static bool begin(void *self, const Sources *sources, int32_t n_slots)
{
    (void)sources;
    assert_int_equal(n_slots, 1);
    ((Counter *)self)->n = 0;
    return true;
}

static const float *step(void *self, int32_t n, const int32_t *sentence, const int32_t *slot,
                         const int32_t *counts, const int32_t *tokens)
{
    Counter *counter = self;
    (void)sentence, (void)slot;
    assert_int_equal(n, 1);
    memset(counter->logits, 0, sizeof counter->logits);
    for (int32_t k = 0; k < *counts; k++) {
        counter->fed[counter->n++] = tokens[k];
        counter->logits[k][(tokens[k] + 1) % VOCAB] = 9;
    }
    return counter->logits[0];
}

static bool feed(void *self, int32_t n, const int32_t *sentence, const int32_t *slot,
                 const int32_t *counts, const int32_t *tokens)
{
    return step(self, n, sentence, slot, counts, tokens) != NULL;
}

static void copy(void *self, int32_t from, int32_t to) { (void)self, (void)from, (void)to; }

static const TextRule published = {
    .begin = -1, .end = -1, .newline = -1, .start = 7, .forbidden = {-1, -1, -1, -1}};

/* The prompt and what comes, as the model with room for `longest` tokens has it. */
static TokenIds grow(const TextRule *rule, int32_t from, int32_t n, int64_t longest, int64_t left,
                     Counter *counter)
{
    DecodeSettings settings = decode_defaults();
    settings.sample = true;
    settings.temperature = 0;
    continue_settings(rule, &settings);
    Stepper stepper = {.self = counter,
                       .vocab = VOCAB,
                       .most_fed = STEPPER_MOST_FED,
                       .begin = begin,
                       .step = step,
                       .feed = feed,
                       .copy = copy};
    TokenIds text = {0};
    for (int32_t i = 0; i < n; i++)
        assert_true(token_ids_push(&text, from + i));
    while (left > 0) {
        ContinuePart part = continue_part(rule, &settings, &text, left, longest);
        settings.limits = &part.limit;
        Decoded decoded;
        Arena *arena = arena_new();
        assert_true(
            decode_batch(&stepper, &settings, NULL, &part.prompt, NULL, 1, arena, &decoded));
        assert_int_equal(decoded.n, 1);
        assert_true(counter->n <= longest); /* no position past the last */
        assert_true(continue_take(&decoded, &text, &left));
        arena_free(arena);
    }
    return text;
}

static void expect(TokenIds text, int32_t from, size_t n)
{
    assert_int_equal(text.count, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(text.data[i], from + (int32_t)i);
    token_ids_free(&text);
}

static void test_begins(void **state)
{
    Counter counter;
    TextRule rule = published;
    (void)state;
    expect(grow(&rule, 3, 2, 10, 4, &counter), 3, 6);
    /* nothing stands before the text, and its last token is not fed */
    assert_int_equal(counter.fed[0], 3);
    assert_int_equal(counter.n, 5);
    expect(grow(&rule, 0, 0, 10, 2, &counter), 8, 2);
    assert_int_equal(counter.fed[0], 7);
    rule.begin = 30;
    expect(grow(&rule, 3, 2, 10, 4, &counter), 3, 6);
    assert_int_equal(counter.fed[0], 30);
}

static void test_ends(void **state)
{
    Counter counter;
    TextRule rule = published;
    (void)state;
    rule.n_stops = 2;
    rule.stops[0] = 20;
    rule.stops[1] = 9;
    expect(grow(&rule, 3, 2, 30, 25, &counter), 3, 6); /* … 8, before 9 */
    expect(grow(&rule, 11, 1, 30, 25, &counter), 11, 9);
    expect(grow(&rule, 11, 1, 30, 3, &counter), 11, 4);
    expect(grow(&rule, 3, 2, 3, 25, &counter), 3, 6); /* by parts */
}

static void test_length(void **state)
{
    Counter counter;
    TextRule rule = published;
    int32_t ids[12] = {0};
    TokenIds text = {ids, 12, 12};
    DecodeSettings settings = decode_defaults();
    (void)state;
    continue_settings(&rule, &settings);
    ContinuePart part = continue_part(&rule, &settings, &text, 100, 12);
    assert_false(part.is_cut);
    assert_int_equal(part.prompt.n, 12);
    assert_int_equal(part.limit, 1);
    part = continue_part(&rule, &settings, &text, 100, 11);
    assert_true(part.is_cut);
    assert_int_equal(part.prompt.n, 6);
    assert_ptr_equal(part.prompt.ids, ids + 6);
    assert_int_equal(part.limit, 6);
    settings.bos = 1;
    part = continue_part(&rule, &settings, &text, 100, 12);
    assert_true(part.is_cut); /* one too many with what stands before */
    for (int64_t longest = 1; longest < 8; longest++)
        expect(grow(&rule, 3, 5, longest, 20, &counter), 3, 25);
}

static bool until_six(void *context, int64_t number, int32_t token)
{
    assert_int_equal(number, 5);
    ++*(int *)context;
    return token < 6;
}

static void test_watching(void **state)
{
    Counter counter;
    Stepper stepper = {.self = &counter,
                       .vocab = VOCAB,
                       .most_fed = STEPPER_MOST_FED,
                       .begin = begin,
                       .step = step,
                       .feed = feed,
                       .copy = copy};
    DecodeSettings settings = decode_defaults();
    int32_t id = 2, limit = 30;
    int64_t number = 5;
    Tokens prompt = {&id, 1};
    Decoded decoded;
    Arena *arena = arena_new();
    int calls = 0;
    (void)state;
    settings.sample = true;
    settings.temperature = 0;
    continue_settings(&published, &settings);
    settings.limits = &limit;
    settings.go_on = until_six;
    settings.context = &calls;
    assert_true(decode_batch(&stepper, &settings, NULL, &prompt, &number, 1, arena, &decoded));
    assert_int_equal(decoded.best->n, 4); /* 3, 4, 5, 6 */
    assert_int_equal(decoded.best->n_each, 4);
    assert_int_equal(calls, 4);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_begins),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_length),
        cmocka_unit_test(test_watching),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
