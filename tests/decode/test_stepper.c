/* A stepper over a program written by hand, whose logits are twice the weights times the sum of the
 * tokens fed: what it computes while its caches grow, and what is done once, not at every token:
 * preparing weights, and taking memory for the slab. */
#define _DEFAULT_SOURCE /* posix_memalign */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/decode/stepper_exec.h"

#include <stdlib.h>

enum { VOCAB = 3, SLOTS = 4, FIRST_ROOM = 32, LENGTH = 4 * FIRST_ROOM };

/* ---- what is counted ---- */

static int blocks, packs, sum_calls;

/* The runtime's memory comes from here, in place of the C library's. */
int posix_memalign(void **memory, size_t alignment, size_t size)
{
    blocks++;
    *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    return *memory ? 0 : 12;
}

/* ---- the program ---- */

enum { B, Q, P, N_DIMS };
enum { ZERO = TFC_SIZE_ZERO, ONE, WORDS, TOKENS, PLACES, CACHED, LOGITS, N_SIZES };
enum { B_TOKENS, B_WEIGHT, B_PACKED, B_CACHE, B_PLACES, B_LOGITS, N_BUFFERS };

static void pack_kernel(const TfcKernelArgs *args, int64_t begin, int64_t end)
{
    const float *weight = args->buffers[0];
    float *packed = args->buffers[1];
    for (int64_t i = begin; i < end; i++)
        packed[i] = 2 * weight[i];
    packs++;
}

/* Puts each row's token into its cache, and the row's cache behind each other: [rows, places]. */
static void read_kernel(const TfcKernelArgs *args, int64_t begin, int64_t end)
{
    const int32_t *token = args->buffers[0];
    const TfcDim *past = args->dims[0];
    float *cache = args->buffers[1], *places = args->buffers[2];
    for (int64_t r = begin; r < end; r++) {
        cache[past->offset[r] + past->length[r] - 1] = (float)token[r];
        for (int32_t p = 0; p < past->length[r]; p++)
            places[r * past->extent + p] = cache[past->offset[r] + p];
    }
}

static void sum_kernel(const TfcKernelArgs *args, int64_t begin, int64_t end)
{
    const float *places = args->buffers[0], *packed = args->buffers[1];
    const TfcDim *past = args->dims[0];
    float *logits = args->buffers[2];
    sum_calls++;
    for (int64_t r = begin; r < end; r++) {
        float sum = 0;
        for (int32_t p = 0; p < past->length[r]; p++)
            sum += places[r * past->extent + p];
        for (int v = 0; v < VOCAB; v++)
            logits[r * VOCAB + v] = sum * packed[v];
    }
}

static const TfcSize sizes[N_SIZES] = {
    [ONE] = {.coefficient = 1},          [WORDS] = {.coefficient = VOCAB},
    [TOKENS] = {1, 1, {{Q, TFC_TOTAL}}}, [PLACES] = {1, 2, {{Q, TFC_TOTAL}, {P, TFC_EXTENT}}},
    [CACHED] = {1, 1, {{P, TFC_TOTAL}}}, [LOGITS] = {VOCAB, 1, {{Q, TFC_TOTAL}}},
};
static const TfcView pack_views[] = {{B_WEIGHT, 1, 0, {ONE}}, {B_PACKED, 1, 0, {ONE}}};
static const TfcView read_views[] = {
    {B_TOKENS, 1, 0, {ONE}}, {B_CACHE, 1, 0, {ONE}}, {B_PLACES, 1, 0, {ONE}}};
static const TfcView sum_views[] = {
    {B_PLACES, 1, 0, {ONE}}, {B_PACKED, 1, 0, {ONE}}, {B_LOGITS, 1, 0, {ONE}}};
