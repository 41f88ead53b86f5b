/* Traces over a program written by hand: every step of every run once, slices within
 * their steps, spans, what finds no room, the JSON, the sums. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "runtime/exec/exec.h"
#include "runtime/exec/trace.h"
#include "runtime/exec/trace_state.h"
#include "tests/exec/load_openblas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_one(const TfcKernelArgs *args, int64_t begin, int64_t end)
{
    const float *x = args->buffers[0];
    float *y = args->buffers[1];
    for (int64_t i = begin; i < end; i++)
        y[i] = x[i] + 1;
}

enum { X, Y, COPY, PRODUCT, N_BUFFERS, SIDE = 64 };

enum { ZERO = TFC_SIZE_ZERO, ONE, ROW, ALL, WORK, N_SIZES };
static const TfcSize sizes[N_SIZES] = {
    [ONE] = {.coefficient = 1},
    [ROW] = {.coefficient = SIDE},
    [ALL] = {.coefficient = SIDE * SIDE},
    [WORK] = {.coefficient = 1 << 12},
};
static const TfcView views[] = {{X, 1, 0, {ONE}}, {Y, 1, 0, {ONE}}};
/* clang-format off */
static const TfcStep steps[] = {
    {TFC_STEP_KERNEL, TFC_ROWS_NONE, "add \"one\"", {.kernel = {0, 2, 1, 0, 0, ALL, WORK, views, NULL, NULL, 0}}},
    {TFC_STEP_COPY, TFC_ROWS_NONE, "copy", {.copy = {COPY, Y, ALL}}},
    {TFC_STEP_GEMM, TFC_ROWS_NONE, "square", {.gemm = {.type = TFC_F32,
                                        .a = {0, Y, -1, {ZERO}, ZERO, ROW, ONE},
                                        .b = {0, COPY, -1, {ZERO}, ZERO, ROW, ONE},
                                        .c = {0, PRODUCT, -1, {ZERO}, ZERO, ROW, ONE},
                                        .m = {TFC_EXTENT_SIZE, ROW, 0},
                                        .n = {TFC_EXTENT_SIZE, ROW, 0},
                                        .k = {TFC_EXTENT_SIZE, ROW, 0},
                                        .batch_loop = -1}}},
    {TFC_STEP_KERNEL, TFC_ROWS_NONE, "again", {.kernel = {0, 2, 1, 0, 0, ALL, WORK, views, NULL, NULL, 0}}},
};
/* clang-format on */
enum { N_STEPS = sizeof steps / sizeof steps[0] };
static const TfcBuffer buffers[N_BUFFERS] = {
    [X] = {TFC_BUFFER_INPUT, TFC_F32, ALL, 0, 0, 0},
    [Y] = {TFC_BUFFER_OUTPUT, TFC_F32, ALL, 0, 0, 3},
    [COPY] = {TFC_BUFFER_SLAB, TFC_F32, ALL, 0, 1, 2},
    [PRODUCT] = {TFC_BUFFER_OUTPUT, TFC_F32, ALL, 1, 2, 3},
};
static const TfcKernel kernels[] = {add_one};
static const char *const kernel_names[] = {"row.add_one"};
static const TfcPort inputs[] = {{"x", TFC_F32, {1, {{SIDE * SIDE, -1}}}, X}};
static const TfcPort outputs[] = {{"y", TFC_F32, {1, {{SIDE * SIDE, -1}}}, Y},
                                  {"product", TFC_F32, {1, {{SIDE * SIDE, -1}}}, PRODUCT}};
static const TfcProgram program = {.name = "test",
                                   .n_sizes = N_SIZES,
                                   .sizes = sizes,
                                   .n_buffers = N_BUFFERS,
                                   .n_steps = N_STEPS,
                                   .n_kernels = 1,
                                   .n_inputs = 1,
                                   .n_outputs = 2,
                                   .buffers = buffers,
                                   .steps = steps,
                                   .kernels = kernels,
                                   .kernel_names = kernel_names,
                                   .inputs = inputs,
                                   .products = {.blas = {tfc_blas_f32, tfc_blas_f64}},
                                   .outputs = outputs};

typedef struct Fixture {
    Store *store;
    Exec *exec;
    float x[SIDE * SIDE];
} Fixture;

static int set_up(void **state)
{
    static Fixture f;
    exec_set_threads(2);
    f.store = store_new();
    f.exec = exec_new(&program, f.store);
    for (int i = 0; i < SIDE * SIDE; i++)
        f.x[i] = (float)i;
    assert_true(exec_input(f.exec, "x", f.x));
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *f = *state;
    trace_use(NULL);
    exec_free(f->exec);
    store_free(f->store);
    return 0;
}

/* A trace of so many runs. */
static Trace *record(Fixture *f, int runs, int32_t capacity)
{
    Trace *trace = trace_new(capacity);
    assert_non_null(trace);
    trace_use(trace);
    int64_t begin = trace_begin();
    for (int i = 0; i < runs; i++)
        assert_true(exec_run(f->exec));
    trace_end("all \\ runs", begin);
    trace_use(NULL);
    return trace;
}

