/* Measures of sequences, numbers and retrieval beside independent formulas on random cases, and
 * beside published values. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/data/measures.h"
#include "tests/random_cases.h"

#include <stdlib.h>
#include <string.h>

/* ---- sequences ---- */

/* Levenshtein's distance by its recursive definition. */
static int64_t distance_by_definition(const int32_t *a, int64_t n, const int32_t *b, int64_t m)
{
    if (!n || !m)
        return n + m;
    if (a[0] == b[0])
        return distance_by_definition(a + 1, n - 1, b + 1, m - 1);
    int64_t replaced = distance_by_definition(a + 1, n - 1, b + 1, m - 1);
    int64_t deleted = distance_by_definition(a + 1, n - 1, b, m);
    int64_t inserted = distance_by_definition(a, n, b + 1, m - 1);
    int64_t least = replaced < deleted ? replaced : deleted;
    return 1 + (least < inserted ? least : inserted);
}

static void test_random_sequences(void **state)
{
    random_state = 3;
    ErrorCounts counts = {0};
    int64_t edits = 0, tokens = 0, wrong = 0;
    for (int k = 0; k < CASES; k++) {
        int32_t a[6], b[6], n = below(7), m = below(7);
        for (int i = 0; i < 6; i++) {
            a[i] = below(3);
            b[i] = below(3) ? a[i] : below(3);
        }
        int64_t distance = distance_by_definition(a, n, b, m);
        assert_int_equal(edit_distance(a, n, b, m), distance);
        errors_add(&counts, a, n, b, m);
        edits += distance;
        tokens += m;
        wrong += n != m || memcmp(a, b, (size_t)n * sizeof *a);
        assert_near(errors_token_rate(&counts), tokens ? (double)edits / (double)tokens : NAN);
        assert_near(errors_sequence_rate(&counts), (double)wrong / (k + 1));
        assert_near(errors_exact_rate(&counts), 1 - (double)wrong / (k + 1));
    }
}

static void test_sequences(void **state)
{
    const int32_t kitten[] = {'k', 'i', 't', 't', 'e', 'n'};
    const int32_t sitting[] = {'s', 'i', 't', 't', 'i', 'n', 'g'};
    assert_int_equal(edit_distance(kitten, 6, sitting, 7), 3);
    assert_int_equal(edit_distance(sitting, 7, kitten, 6), 3);
    assert_int_equal(edit_distance(kitten, 6, kitten, 6), 0);
    assert_int_equal(edit_distance(kitten, 0, sitting, 7), 7);
    assert_int_equal(edit_distance(kitten, 6, NULL, 0), 6);

    ErrorCounts counts = {0};
    assert_near(errors_token_rate(&counts), NAN);
    assert_near(errors_sequence_rate(&counts), NAN);
    assert_near(errors_exact_rate(&counts), NAN);
    errors_add(&counts, kitten, 2, NULL, 0);
    assert_near(errors_token_rate(&counts), NAN);
    errors_add(&counts, kitten, 6, sitting, 7);
    assert_near(errors_token_rate(&counts), 5.0 / 7);
    errors_add(&counts, kitten, 6, kitten, 6);
    assert_near(errors_sequence_rate(&counts), 2.0 / 3);
    assert_near(errors_exact_rate(&counts), 1.0 / 3);
}

/* ---- numbers ---- */

static NumberPairs pairs_of(const float *labels, const float *predicted, int n)
{
    NumberPairs pairs = {0};
    for (int i = 0; i < n; i++)
        numbers_add(&pairs, labels[i], predicted[i]);
    return pairs;
}

/* Pearson's correlation from sums over all pairs of items: Σ (xi - xj)(yi - yj) and squares. */
static double pearson_by_pairs(const double *x, const double *y, int n)
{
    double xx = 0, yy = 0, xy = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            xx += (x[i] - x[j]) * (x[i] - x[j]);
            yy += (y[i] - y[j]) * (y[i] - y[j]);
            xy += (x[i] - x[j]) * (y[i] - y[j]);
        }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

