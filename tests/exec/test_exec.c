/* Executors over a program written by hand: kernels in C, every kind of step and
 * buffer, shapes that grow, ragged tables, the search for NaN. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/exec/exec.h"

#include <math.h>
#include <string.h>

/* y[i] = x[i] × position of token i + weight[0], over the tokens of S; rows strided. */
static void scale_kernel(const TfcKernelArgs *args, int64_t begin, int64_t end)
{
    const float *x = args->buffers[0], *weight = args->buffers[1];
    float *y = args->buffers[2];
    for (int64_t i = begin; i < end; i++)
        y[i * args->strides[2 * TFC_MAX_AXES]] =
            x[i * args->strides[0]] * (float)args->dims[0]->position[i] + weight[0];
}

/* z[i] = sqrt(y[i]) + site + step of the generator */
static void root_kernel(const TfcKernelArgs *args, int64_t begin, int64_t end)
{
    const float *y = args->buffers[0];
    float *z = args->buffers[1];
    for (int64_t i = begin; i < end; i++)
        z[i] = sqrtf(y[i]) + (float)args->ints[0] + (float)args->rng[2];
}

enum { B_X, B_WEIGHT, B_Y, B_Z, B_COPY, B_STATE, N_BUFFERS, DIM_BATCH = 0, DIM_S };

enum { ZERO = TFC_SIZE_ZERO, ONE, TWO, THREE, TOKENS, WORK, N_SIZES };
static const TfcSize sizes[N_SIZES] = {
    [ONE] = {.coefficient = 1},        [TWO] = {.coefficient = 2},
    [THREE] = {.coefficient = 3},      [TOKENS] = {1, 1, {{DIM_S, TFC_TOTAL}}},
    [WORK] = {.coefficient = 1 << 13},
};
static const TfcView scale_views[] = {
    {B_X, 1, 0, {ONE}}, {B_WEIGHT, 0, 1, {ZERO}}, {B_Y, 1, 0, {ONE}}};
static const TfcView root_views[] = {{B_Y, 1, 0, {ONE}}, {B_Z, 1, 0, {ONE}}};
static const int32_t kernel_dims[] = {DIM_S};
static const int64_t sites[] = {5};
/* clang-format off */
static const TfcStep steps[] = {
    {TFC_STEP_KERNEL, TFC_ROWS_NONE, "scale", {.kernel = {0, 3, 1, 1, 0, TOKENS, ONE, scale_views, kernel_dims, NULL, 0}}},
    {TFC_STEP_KERNEL, TFC_ROWS_NONE, "root", {.kernel = {1, 2, 1, 0, 1, TOKENS, WORK, root_views, NULL, sites, 0}}},
    {TFC_STEP_COPY, TFC_ROWS_NONE, "copy", {.copy = {B_COPY, B_Z, TOKENS}}},
    {TFC_STEP_ZERO, TFC_ROWS_NONE, "zero", {.copy = {B_STATE, B_STATE, THREE}}},
};
/* clang-format on */
static const TfcBuffer buffers[N_BUFFERS] = {
    [B_X] = {TFC_BUFFER_INPUT, TFC_F32, TOKENS, 0, 0, 0},
    [B_WEIGHT] = {TFC_BUFFER_TENSOR, TFC_F32, TWO, 0, 0, 0},
    [B_Y] = {TFC_BUFFER_SLAB, TFC_F32, TOKENS, 0, 0, 1},
    [B_Z] = {TFC_BUFFER_OUTPUT, TFC_F32, TOKENS, 0, 1, 2},
    [B_COPY] = {TFC_BUFFER_OUTPUT, TFC_F32, TOKENS, 1, 2, 2},
    [B_STATE] = {TFC_BUFFER_TENSOR, TFC_F32, THREE, 1, 3, 3},
};
static const TfcKernel kernels[] = {scale_kernel, root_kernel};
static const TfcProgramDim program_dims[] = {{"B", .batch = -1}, {"S", .batch = DIM_BATCH}};
static const TfcPort inputs[] = {{"x", TFC_F32, {2, {{0, DIM_BATCH}, {0, DIM_S}}}, B_X}};
static const TfcPort outputs[] = {{"z", TFC_F32, {2, {{0, DIM_BATCH}, {0, DIM_S}}}, B_Z},
                                  {"copy", TFC_F32, {2, {{0, DIM_BATCH}, {0, DIM_S}}}, B_COPY}};
/* clang-format off */
static const TfcTensor tensors[] = {
    {.name = "weight", .type = TFC_F32, .shape = {1, {{2, -1}}}, .init = TFC_INIT_CONSTANT, .a = 4, .buffer = B_WEIGHT},
    {.name = "state", .type = TFC_F32, .shape = {1, {{3, -1}}}, .init = TFC_INIT_ONES, .buffer = B_STATE}};