static const int32_t past[] = {P};
/* clang-format off */
static const TfcStep steps[] = {
    {TFC_STEP_KERNEL, TFC_ROWS_NONE, "pack", {.kernel = {0, 2, 1, 0, 0, WORDS, ONE, pack_views, NULL, NULL, 0, false}}},
    {TFC_STEP_KERNEL, TFC_ROWS_NONE, "read", {.kernel = {1, 3, 2, 1, 0, TOKENS, ONE, read_views, past, NULL, 0, false}}},
    {TFC_STEP_KERNEL, TFC_ROWS_NONE, "sum", {.kernel = {2, 3, 1, 1, 0, TOKENS, ONE, sum_views, past, NULL, 0, false}}},
};
/* clang-format on */
static const TfcBuffer buffers[N_BUFFERS] = {
    [B_TOKENS] = {TFC_BUFFER_INPUT, TFC_I32, TOKENS, 0, 1, 1, 0},
    [B_WEIGHT] = {TFC_BUFFER_TENSOR, TFC_F32, WORDS, 0, 0, 0, 0},
    [B_PACKED] = {TFC_BUFFER_KEPT, TFC_F32, WORDS, 0, 0, 3, 0},
    [B_CACHE] = {TFC_BUFFER_TENSOR, TFC_F32, CACHED, 1, 1, 1, 0},
    [B_PLACES] = {TFC_BUFFER_SLAB, TFC_F32, PLACES, 0, 1, 2, 0},
    [B_LOGITS] = {TFC_BUFFER_OUTPUT, TFC_F32, LOGITS, 0, 2, 3, 0},
};
static const TfcKernel kernels[] = {pack_kernel, read_kernel, sum_kernel};
static const TfcProgramDim dims[N_DIMS] = {
    {"B", .batch = -1}, {"Q", .batch = B}, {"P", .batch = B}};
static const TfcPort inputs[] = {{"tokens", TFC_I32, {2, {{0, B}, {0, Q}}}, B_TOKENS}};
static const TfcPort outputs[] = {
    {"logits", TFC_F32, {3, {{0, B}, {0, Q}, {VOCAB, -1}}}, B_LOGITS}};
/* clang-format off */
static const TfcTensor tensors[] = {
    {.name = "weight", .type = TFC_F32, .shape = {1, {{VOCAB, -1}}}, .init = TFC_INIT_ONES, .buffer = B_WEIGHT},
    {.name = "cache.0", .type = TFC_F32, .shape = {2, {{0, B}, {0, P}}}, .buffer = B_CACHE}};
static const TfcProgram program = {
    .name = "decode_step", .n_dims = N_DIMS, .n_given = N_DIMS, .n_sizes = N_SIZES, .n_buffers = N_BUFFERS, .n_steps = 3, .n_kernels = 3,
    .n_inputs = 1, .n_outputs = 1, .n_tensors = 2, .n_prepared = 1, .dims = dims, .sizes = sizes, .buffers = buffers,
    .steps = steps, .kernels = kernels, .inputs = inputs, .outputs = outputs, .tensors = tensors};
/* clang-format on */

/* ---- the tests ---- */

static const StepperPrograms step_alone = {
    .decode_step = &program, .target = "tokens", .logits = "logits"};

typedef struct Fixture {
    Store *store;
    Stepper stepper;
} Fixture;

static int set_up(void **state)
{
    static Fixture f;
    f.store = store_new();
    assert_true(store_add_program(f.store, &program) && store_initialise(f.store, 1));
    assert_true(stepper_exec_new(&step_alone, f.store, &f.stepper));
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *f = *state;
    f->stepper.free(f->stepper.self);
    store_free(f->store);
    return 0;
}

/* Feeds a text to each of n slots; `each` are the blocks of memory that a token at a place may
 * take. */