/* Mean ranks by counting the numbers below and those equal. */
static void rank_by_counting(const double *x, int n, double *ranks)
{
    for (int i = 0; i < n; i++) {
        int less = 0, equal = 0;
        for (int j = 0; j < n; j++) {
            less += x[j] < x[i];
            equal += x[j] == x[i];
        }
        ranks[i] = less + (equal + 1) / 2.0;
    }
}

/* Numbers of which many are equal, or all different. */
static void check_numbers(bool equal)
{
    enum { MOST = 80 };
    float a[MOST], b[MOST];
    double x[MOST] = {0}, y[MOST] = {0}, ranks_x[MOST], ranks_y[MOST], squares = 0;
    int n = below(MOST + 1), values = equal ? 1 + below(5) : 1000000;
    for (int i = 0; i < n; i++) {
        x[i] = a[i] = 0.1f * (float)below(values) - 3;
        y[i] = b[i] = below(2) ? a[i] : 0.7f * (float)below(values);
        squares += pow(x[i] - y[i], 2);
    }
    rank_by_counting(x, n, ranks_x);
    rank_by_counting(y, n, ranks_y);
    NumberPairs pairs = pairs_of(a, b, n);
    assert_near(numbers_squared_error(&pairs), n ? squares / n : NAN);
    assert_near(numbers_pearson(&pairs), pearson_by_pairs(x, y, n));
    assert_near(numbers_spearman(&pairs), pearson_by_pairs(ranks_x, ranks_y, n));
    numbers_free(&pairs);
}

static void test_random_numbers(void **state)
{
    random_state = 4;
    for (int i = 0; i < CASES; i++)
        check_numbers(i % 2);
}

/* The examples of scipy's pearsonr and spearmanr and of scikit-learn's mean_squared_error. */
static void test_published_numbers(void **state)
{
    NumberPairs pairs =
        pairs_of((float[]){1, 2, 3, 4, 5, 6, 7}, (float[]){10, 9, 2.5f, 6, 4, 3, 2}, 7);
    assert_near(numbers_pearson(&pairs), -0.828503883588428);
    numbers_free(&pairs);
    pairs = pairs_of((float[]){1, 2, 3, 4, 5}, (float[]){5, 6, 7, 8, 7}, 5);
    assert_near(numbers_spearman(&pairs), 0.8207826816681233);
    numbers_free(&pairs);
    pairs = pairs_of((float[]){3, -0.5f, 2, 7}, (float[]){2.5f, 0, 2, 8}, 4);
    assert_near(numbers_squared_error(&pairs), 0.375);
    numbers_free(&pairs);
}

static void expect_numbers(const float *labels, const float *predicted, int n, double pearson,
                           double spearman, double squared_error)
{
    NumberPairs pairs = pairs_of(labels, predicted, n);
    assert_near(numbers_pearson(&pairs), pearson);
    if (!isinf(squared_error))
        assert_near(numbers_squared_error(&pairs), squared_error);
    else
        assert_true(numbers_squared_error(&pairs) == squared_error);
    assert_near(numbers_spearman(&pairs), spearman);
    assert_int_equal(pairs.n, 0);
}

static void test_other_numbers(void **state)
{
    static const float up[] = {1, 2, 3}, same[] = {0.1f, 0.1f, 0.1f}, half[] = {0.5f, 0.5f, 0.5f},
                       none[] = {1, NAN, 3};
    static const float endless[] = {1, 2, INFINITY}, large[] = {-3e38f, 0, 3e38f},
                       zero[] = {0, -0.f, 0};
    expect_numbers(NULL, NULL, 0, NAN, NAN, NAN);
    expect_numbers(up, up + 1, 1, NAN, NAN, 1);
    expect_numbers(half, up, 3, NAN, NAN, (0.25 + 2.25 + 6.25) / 3);
    expect_numbers(same, same, 3, NAN, NAN, 0);
    expect_numbers(up, zero, 3, NAN, NAN, 14.0 / 3); /* 0 and -0 are equal */
    expect_numbers(none, up, 3, NAN, NAN, NAN);
    expect_numbers(up, none, 3, NAN, NAN, NAN);
    expect_numbers(up, endless, 3, NAN, 1, INFINITY);
    expect_numbers(up, large, 3, 1, 1, 2 * pow((double)3e38f, 2) / 3);
}

