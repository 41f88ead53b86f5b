/* The store: tensors of programs by name, and the statistics of initial values. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/exec/exec.h"

#include <math.h>
#include <string.h>

static TfcTensor tensor(const char *name, TfcInit init, double a, double b, int64_t rows,
                        int64_t columns)
{
    return (TfcTensor){.name = name,
                       .type = TFC_F32,
                       .init = init,
                       .a = a,
                       .b = b,
                       .shape = {2, {{rows, -1}, {columns, -1}}}};
}

typedef struct Statistics {
    double mean, deviation, least, most;
} Statistics;

static Statistics statistics(const StoreTensor *t)
{
    const float *x = t->data;
    Statistics s = {.least = INFINITY, .most = -INFINITY};
    for (int64_t i = 0; i < t->count; i++) {
        s.mean += x[i] / (double)t->count;
        s.least = fmin(s.least, x[i]);
        s.most = fmax(s.most, x[i]);
    }
    for (int64_t i = 0; i < t->count; i++)
        s.deviation += (x[i] - s.mean) * (x[i] - s.mean) / (double)t->count;
    s.deviation = sqrt(s.deviation);
    return s;
}

enum { ROWS = 400, COLUMNS = 600 };

static Store *store_of(TfcTensor *tensors, int n, uint64_t seed)
{
    TfcProgram program = {.n_tensors = n, .tensors = tensors};
    Store *store = store_new();
    assert_true(store_add_program(store, &program));
    assert_true(store_initialise(store, seed));
    return store;
}

static void test_distributions(void **state)
{
    (void)state;
    const double in = ROWS, out = COLUMNS;
    const struct {
        TfcInit init;
        double a, b, mean, deviation, limit; /* limit 0: none */
    } cases[] = {
        {TFC_INIT_ZEROS, 9, 9, 0, 0, 0},
        {TFC_INIT_ONES, 9, 9, 1, 0, 0},
        {TFC_INIT_CONSTANT, 0.25, 0, 0.25, 0, 0},
        {TFC_INIT_NORMAL, 0.5, 2, 0.5, 2, 0},
        {TFC_INIT_UNIFORM, -1, 1, 0, 2 / sqrt(12), 1},
        {TFC_INIT_XAVIER_UNIFORM, 1, 0, 0, sqrt(2 / (in + out)), sqrt(6 / (in + out))},
        {TFC_INIT_XAVIER_NORMAL, 2, 0, 0, 2 * sqrt(2 / (in + out)), 0},
        {TFC_INIT_KAIMING_UNIFORM, sqrt(2), 0, 0, sqrt(2 / in), sqrt(6 / in)},
        {TFC_INIT_KAIMING_NORMAL, sqrt(2), 0, 0, sqrt(2 / in), 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        TfcTensor t = tensor("w", cases[i].init, cases[i].a, cases[i].b, ROWS, COLUMNS);
        Store *store = store_of(&t, 1, 7);
        Statistics s = statistics(store_at(store, 0));
        double scale = cases[i].deviation > 0 ? cases[i].deviation : 1e-9;
        assert_true(fabs(s.mean - cases[i].mean) < 0.012 * scale);
        assert_true(fabs(s.deviation - cases[i].deviation) < 0.01 * scale);
        if (cases[i].limit > 0) {
            assert_true(s.most <= cases[i].limit && s.least >= -cases[i].limit);
            assert_true(s.most > 0.999 * cases[i].limit && s.least < -0.999 * cases[i].limit);
        }
        store_free(store);
    }
}

static void check_orthogonal(int64_t rows, int64_t columns, double gain)
{
    TfcTensor t = tensor("q", TFC_INIT_ORTHOGONAL, gain, 0, rows, columns);
    Store *store = store_of(&t, 1, 3);
    const float *x = store_at(store, 0)->data;
    int64_t n = rows < columns ? rows : columns, length = rows < columns ? columns : rows;
    int64_t step = rows < columns ? columns : 1, along = rows < columns ? 1 : columns;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = 0;
            for (int64_t k = 0; k < length; k++)
                sum += (double)x[i * step + k * along] * x[j * step + k * along];
            assert_true(fabs(sum - (i == j ? gain * gain : 0)) < 1e-5 * gain * gain);
        }
    store_free(store);
}

static void test_orthogonal(void **state)
{
    (void)state;
    check_orthogonal(40, 40, 1);
    check_orthogonal(20, 50, 2);
    check_orthogonal(50, 20, 0.5);
}

static void test_values_depend_on_name_and_seed_alone(void **state)
{
    (void)state;
    TfcTensor a = tensor("a", TFC_INIT_NORMAL, 0, 1, 30, 30),
              b = tensor("b", TFC_INIT_NORMAL, 0, 1, 30, 30);
    size_t bytes = 900 * sizeof(float);
    exec_set_threads(1);
    Store *ab = store_of((TfcTensor[]){a, b}, 2, 11);
    exec_set_threads(2);
    Store *ba = store_of((TfcTensor[]){b, a}, 2, 11), *other = store_of(&a, 1, 12);
    assert_memory_equal(store_find(ab, "a")->data, store_find(ba, "a")->data, bytes);
    assert_memory_equal(store_find(ab, "b")->data, store_find(ba, "b")->data, bytes);
    assert_memory_not_equal(store_find(ab, "a")->data, store_find(ab, "b")->data, bytes);
    assert_memory_not_equal(store_find(ab, "a")->data, store_find(other, "a")->data, bytes);
    store_free(ab);
    store_free(ba);
    store_free(other);
}

/* The data of "a" alone. */
static void *lend(void *context, const TfcTensor *tensor)
{
    return strcmp(tensor->name, "a") ? NULL : store_find(context, "a")->data;
}

static void test_programs_share_tensors(void **state)
{
    (void)state;
    TfcTensor first[] = {tensor("a", TFC_INIT_ONES, 0, 0, 2, 3)};
    TfcTensor second[] = {
        tensor("b", TFC_INIT_ZEROS, 0, 0, 4, 5),
        tensor("a", TFC_INIT_ONES, 0, 0, 2, 3),
        {.name = "cache", .type = TFC_F32, .shape = {3, {{0, 0}, {0, 1}, {8, -1}}}}};
    TfcProgram p = {.n_tensors = 1, .tensors = first}, q = {.n_tensors = 3, .tensors = second};
    Store *store = store_new();
    assert_true(store_add_program(store, &p) && store_add_program(store, &q));
    assert_int_equal(store_count(store), 2);
    assert_string_equal(store_at(store, 0)->name, "a");
    assert_int_equal(store_bytes(store), 4 * (6 + 20));
    assert_null(store_find(store, "cache")); /* its memory is the decoder's */
    assert_int_equal((uintptr_t)store_at(store, 0)->data % 64, 0);
    Store *borrower = store_new();
    assert_true(store_add_borrowing(borrower, &q, lend, store));
    assert_ptr_equal(store_find(borrower, "a")->data, store_find(store, "a")->data);
    assert_int_equal(store_bytes(borrower), 4 * (6 + 20));
    assert_int_equal(store_own_bytes(borrower), 4 * 20);
    store_free(borrower);
    store_free(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distributions),
        cmocka_unit_test(test_orthogonal),
        cmocka_unit_test(test_values_depend_on_name_and_seed_alone),
        cmocka_unit_test(test_programs_share_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