static void decode(Fixture *f, int32_t n, int32_t length, float weight, const int *each)
{
    static const int32_t place[SLOTS] = {0, 1, 2, 3};
    float sums[SLOTS] = {0};
    for (int32_t t = 0; t < length; t++) {
        int32_t token[SLOTS];
        for (int32_t r = 0; r < n; r++) {
            token[r] = (t * 7 + r) % 5;
            sums[r] += (float)token[r];
        }
        int before = blocks;
        const float *logits = f->stepper.step(f->stepper.self, n, place, place, NULL, token);
        assert_non_null(logits);
        assert_int_equal(blocks - before, each ? each[t] : 0);
        for (int32_t r = 0; r < n; r++)
            for (int v = 0; v < VOCAB; v++)
                assert_true(logits[r * VOCAB + v] == 2 * weight * sums[r]);
    }
}

/* The slab grows where the caches do, which double; nothing is prepared again. */
static void test_a_growing_text(void **state)
{
    Fixture *f = *state;
    static const int grows[LENGTH] = {[FIRST_ROOM] = 1, [2 * FIRST_ROOM] = 1};
    packs = 0;
    assert_true(f->stepper.begin(f->stepper.self, NULL, SLOTS));
    decode(f, 2, LENGTH, 1, grows);
    assert_int_equal(packs, 1);
    assert_true(f->stepper.begin(f->stepper.self, NULL, SLOTS));
    decode(f, SLOTS, LENGTH, 1, NULL); /* the next text has room for all its slots */
    assert_int_equal(packs, 1);
}

/* Other params are prepared once more. */
static void test_params_change(void **state)
{
    Fixture *f = *state;
    float *weight = store_find(f->store, "weight")->data;
    packs = 0;
    assert_true(f->stepper.begin(f->stepper.self, NULL, 1));
    decode(f, 1, FIRST_ROOM / 2, 1, NULL);
    for (int v = 0; v < VOCAB; v++)
        weight[v] = 5;
    store_changed(f->store);
    assert_true(f->stepper.begin(f->stepper.self, NULL, 1));
    decode(f, 1, FIRST_ROOM / 2, 5, NULL);
    assert_int_equal(packs, 2);
}

/* Steppers over one store have caches of their own, and share what is prepared of the params. */
static void test_two_steppers(void **state)
{
    Fixture *f = *state;
    Fixture other = {.store = f->store};
    assert_true(stepper_exec_new(&step_alone, f->store, &other.stepper));
    packs = 0;
    assert_true(f->stepper.begin(f->stepper.self, NULL, SLOTS));
    decode(f, 2, FIRST_ROOM / 4, 1, NULL);
    assert_true(other.stepper.begin(other.stepper.self, NULL, SLOTS));
    decode(&other, 3, FIRST_ROOM / 2, 1, NULL);
    assert_int_equal(packs, 1);
    f->stepper.free(f->stepper.self);
    f->stepper = other.stepper; /* which outlives the one that prepared */
    assert_true(f->stepper.begin(f->stepper.self, NULL, 1));
    decode(f, 1, FIRST_ROOM / 2, 1, NULL);
    assert_int_equal(packs, 1);
}

/* `feed` fills the caches without running the step that only logits need; the prepared step
 * runs. */
static void test_fed(void **state)
{
    Fixture *f = *state;
    static const int32_t place[2] = {0, 1};
    packs = sum_calls = 0;
    assert_true(f->stepper.begin(f->stepper.self, NULL, SLOTS));
    for (int32_t t = 0; t < LENGTH; t++)
        assert_true(f->stepper.feed(f->stepper.self, 2, place, place, NULL, (int32_t[]){3, 1}));
    assert_int_equal(sum_calls, 0);
    assert_int_equal(packs, 1);
    const float *logits =
        f->stepper.step(f->stepper.self, 2, place, place, NULL, (int32_t[]){2, 0});
    assert_true(logits[0] == 2 * (3 * LENGTH + 2) && logits[VOCAB] == 2 * LENGTH);
    assert_int_equal(sum_calls, 1);
    assert_int_equal(packs, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_growing_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_params_change, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_two_steppers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_fed, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
