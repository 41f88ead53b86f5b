/* Bench: what tests of the training loop share: a program whose one kernel is written here, a
 * corpus of words, settings and hooks, in a folder of its own. To be included by one test each. */
#ifndef TESTS_TRAIN_BENCH_H
#define TESTS_TRAIN_BENCH_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "runtime/data/safetensors.h"
#include "runtime/train/runlog.h"
#include "runtime/train/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a program: w ← 0.9 w + rate × slot, which tokens, step and random numbers
 * enter; loss = Σ |w| ---- */

enum { N = 4 };

static int64_t bad_step;  /* the loss of this step is NaN; 0: none */
static int64_t bad_norm;  /* … the gradient's norm; like a compiled step it then updates nothing */
static int64_t bad_param; /* … w[2] */

static void kernel(const TfcKernelArgs *args, int64_t begin, int64_t end)
{
    if (begin == end)
        return;
    const int32_t *src = args->buffers[0], *next = args->buffers[2];
    float rate = *(const float *)args->buffers[3], step = *(const float *)args->buffers[4];
    float *w = args->buffers[5], *slot = args->buffers[6];
    float *loss = args->buffers[7], *norm = args->buffers[8];
    *loss = 0;
    *norm = bad_norm && (int64_t)step == bad_norm ? INFINITY : 1;
    for (int i = 0; i < N && isfinite(*norm); i++) {
        float noise = (float)(args->rng[0] * 31 + args->rng[2] * 17 + (uint32_t)i) * 1e-3f;
        for (int64_t k = 0; k < args->dims[0]->total; k++)
            noise += (float)(src[k] * (i + 1)) * 1e-2f;
        for (int64_t k = 0; k < args->dims[1]->total; k++)
            noise -= (float)(next[k] * i) * 1e-3f;
        slot[i] = 0.5f * slot[i] + noise + step;
        w[i] = 0.9f * w[i] + rate * slot[i];
        *loss += fabsf(w[i]);
    }
    if (bad_step && (int64_t)step == bad_step)
        *loss = NAN;
    if (bad_param && (int64_t)step == bad_param)
        w[2] = NAN;
}

static const TfcProgramDim dims[] = {{"B", .batch = -1}, {"S", .batch = 0}, {"T", .batch = 0}};
enum { ZERO = TFC_SIZE_ZERO, ONE, ALL, TOTAL_S, TOTAL_T, N_SIZES };
static const TfcSize sizes[N_SIZES] = {
    [ONE] = {.coefficient = 1},
    [ALL] = {.coefficient = N},
    [TOTAL_S] = {1, 1, {{1, TFC_TOTAL}}},
    [TOTAL_T] = {1, 1, {{2, TFC_TOTAL}}},
};
static const TfcBuffer buffers[] = {
    {TFC_BUFFER_INPUT, TFC_I32, TOTAL_S, 0, 0, 0, 0},
    {TFC_BUFFER_INPUT, TFC_I32, TOTAL_T, 1, 0, 0, 0},
    {TFC_BUFFER_INPUT, TFC_I32, TOTAL_T, 2, 0, 0, 0},
    {TFC_BUFFER_INPUT, TFC_F32, ONE, 3, 0, 0, 0},
    {TFC_BUFFER_INPUT, TFC_F32, ONE, 4, 0, 0, 0},
    {TFC_BUFFER_TENSOR, TFC_F32, ALL, 0, 0, 0, 0},
    {TFC_BUFFER_TENSOR, TFC_F32, ALL, 1, 0, 0, 0},
    {TFC_BUFFER_OUTPUT, TFC_F32, ONE, 0, 0, 0, 0},
    {TFC_BUFFER_OUTPUT, TFC_F32, ONE, 1, 0, 0, 0},
};
static const TfcView views[] = {{.buffer = 0}, {.buffer = 1}, {.buffer = 2},
                                {.buffer = 3}, {.buffer = 4}, {.buffer = 5},
                                {.buffer = 6}, {.buffer = 7}, {.buffer = 8}};
static const int32_t kernel_dims[] = {1, 2};
static const TfcShape tokens_s = {.rank = 2, .dims = {{0, 0}, {0, 1}}};
static const TfcShape tokens_t = {.rank = 2, .dims = {{0, 0}, {0, 2}}};
static const TfcShape vector = {.rank = 1, .dims = {{N, -1}}};

static TfcProgram make_program(void)
{
    static TfcStep step = {.kind = TFC_STEP_KERNEL, .name = "walk"};
    static const TfcKernel kernels[] = {kernel};
    static const char *const names[] = {"walk"};
    static TfcPort inputs[] = {{"src", TFC_I32, {0}, 0},
                               {"tgt", TFC_I32, {0}, 1},
                               {"tgt.next", TFC_I32, {0}, 2},
                               {"rate", TFC_F32, {0}, 3},
                               {"step", TFC_F32, {0}, 4}};
    static TfcPort outputs[] = {{"loss", TFC_F32, {0}, 7}, {"gradient_norm", TFC_F32, {0}, 8}};
    static TfcTensor tensors[] = {
        {.name = "w",
         .type = TFC_F32,
         .role = TFC_TRAINED,
         .init = TFC_INIT_NORMAL,
         .b = 1,
         .buffer = 5},
        {.name = "m.w", .type = TFC_F32, .role = TFC_SLOT, .init = TFC_INIT_ZEROS, .buffer = 6}};
    step.kernel = (TfcKernelStep){.n_views = 9,
                                  .n_results = 4,
                                  .n_dims = 2,
                                  .views = views,
                                  .dims = kernel_dims,
                                  .range = ONE,
                                  .work = ALL};
    inputs[0].shape = tokens_s;
    inputs[1].shape = inputs[2].shape = tokens_t;
    tensors[0].shape = tensors[1].shape = vector;
    return (TfcProgram){.name = "train_step",
                        .n_dims = 3,
                        .n_given = 3,
                        .n_sizes = N_SIZES,
                        .sizes = sizes,
                        .n_buffers = 9,
                        .n_steps = 1,
                        .n_kernels = 1,
                        .n_inputs = 5,
                        .n_outputs = 2,
                        .n_tensors = 2,
                        .dims = dims,
                        .buffers = buffers,
                        .steps = &step,
                        .kernels = kernels,
                        .kernel_names = names,
                        .inputs = inputs,
                        .outputs = outputs,
                        .tensors = tensors};
}

