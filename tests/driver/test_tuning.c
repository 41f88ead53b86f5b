/* Choosing between OpenBLAS and native products from a table of rates, and that table as it is
 * kept: what was cut or changed is none. */
#define _GNU_SOURCE
#include "driver/session/tuning.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

typedef TuningRate Rates[TFC_BLAS_TYPES][SHAPE_CLASSES];

static void make_rates(Rates rates)
{
    for (int t = 0; t < TFC_BLAS_TYPES; t++)
        for (int c = 0; c < SHAPE_CLASSES; c++)
            rates[t][c] = (TuningRate){10 + c + 0.1 * t, 10 + c / 3.0};
}

static void test_classes(void **state)
{
    (void)state;
    static const int64_t sides[] = {1, 2, 8, 9, 32, 33, 64, 65, 128, 129, 100000};
    static const int rows[] = {0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
    static const int others[] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2};
    enum { SIDES = sizeof sides / sizeof sides[0] };
    for (int m = 0; m < SIDES; m++)
        for (int n = 0; n < SIDES; n++)
            for (int k = 0; k < SIDES; k++) {
                int class = shape_class(sides[m], sides[n], sides[k]);
                assert_int_equal(class, (rows[m] * 3 + others[n]) * 3 + others[k]);
                assert_in_range(class, 0, SHAPE_CLASSES - 1);
            }
}

static void test_choosing(void **state)
{
    (void)state;
    Rates rates = {{{0}}};
    TfcChoice none = tuning_choose(rates);
    assert_true(none.blas[TFC_F32] == 0 && none.blas[TFC_F64] == 0);
    int small = shape_class(1, 20, 30), large = shape_class(500, 500, 500);
    rates[TFC_F32][small] = (TuningRate){10, 10.6};
    rates[TFC_F32][large] = (TuningRate){100, 104.9};
    rates[TFC_F64][large] = (TuningRate){50, 80};
    TfcChoice choice = tuning_choose(rates);
    assert_true(choice_is_blas(&choice, TFC_F32, 1, 20, 30));
    assert_false(choice_is_blas(&choice, TFC_F32, 2, 20, 30));
    assert_false(choice_is_blas(&choice, TFC_F32, 500, 500, 500));
    assert_true(choice_is_blas(&choice, TFC_F64, 500, 500, 500));
    assert_false(choice_is_blas(&choice, TFC_F64, 1, 20, 30));
}

static void test_keeping(void **state)
{
    (void)state;
    Rates rates, again;
    Text text = {0};
    make_rates(rates);
    tuning_write(rates, &text);
    assert_true(tuning_read(text.data, again));
    assert_memory_equal(rates, again, sizeof rates);
    for (size_t length = 0; length < text.length; length++) {
        char *part = strndup(text.data, length);
        assert_false(tuning_read(part, again));
        free(part);
    }
    text_string(&text, "0");
    assert_false(tuning_read(text.data, again));
    text_free(&text);
}

static void test_damage(void **state)
{
    (void)state;
    static const char *const firsts[] = {"1 0 10 10", "0 1 10 10", "0 0 -1 10", "0 0 10 nan",
                                         "0 0 10",    "0 0 x 10",  "",          "0 0 10 10 10"};
    Rates rates, again;
    make_rates(rates);
    for (size_t i = 0; i < sizeof firsts / sizeof firsts[0]; i++) {
        Text whole = {0}, text = {0};
        tuning_write(rates, &whole);
        text_string(&text, firsts[i]);
        text_string(&text, strchr(whole.data, '\n'));
        assert_false(tuning_read(text.data, again));
        text_free(&whole);
        text_free(&text);
    }
}

static void test_words(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    TfcChoice choice = {{0x123456789, 1}}, again;
    const char *text = tuning_text(arena, NULL, &choice);
    assert_true(tuning_from_text(text, &again));
    assert_memory_equal(&choice, &again, sizeof choice);
    assert_string_equal(tuning_text(arena, "auto", &choice), text);
    assert_string_equal(tuning_text(arena, "native", &choice), "native");
    assert_non_null(strstr(text, tuning_text(arena, "blas", &choice)));
    assert_false(tuning_from_text(tuning_text(arena, "blas", &choice), &again));
    assert_true(tuning_from_text("native", &again));
    assert_true(again.blas[TFC_F32] == 0 && again.blas[TFC_F64] == 0);
    static const char *const others[] = {
        "", "native, and", "native, and OpenBLAS 0.0 None for shapes 1 of f32, 1 of f64"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(tuning_from_text(others[i], &again));
    choice.blas[TFC_F64] = (int64_t)1 << SHAPE_CLASSES; /* of a table with more classes */
    assert_false(tuning_from_text(tuning_text(arena, NULL, &choice), &again));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes), cmocka_unit_test(test_choosing),
        cmocka_unit_test(test_keeping), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
