/* Figures of sets of labels beside those that scikit-learn's formulas give in numpy
 * (tests/fixtures/make_label_sets.py, which draws the same cases). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/data/label_thresholds.h"
#include "runtime/data/measures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CASES = 520, MOST_ROWS = 13, MOST_LABELS = 6 };

static uint64_t drawn;

static int64_t draw_below(int64_t n)
{
    drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(drawn >> 33) % n;
}

static float draw_value(int64_t kind)
{
    switch (kind) {
    case 0: return (float)draw_below(9) / 8;
    case 1: return (float)draw_below(1 << 24) / (1 << 24);
    case 2: return 0.5F;
    case 3: return (float)draw_below(2);
    default: return 0.5F + (float)draw_below(3) * 0x1p-24F;
    }
}

/* The case's counts; thresholds gets its own. */
static SetCounts draw_case(int number, float thresholds[MOST_LABELS])
{
    int64_t columns[MOST_LABELS];
    SetCounts counts;
    drawn = (uint64_t)number;
    const int64_t rows = draw_below(MOST_ROWS), labels = 1 + draw_below(MOST_LABELS),
                  kind = draw_below(5);
    for (int64_t k = 0; k < labels; k++)
        columns[k] = draw_below(5);
    for (int64_t k = 0; k < labels; k++)
        thresholds[k] = (float)draw_below(9) / 8;
    sets_begin(&counts, labels);
    for (int64_t i = 0; i < rows; i++) {
        int32_t truth[MOST_LABELS];
        float values[MOST_LABELS];
        for (int64_t k = 0; k < labels; k++) {
            const int64_t coin = draw_below(2), die = draw_below(6);
            truth[k] = columns[k] < 2 ? (int32_t)columns[k] : columns[k] < 4 ? (int32_t)coin : !die;
            values[k] = draw_value(kind);
        }
        sets_add(&counts, truth, values);
    }
    return counts;
}

static void check_figure(int number, const char *what, double found, double expected)
{
    if (isnan(expected) ? !isnan(found) : !(fabs(found - expected) <= 1e-11))
        fail_msg("case %d: %s is %.12g, and %.12g by numpy", number, what, found, expected);
}

static void figures_are_those_of_scikit_learn(void **state)
{
    FILE *file = fopen("tests/fixtures/label_sets.txt", "r");
    assert_non_null(file);
    for (int i = 0; i < CASES; i++) {
        double expected[5];
        float thresholds[MOST_LABELS];
        SetMatch of[MOST_LABELS];
        for (int k = 0; k < 5; k++)
            assert_int_equal(fscanf(file, "%lf", &expected[k]), 1);
        SetCounts counts = draw_case(i, thresholds);
        SetFigures figures = sets_figures(&counts, counts.n, thresholds, of);
        check_figure(i, "micro F1", figures.micro_f1, expected[0]);
        check_figure(i, "macro F1", figures.macro_f1, expected[1]);
        check_figure(i, "exact", figures.exact, expected[2]);
        check_figure(i, "average precision", figures.average_precision, expected[3]);
        sets_choose(&counts, thresholds);
        figures = sets_figures(&counts, counts.n, thresholds, of);
        check_figure(i, "the best macro F1", figures.macro_f1, expected[4]);
        for (int64_t k = 0; k < counts.n; k++)
            if (!of[k].count.labels)
                assert_float_equal(thresholds[k], SETS_THRESHOLD, 0);
        sets_free(&counts);
    }
    fclose(file);
}

/* Half way between two probabilities; the greatest of equally good ones; none of a NaN. */
static void thresholds_lie_between(void **state)
{
    const float values[][2] = {{0.9F, NAN}, {0.5F, 0.25F}, {0.1F, 0.75F}, {0.3F, NAN}};
    const int32_t labels[][2] = {{1, 1}, {1, 0}, {0, 1}, {0, 0}};
    float thresholds[2];
    SetMatch of[2];
    SetCounts counts;
    sets_begin(&counts, 2);
    for (int i = 0; i < 4; i++)
        sets_add(&counts, labels[i], values[i]);
    sets_choose(&counts, thresholds);
    assert_float_equal(thresholds[0], 0.4, 1e-7);
    assert_float_equal(thresholds[1], 0.5, 0);
    sets_figures(&counts, 1, thresholds, of);
    assert_int_equal(of[0].count.right, 2);
    sets_free(&counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_those_of_scikit_learn),
        cmocka_unit_test(thresholds_lie_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