/* ---- a training in a folder of its own ---- */

static volatile sig_atomic_t stop;

typedef struct Bench {
    Arena *arena;
    Diagnostics diags;
    Vocabulary *vocab;
    Corpus *corpus;
    char folder[64];
    TfcProgram program;
    TrainPrograms programs;
    TrainSettings settings;
    Store *store;
    TrainState state;
    int64_t stop_at, reports;
    double valid[64]; /* figures of validations, in turn */
    bool names_gradient;
    int n_valid;
} Bench;

static void on_planned(void *user, int64_t slab, int64_t params)
{
    Bench *bench = user;
    assert_int_equal(params, store_bytes(bench->store));
    assert_true(slab >= 0);
}

static void on_report(void *user, const TrainReport *report, bool due)
{
    Bench *bench = user;
    bench->reports += due;
    if (report->step == bench->stop_at)
        stop = 1;
}

static bool on_validate(void *user, TrainReport *report)
{
    Bench *bench = user;
    report->figures.loss = bench->valid[bench->n_valid++];
    return true;
}

static const char *on_bad_gradient(void *user, const Batch *batch, uint64_t stream, double *value)
{
    Bench *bench = user;
    assert_int_equal(stream, bench->state.step + 1);
    assert_true(batch->shape.rows > 0);
    *value = -INFINITY;
    return bench->names_gradient ? "w" : NULL;
}

static void new_store(Bench *bench)
{
    store_free(bench->store);
    bench->store = store_new();
    assert_true(store_add_program(bench->store, &bench->program));
    assert_true(store_initialise(bench->store, 5));
    bench->state = (TrainState){.seed = 5, .config = train_config(&bench->settings, bench->corpus)};
}

static Lines *make_lines(Bench *bench, int salt)
{
    Text text = {0};
    for (int i = 0; i < 40; i++) {
        for (int k = 0; k <= (i * 7 + salt) % 9; k++)
            text_add(&text, "%sw%d", k ? " " : "", (i * 3 + k * 5 + salt) % 13);
        text_add(&text, "\n");
    }
    const Source *source = diag_source(bench->arena, "text", text.data, text.length);
    text_free(&text);
    return lines_parse(&bench->diags, bench->arena, source, 0);
}

static void open_bench(Bench *bench)
{
    *bench = (Bench){.arena = arena_new()};
    diag_init(&bench->diags, bench->arena);
    strcpy(bench->folder, "/tmp/tfc-train-XXXXXX");
    assert_non_null(mkdtemp(bench->folder));
    Lines *source = make_lines(bench, 1), *target = make_lines(bench, 4);
    const Lines *texts[] = {source, target};
    bench->vocab = vocab_make(&bench->diags, bench->arena, "words:auto", texts, 2, false);
    CorpusOptions options = {.kind = CORPUS_PAIRS};
    bench->corpus = corpus_encode(&bench->diags, bench->vocab, &options,
                                  &(CorpusText){.source = source, .target = target});
    assert_non_null(bench->corpus);
    bench->program = make_program();
    bench->programs = (TrainPrograms){.step = &bench->program,
                                      .feed = {.source = "src",
                                               .target = "tgt",
                                               .next = "tgt.next",
                                               .batch = "B",
                                               .dims = {"S", "T"}}};
    bench->settings = (TrainSettings){.rate = {.kind = RATE_CONSTANT, .peak = 0.01},
                                      .accumulate = 1,
                                      .steps = 37,
                                      .batch = {.tokens = 30, .shuffle = true, .seed = 5},
                                      .report_every = 10,
                                      .save_every = 10,
                                      .keep = 3,
                                      .folder = bench->folder,
                                      .stop = &stop};
    stop = 0;
    bad_step = bad_norm = bad_param = 0;
    new_store(bench);
}

static void close_bench(Bench *bench)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", bench->folder);
    assert_int_equal(system(command), 0);
    store_free(bench->store);
    corpus_free(bench->corpus);
    arena_free(bench->arena);
}

static TrainEnd run(Bench *bench, bool validates)
{
    TrainHooks hooks = {.user = bench,
                        .planned = on_planned,
                        .report = on_report,
                        .validate = validates ? on_validate : NULL,
                        .find_bad_gradient = on_bad_gradient};
    return train(&bench->diags, &bench->programs, &bench->settings, &hooks, bench->corpus,
                 bench->store, &bench->state);
}

static const char *in_folder(Bench *bench, const char *name)
{
    return file_in(bench->arena, bench->folder, name);
}

static bool resume(Bench *bench)
{
    new_store(bench);
    stop = 0;
    return checkpoint_load(&bench->diags, bench->arena, in_folder(bench, "last.safetensors"),
                           bench->store, NULL, &bench->state, NULL);
}

static void copy_params(Bench *bench, float out[2 * N])
{
    memcpy(out, store_find(bench->store, "w")->data, N * sizeof(float));
    memcpy(out + N, store_find(bench->store, "m.w")->data, N * sizeof(float));
}

#endif
