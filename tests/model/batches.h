/* What the drivers of tests/model are fed: batches and sentences that follow from a
 * number alone, so that two programs make the same ones. Ids lie in [3, vocab). */
#ifndef TESTS_MODEL_BATCHES_H
#define TESTS_MODEL_BATCHES_H

#include <stdint.h>

enum { TEST_BOS = 1, TEST_EOS = 2, MOST_ROWS = 5, LONGEST = 12 };
enum { MOST_TOKENS = MOST_ROWS * (LONGEST + 1) };

/* Packed rows, as the header of a compiled model wants them. */
typedef struct TestBatch {
    int32_t rows, source_tokens, target_tokens;
    int32_t source_lengths[MOST_ROWS], target_lengths[MOST_ROWS];
    int32_t source[MOST_TOKENS], target[MOST_TOKENS], next[MOST_TOKENS];
} TestBatch;

/* Knuth's MMIX generator; its high bits. */
static inline uint32_t test_draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

static inline void test_batch(TestBatch *batch, int number, int32_t vocab)
{
    uint64_t state = (uint64_t)number * 7919 + 1;
    *batch = (TestBatch){.rows = 1 + (int32_t)test_draw(&state, MOST_ROWS)};
    for (int32_t b = 0; b < batch->rows; b++) {
        int32_t source = 1 + (int32_t)test_draw(&state, LONGEST);
        int32_t target = 1 + (int32_t)test_draw(&state, LONGEST), last = TEST_BOS;
        for (int32_t i = 0; i < source; i++)
            batch->source[batch->source_tokens++] =
                3 + (int32_t)test_draw(&state, (uint32_t)vocab - 3);
        for (int32_t i = 0; i <= target; i++) {
            batch->target[batch->target_tokens] = last;
            last = i < target ? 3 + (int32_t)test_draw(&state, (uint32_t)vocab - 3) : TEST_EOS;
            batch->next[batch->target_tokens++] = last;
        }
        batch->source_lengths[b] = source;
        batch->target_lengths[b] = target + 1;
    }
}

/* The rate of a step: not constant, so that a step left out or done twice is seen. */
static inline double test_rate(int64_t step) { return 1e-4 * (double)(1 + step % 7); }

#endif