static const TfcProgram program = {
    .name = "test", .n_dims = 2, .n_given = 2, .n_sizes = N_SIZES, .sizes = sizes, .n_buffers = N_BUFFERS, .n_steps = 4, .n_kernels = 2, .n_inputs = 1,
    .n_outputs = 2, .n_tensors = 2, .dims = program_dims, .buffers = buffers, .steps = steps,
    .kernels = kernels, .inputs = inputs, .outputs = outputs, .tensors = tensors};
/* clang-format on */

typedef struct Fixture {
    Store *store;
    Exec *exec;
} Fixture;

static int set_up(void **state)
{
    static Fixture f;
    f.store = store_new();
    assert_true(store_add_program(f.store, &program));
    assert_true(store_initialise(f.store, 1));
    f.exec = exec_new(&program, f.store);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *f = *state;
    exec_free(f->exec);
    store_free(f->store);
    return 0;
}

enum { MOST = 40000 };
static float x[MOST];

static void check_run(Fixture *f, int64_t n, const int32_t *lengths)
{
    exec_set_ragged(f->exec, exec_dim(f->exec, "S"), n, lengths, NULL);
    assert_true(exec_input(f->exec, "x", x));
    exec_set_rng(f->exec, 9, 100);
    assert_true(exec_run(f->exec));
    const float *z = exec_output(f->exec, "z"), *copy = exec_output(f->exec, "copy");
    int64_t i = 0;
    for (int64_t b = 0; b < n; b++)
        for (int32_t p = 0; p < lengths[b]; p++, i++)
            assert_true(z[i] == sqrtf(x[i] * (float)p + 4) + 5 + 100);
    assert_int_equal(exec_output_count(f->exec, "z"), i);
    assert_memory_equal(z, copy, (size_t)i * sizeof *z);
}

static void test_shapes_come_and_go(void **state)
{
    Fixture *f = *state;
    static const int32_t a[] = {3, 0, 5, 1}, b[] = {20000, 1, 15000}, c[] = {3, 0, 5, 2};
    for (int i = 0; i < MOST; i++)
        x[i] = (float)(i % 17);
    for (int threads = 1; threads < 4; threads++) {
        exec_set_threads(threads);
        check_run(f, 4, a);
        check_run(f, 3, b);
        int64_t planned = exec_slab_bytes(f->exec);
        check_run(f, 4, c);
        check_run(f, 0, c);
        check_run(f, 3, b);
        assert_int_equal(exec_slab_bytes(f->exec), planned);
    }
    assert_true(((float *)store_find(f->store, "state")->data)[2] == 0);
}

static void test_reserve_is_exact(void **state)
{
    Fixture *f = *state;
    ExecDim shapes[] = {{3, 3}, {100, 160}, {5, 5}, {64, 320}};
    assert_true(exec_reserve(f->exec, shapes, 2)); /* y and copy share a place */
    assert_int_equal(exec_slab_bytes(f->exec), 2 * 320 * 4);
    static const int32_t lengths[] = {64, 64, 64, 64, 64};
    check_run(f, 5, lengths);
    assert_int_equal(exec_slab_bytes(f->exec), 2 * 320 * 4);
}

static void test_names_and_missing_inputs(void **state)
{
    Fixture *f = *state;
    static const int32_t lengths[] = {2};
    assert_int_equal(exec_dim(f->exec, "T"), -1);
    assert_false(exec_input(f->exec, "y", x));
    assert_null(exec_output(f->exec, "y"));
    exec_set_dim(f->exec, -1, 7); /* a dimension the program does not use */
    exec_set_ragged(f->exec, exec_dim(f->exec, "S"), 1, lengths, NULL);
    assert_false(exec_run(f->exec));
}

static void test_find_nan(void **state)
{
    Fixture *f = *state;
    static const int32_t lengths[] = {4};
    int step = -1;
    const char *name;
    for (int i = 0; i < 4; i++)
        x[i] = 1;
    exec_set_ragged(f->exec, exec_dim(f->exec, "S"), 1, lengths, NULL);
    exec_input(f->exec, "x", x);
    assert_true(exec_find_nan(f->exec, &name, &step) && !name);
    x[3] = -3; /* root of 4 - 9 */
    assert_true(exec_find_nan(f->exec, &name, &step));
    assert_string_equal(name, "root");
    assert_int_equal(step, 1);
    x[2] = NAN;
    assert_true(exec_find_nan(f->exec, &name, &step));
    assert_string_equal(name, "scale");
    exec_input(f->exec, "x", NULL);
    assert_false(exec_find_nan(f->exec, &name, &step)); /* as exec_run */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_shapes_come_and_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reserve_is_exact, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names_and_missing_inputs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_find_nan, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