static void test_every_step(void **state)
{
    enum { RUNS = 25 };
    Trace *trace = record(*state, RUNS, 0);
    assert_int_equal(trace->used_steps, RUNS * N_STEPS);
    assert_int_equal(trace->used_spans, RUNS + 1);
    assert_int_equal(trace_dropped(trace), 0);
    int64_t tasks[RUNS * N_STEPS] = {0};
    for (int t = 0; t < trace->n_threads; t++)
        for (int i = 0; i < trace->threads[t].n; i++) {
            const TraceSlice *slice = &trace->threads[t].slices[i];
            const TraceStep *step = &trace->steps[slice->step];
            assert_true(step->begin <= slice->begin && slice->begin <= slice->end &&
                        slice->end <= step->end);
            assert_true(i == 0 || slice[-1].end <= slice->begin);
            tasks[slice->step] += slice->tasks;
        }
    for (int i = 0; i < RUNS * N_STEPS; i++) {
        assert_int_equal(trace->steps[i].step, i % N_STEPS);
        /* 4096 units of 4096 elements, 8 units a task; 16 KB of copy; a small product */
        assert_int_equal(tasks[i],
                         trace->steps[i].program->steps[i % N_STEPS].kind == TFC_STEP_KERNEL ? 512
                                                                                             : 1);
    }
    assert_int_equal(trace->spans[RUNS].begin <= trace->spans[0].begin, 1);
    trace_free(trace);
}

static void test_same_results(void **state)
{
    Fixture *f = *state;
    assert_true(exec_run(f->exec));
    float plain[SIDE * SIDE];
    memcpy(plain, exec_output(f->exec, "product"), sizeof plain);
    Trace *trace = record(f, 1, 0);
    assert_memory_equal(plain, exec_output(f->exec, "product"), sizeof plain);
    trace_free(trace);
    trace = trace_new(0); /* not in use: nothing is recorded */
    assert_true(exec_run(f->exec));
    assert_int_equal(trace->used_steps, 0);
    trace_free(trace);
}

static void test_no_room(void **state)
{
    Trace *trace = record(*state, 3, 5);
    assert_int_equal(trace_dropped(trace), 3 * N_STEPS - 5);
    trace_free(trace);
}

static void test_totals(void **state)
{
    Trace *trace = record(*state, 10, 0);
    Arena *arena = arena_new();
    int n;
    TraceTotal *totals = trace_totals(trace, arena, &n);
    assert_int_equal(n, 3);
    double seconds = 0;
    for (int i = 0; i < n; i++) {
        const TraceTotal *t = &totals[i];
        seconds += t->seconds;
        assert_true(i == 0 || t->seconds <= totals[i - 1].seconds);
        const double bytes = SIDE * SIDE * sizeof(float);
        if (t->kind == TFC_STEP_GEMM) {
            assert_string_equal(t->shape, "64 x 64 x 64");
            assert_true(t->flops == 10 * 2.0 * SIDE * SIDE * SIDE && t->bytes == 10 * 3 * bytes);
        } else if (t->kind == TFC_STEP_KERNEL) {
            assert_string_equal(t->kernel, "row.add_one");
            assert_string_equal(t->name, "add \"one\"");
            assert_true(t->calls == 20 && t->flops == 0 && t->bytes == 20 * 2 * bytes);
        } else
            assert_true(t->calls == 10 && t->bytes == 10 * 2 * bytes);
    }
    assert_true(seconds > 0);
    arena_free(arena);
    trace_free(trace);
}

static int count(const char *text, const char *word)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, word)); at++)
        n++;
    return n;
}

static void test_json(void **state)
{
    Trace *trace = record(*state, 2, 0);
    char path[] = "/tmp/tfc-trace-XXXXXX";
    close(mkstemp(path));
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    assert_true(trace_write(trace, &diags, path, NULL));
    const Source *source = file_read(&diags, arena, path, 1 << 24);
    unlink(path);
    assert_non_null(source);
    assert_non_null(
        strstr(source->text,
               "\"name\": \"add \\\"one\\\" [row.add_one]\", \"cat\": \"kernel\", \"ph\": \"X\""));
    assert_non_null(strstr(source->text, "\"name\": \"all \\\\ runs\", \"cat\": \"span\""));
    assert_int_equal(count(source->text, "\"cat\": \"product\""), 2);
    assert_int_equal(
        count(source->text,
              "\"shape\": \"64 x 64 x 64\", \"tasks\": 1, \"flops\": 524288, \"bytes\": 49152}"),
        2);
    assert_int_equal(count(source->text, "{"), count(source->text, "}"));
    assert_false(trace_write(trace, &diags, "/nowhere/at/all", NULL));
    trace_free(trace);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_step, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_same_results, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_room, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_totals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_json, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, load_openblas, NULL);
}