/* ---- retrieval ---- */

/* The rank of the partner of row i of a, by its definition. */
static int64_t rank_by_definition(const float *a, const float *b, int n, int width, int i)
{
    int64_t rank = 1;
    double own = 0;
    for (int k = 0; k < width; k++)
        own += (double)a[i * width + k] * (double)b[i * width + k];
    for (int j = 0; j < n; j++) {
        double other = 0;
        for (int k = 0; k < width; k++)
            other += (double)a[i * width + k] * (double)b[j * width + k];
        rank += j != i && other >= own;
    }
    return rank;
}

/* Small whole numbers, whose products are exact and often equal. */
static void check_retrieval(int n, int width)
{
    float *a = malloc((size_t)(n * width + 1) * sizeof *a),
          *b = malloc((size_t)(n * width + 1) * sizeof *b);
    int64_t *ranks_a = malloc((size_t)(n + 1) * sizeof *ranks_a),
            *ranks_b = malloc((size_t)(n + 1) * sizeof *ranks_b);
    for (int i = 0; i < n * width; i++) {
        a[i] = (float)(below(7) - 3);
        b[i] = below(3) ? a[i] : (float)(below(7) - 3);
    }
    retrieval_ranks(a, b, n, width, 1 + n % 3, ranks_a, ranks_b);
    int found = 0, k = 1 + below(4);
    for (int i = 0; i < n; i++) {
        assert_int_equal(ranks_a[i], rank_by_definition(a, b, n, width, i));
        assert_int_equal(ranks_b[i], rank_by_definition(b, a, n, width, i));
        found += rank_by_definition(a, b, n, width, i) <= k;
    }
    assert_near(retrieval_recall(ranks_a, n, k), n ? 1.0 * found / n : NAN);
    free(a);
    free(b);
    free(ranks_a);
    free(ranks_b);
}

static void test_random_retrieval(void **state)
{
    random_state = 5;
    for (int i = 0; i < CASES; i++)
        check_retrieval(below(12), 1 + below(20));
    for (int n = 63; n <= 65; n++) /* the ends of blocks */
        check_retrieval(n, 9);
    check_retrieval(200, 24);
}

static void test_other_retrieval(void **state)
{
    enum { ROWS = 3 };
    static const float equal[ROWS * 2] = {0.1f, 0.7f, 0.1f, 0.7f, 0.1f, 0.7f};
    static const float turned[] = {1, 0, 0, 1}, bad[] = {1, 0, NAN, 1};
    int64_t a[ROWS], b[ROWS];
    retrieval_ranks(equal, equal, ROWS, 2, 2, a, b);
    for (int i = 0; i < ROWS; i++) /* all others count against */
        assert_true(a[i] == ROWS && b[i] == ROWS);
    assert_near(retrieval_recall(a, ROWS, 2), 0);
    assert_near(retrieval_recall(a, ROWS, 3), 1);
    retrieval_ranks(turned, turned, 2, 2, 1, a, b);
    assert_near(retrieval_recall(b, 2, 1), 1);
    retrieval_ranks(turned, turned, 2, 0, 1, a, b); /* no columns: all products are 0 */
    assert_true(a[0] == 2 && b[1] == 2);
    retrieval_ranks(turned, turned, 1, 2, 1, a, b);
    assert_true(a[0] == 1 && b[0] == 1);
    retrieval_ranks(NULL, NULL, 0, 2, 2, a, b);
    assert_near(retrieval_recall(a, 0, 1), NAN);
    retrieval_ranks(turned, bad, 2, 2, 2, a, b);
    assert_true(a[0] == 2 && b[0] == 1); /* NaN is not less; row 1 of a has the product 0 */
    assert_true(a[1] == INT64_MAX && b[1] == INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_sequences), cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_random_numbers),   cmocka_unit_test(test_published_numbers),
        cmocka_unit_test(test_other_numbers),    cmocka_unit_test(test_random_retrieval),
        cmocka_unit_test(test_other_retrieval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
