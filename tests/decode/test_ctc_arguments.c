/* CTC decoding with arguments that no caller should give, and with memory that runs out at each
 * allocation. (CMake wraps these functions for this program.) */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/decode/ctc.h"
#include "tests/random_cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static long allocations_left = -1; /* -1: all succeed */

static bool fails(void) { return allocations_left >= 0 && allocations_left-- == 0; }

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t n, size_t size) { return fails() ? NULL : __real_calloc(n, size); }
void *__wrap_realloc(void *memory, size_t size)
{
    return fails() ? NULL : __real_realloc(memory, size);
}

/* ---- arguments that no caller should give ---- */

static void test_status(void **state)
{
    static const float good[] = {-1, -1, -1, -1}, nan[] = {-1, -1, -1, NAN};
    static const float endless[] = {-1, INFINITY, -1, -1};
    static const float nothing[] = {-INFINITY, -INFINITY, -1, -1};
    CtcLexicon lexicon = {.symbols = 2, .blank = 0, .separator = LEXICON_WHOLE};
    CtcLexicon others[] = {lexicon, lexicon};
    Arena *arena = arena_try_new();
    int64_t bad;
    assert_true(ctc_lexicon_build(&lexicon, arena, NULL, 0, &bad));
    others[0].symbols = 3;
    others[1].blank = 1;
    const struct {
        CtcFrames frames;
        CtcBeam beam;
        CtcStatus status;
        int n;
    } rows[] = {
        {{good, 2, 2, 0}, {4, 4, NULL}, CTC_OK, 2}, /* the empty sequence and b */
        {{good, 0, 2, 0}, {4, 4, NULL}, CTC_OK, 1},
        {{NULL, 0, 2, 0}, {4, 4, NULL}, CTC_OK, 1},
        {{good, 4, 1, 0}, {4, 4, NULL}, CTC_OK, 1}, /* only blanks */
        {{good, 0, 2, 0}, {4, 4, &lexicon}, CTC_OK, 0},
        {{good, 2, 2, 0}, {4, 4, &lexicon}, CTC_OK, 0},
        {{nothing, 2, 2, 0}, {4, 4, NULL}, CTC_OK, 0},
        {{good, 2, 2, 0}, {CTC_WIDEST, CTC_WIDEST, NULL}, CTC_OK, 2},
        {{good, -1, 2, 0}, {4, 4, NULL}, CTC_BAD_FRAMES, 0},
        {{good, 2, 0, 0}, {4, 4, NULL}, CTC_BAD_FRAMES, 0},
        {{good, 2, INT32_MIN, 0}, {4, 4, NULL}, CTC_BAD_FRAMES, 0},
        {{good, 2, 2, -1}, {4, 4, NULL}, CTC_BAD_FRAMES, 0},
        {{good, 2, 2, 2}, {4, 4, NULL}, CTC_BAD_FRAMES, 0},
        {{NULL, 2, 2, 0}, {4, 4, NULL}, CTC_BAD_FRAMES, 0},
        {{nan, 2, 2, 0}, {4, 4, NULL}, CTC_BAD_NUMBERS, 0},
        {{endless, 2, 2, 0}, {4, 4, NULL}, CTC_BAD_NUMBERS, 0},
        {{good, 2, 2, 0}, {0, 0, NULL}, CTC_BAD_WIDTH, 0},
        {{good, 2, 2, 0}, {-1, 1, NULL}, CTC_BAD_WIDTH, 0},
        {{good, 2, 2, 0}, {CTC_WIDEST + 1, 1, NULL}, CTC_BAD_WIDTH, 0},
        {{good, 2, 2, 0}, {4, 0, NULL}, CTC_BAD_WIDTH, 0},
        {{good, 2, 2, 0}, {4, 5, NULL}, CTC_BAD_WIDTH, 0},
        {{good, 2, 2, 0}, {4, 4, &others[0]}, CTC_BAD_LEXICON, 0},
        {{good, 2, 2, 0}, {4, 4, &others[1]}, CTC_BAD_LEXICON, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CtcResults results;
        int32_t labels[4], n;
        double log_probability;
        assert_int_equal(ctc_beam(&rows[i].frames, &rows[i].beam, arena, &results), rows[i].status);
        assert_int_equal(results.n, rows[i].n);
        if (rows[i].status == CTC_BAD_FRAMES || rows[i].status == CTC_BAD_NUMBERS) {
            assert_int_equal(ctc_best_path(&rows[i].frames, labels, &n, &log_probability),
                             rows[i].status);
            assert_int_equal(n, 0);
        }
        assert_true(strlen(ctc_message(rows[i].status)) > 5);
    }
    arena_free(arena);
}

static void test_bad_words(void **state)
{
    static const int32_t ids[] = {1, 2, 1, 0, 3, -1, 4, INT32_MAX, INT32_MIN};
    static const struct {
        int32_t symbols, blank, separator;
        Tokens word;
        int64_t bad;
    } rows[] = {
        {4, 0, 3, {ids, 0}, 1},
        {4, 0, 3, {ids, 4}, 1},
        {4, 0, 3, {ids + 4, 1}, 1},
        {4, 0, 3, {ids + 5, 1}, 1},
        {4, 0, 3, {ids + 6, 1}, 1},
        {4, 0, 3, {ids + 7, 1}, 1},
        {4, 0, 3, {ids + 8, 1}, 1},
        {4, 0, 3, {ids, -1}, 1},
        {4, 0, 4, {ids, 1}, LEXICON_BAD_SYMBOLS},
        {4, 0, 0, {ids, 1}, LEXICON_BAD_SYMBOLS},
        {4, 0, -2, {ids, 1}, LEXICON_BAD_SYMBOLS},
        {4, 4, 3, {ids, 1}, LEXICON_BAD_SYMBOLS},
        {4, -1, 3, {ids, 1}, LEXICON_BAD_SYMBOLS},
        {0, 0, -1, {ids, 1}, LEXICON_BAD_SYMBOLS},
    };
    Arena *arena = arena_try_new();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Tokens words[] = {{ids, 3}, rows[i].word};
        CtcLexicon lexicon = {rows[i].symbols, rows[i].blank, rows[i].separator, {0}};
        int64_t bad = 7;
        assert_false(ctc_lexicon_build(&lexicon, arena, words, 2, &bad));
        assert_int_equal(bad, rows[i].bad);
    }
    arena_free(arena);
}

/* ---- memory ---- */

/* Builds a lexicon of all pairs of labels and searches in it; false: memory ran out, which was
 * reported. Enough words and prefixes that every table grows. */
static bool search_once(const CtcFrames *frames, CtcResults *results, Arena *arena)
{
    enum { SIDE = 60 };
    static int32_t ids[SIDE * SIDE][2];
    static Tokens words[SIDE * SIDE];
    for (int32_t i = 0; i < SIDE * SIDE; i++) {
        ids[i][0] = 1 + i / SIDE;
        ids[i][1] = 1 + i % SIDE;
        words[i] = (Tokens){ids[i], 2};
    }
    CtcLexicon lexicon = {.symbols = frames->symbols, .blank = 0, .separator = SIDE + 1};
    int64_t bad;
    if (!ctc_lexicon_build(&lexicon, arena, words, SIDE * SIDE, &bad)) {
        assert_int_equal(bad, LEXICON_NO_MEMORY);
        return false;
    }
    const CtcBeam beam = {.width = 1000, .n_best = 300, .lexicon = &lexicon};
    const CtcStatus status = ctc_beam(frames, &beam, arena, results);
    assert_true(status == CTC_OK || (status == CTC_NO_MEMORY && !results->n));
    return status == CTC_OK;
}

static void test_memory(void **state)
{
    enum { MANY = 40, LETTERS = 62 };
    static float rows[MANY * LETTERS];
    random_state = 5;
    for (int i = 0; i < MANY * LETTERS; i++)
        rows[i] = -(float)below(1000) / 100;
    const CtcFrames frames = {rows, MANY, LETTERS, 0};
    bool done = false;
    long failed = 0;
    for (long n = 0; !done; n++) {
        allocations_left = n;
        Arena *arena = arena_try_new();
        CtcResults results;
        done = arena && search_once(&frames, &results, arena);
        done = done && allocations_left >= 0; /* none failed */
        failed += !done;
        allocations_left = -1;
        arena_free(arena);
    }
    assert_true(failed >= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_bad_words),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
