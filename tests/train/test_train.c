/* The training loop on a program whose one kernel is written here: stopping at any
 * step and going on gives the same bytes; checkpoints, best, averages and patience
 * do what train.h says. */
#define _GNU_SOURCE
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

/* A run of an earlier version is resumed: the hash of its settings and data is that of version
 * 0.2.0. */
static void earlier_runs_are_resumed(void **state)
{
    (void)state;
    static const struct {
        CorpusKind kind;
        uint64_t config;
    } rows[] = {{CORPUS_PAIRS, 0x7079025f6fd0a677},
                {CORPUS_SENTENCES, 0xf3e878c3f0dbcc69},
                {CORPUS_LINES, 0xdcdb85e09bd414cb},
                {CORPUS_STREAM, 0xe18ac3d710b486fb},
                {CORPUS_RECORDS, 0xca7dd0f5ff67f158}};
    Bench bench;
    open_bench(&bench);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench.corpus->options.kind = rows[i].kind;
        assert_int_equal(train_config(&bench.settings, bench.corpus), rows[i].config);
    }
    bench.corpus->options.kind = CORPUS_PAIRS; /* what it holds */
    close_bench(&bench);
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

/* ---- tests ---- */

static void resuming_gives_the_same_bytes(void **state)
{
    (void)state;
    Bench bench;
    open_bench(&bench);
    float whole[2 * N], parts[2 * N];
    assert_int_equal(run(&bench, false), TRAIN_DONE);
    assert_int_equal(bench.state.step, 37);
    assert_true(bench.state.epoch > 1); /* the order of several epochs is in play */
    TrainState ended = bench.state;
    copy_params(&bench, whole);
    for (int64_t stop_at = 1; stop_at < 37; stop_at += 5) {
        unlink(in_folder(&bench, "last.safetensors"));
        new_store(&bench);
        stop = 0;
        bench.stop_at = stop_at;
        assert_int_equal(run(&bench, false), TRAIN_INTERRUPTED);
        assert_int_equal(bench.state.step, stop_at);
        bench.stop_at = 0;
        assert_true(resume(&bench));
        assert_int_equal(bench.state.step, stop_at);
        assert_int_equal(run(&bench, false), TRAIN_DONE);
        copy_params(&bench, parts);
        assert_memory_equal(parts, whole, sizeof whole);
        assert_int_equal(bench.state.epoch, ended.epoch);
        assert_int_equal(bench.state.batch, ended.batch);
    }
    close_bench(&bench);
}

static void a_kill_goes_back_to_the_last_checkpoint(void **state)
{
    (void)state;
    Bench bench;
    open_bench(&bench);
    float whole[2 * N], parts[2 * N];
    assert_int_equal(run(&bench, false), TRAIN_DONE);
    copy_params(&bench, whole);
    /* As if killed between step 30 and the end: step-37 is there, last is not. */
    assert_true(run_link(run_step_path(bench.arena, bench.folder, 20),
                         in_folder(&bench, "last.safetensors")));
    assert_true(resume(&bench));
    assert_int_equal(bench.state.step, 20);
    assert_int_equal(run(&bench, false), TRAIN_DONE);
    copy_params(&bench, parts);
    assert_memory_equal(parts, whole, sizeof whole);
    /* The log tells of each step once. */
    const Source *log =
        file_read(&bench.diags, bench.arena, in_folder(&bench, "log.jsonl"), 1 << 20);
    int lines = 0;
    for (size_t i = 0; i < log->length; i++)
        lines += log->text[i] == '\n';
    assert_int_equal(lines, 4); /* 10, 20, 30, 37 */
    close_bench(&bench);
}

static void checkpoints_are_kept_and_averaged(void **state)
{
    (void)state;
    Bench bench;
    open_bench(&bench);
    bench.settings.average = 2;
    assert_int_equal(run(&bench, false), TRAIN_DONE);
    int64_t *steps;
    assert_int_equal(run_steps(bench.arena, bench.folder, INT64_MAX, &steps), 3);
    assert_int_equal(steps[0], 20);
    assert_int_equal(steps[2], 37);
    StFile *files[3];
    const char *names[] = {run_step_path(bench.arena, bench.folder, 30),
                           run_step_path(bench.arena, bench.folder, 37),
                           in_folder(&bench, "average.safetensors")};
    for (int i = 0; i < 3; i++)
        assert_non_null(files[i] = st_open(&bench.diags, bench.arena, names[i]));
    for (int i = 0; i < N; i++) {
        double mean =
            (st_value(st_find(files[0], "w"), i) + st_value(st_find(files[1], "w"), i)) / 2;
        assert_true(st_value(st_find(files[2], "w"), i) == (float)mean);
    }
    for (int i = 0; i < 3; i++)
        st_close(files[i]);
    close_bench(&bench);
}

/* The mean is validated like a step, and is the run's only if it is the better one. */
static void an_average_is_judged(void **state)
{
    (void)state;
    for (int better = 0; better < 2; better++) {
        Bench bench;
        open_bench(&bench);
        memcpy(bench.valid, (double[]){3, 2, 2.5, 2.2, better ? 1.5 : 2}, 5 * sizeof(double));
        bench.settings.validate_every = 10;
        bench.settings.average = 3;
        bench.settings.best.by = "loss";
        assert_int_equal(run(&bench, true), TRAIN_DONE);
        assert_true(bench.n_valid == 5 && bench.state.best_step == 20); /* a mean is no step */
        StFile *file = st_open(&bench.diags, bench.arena, in_folder(&bench, "average.safetensors"));
        const CheckpointAverage average = checkpoint_average_of(file);
        assert_true(average.of == 3 && average.first == 20 && !strcmp(average.by, "loss"));
        assert_true(average.figure == bench.valid[4] && average.best == 2 &&
                    average.better == better);
        assert_memory_equal(store_find(bench.store, "w")->data, st_find(file, "w")->data,
                            N * sizeof(float)); /* what was validated */
        st_close(file);
        const Source *log =
            file_read(&bench.diags, bench.arena, in_folder(&bench, "log.jsonl"), 1 << 20);
        const char *line = strstr(log->text, "\"averaged\": 3, \"averaged_first\": 20, ");
        assert_true(line && strstr(line, better ? "\"best\": true" : "\"best\": false"));
        RunLog lines; /* of steps */
        const FileReach folder = {.folder = bench.folder};
        assert_true(runlog_read(&bench.diags, bench.arena, folder, &lines) && lines.count == 4);
        double seconds;
        assert_true(runlog_cut(&bench.diags, bench.folder, 37, &seconds));
        assert_true(seconds == vec_last(lines).seconds);
        close_bench(&bench);
    }
}

static void patience_stops_and_best_stays(void **state)
{
    (void)state;
    Bench bench;
    open_bench(&bench);
    const double figures[] = {3, 2, 2.5, 2.2, 9, 9, 9};
    memcpy(bench.valid, figures, sizeof figures);
    bench.settings.validate_every = 5;
    bench.settings.patience = 2;
    assert_int_equal(run(&bench, true), TRAIN_DONE);
    assert_int_equal(bench.state.step, 20);
    assert_int_equal(bench.state.best_step, 10);
    assert_true(bench.state.best == 2);
    StFile *best = st_open(&bench.diags, bench.arena, in_folder(&bench, "best.safetensors"));
    assert_string_equal(st_meta(best, "step"), "10");
    st_close(best);
    /* It stays stopped. */
    assert_true(resume(&bench));
    assert_int_equal(run(&bench, true), TRAIN_DONE);
    assert_int_equal(bench.state.step, 20);
    close_bench(&bench);
}

static void a_nan_leaves_the_last_good_checkpoint(void **state)
{
    (void)state;
    Bench bench;
    open_bench(&bench);
    bad_step = 25;
    assert_int_equal(run(&bench, false), TRAIN_FAILED);
    assert_true(bench.diags.errors > 0);
    assert_non_null(strstr(bench.diags.list.data[0].message, "step 25"));
    bad_step = 0;
    assert_true(resume(&bench));
    assert_int_equal(bench.state.step, 20);
    close_bench(&bench);
}

static void a_gradient_that_is_no_number_updates_nothing(void **state)
{
    (void)state;
    Bench bench;
    float before[2 * N], after[2 * N];
    for (int named = 0; named < 2; named++) {
        open_bench(&bench);
        bench.settings.steps = 24;
        assert_int_equal(run(&bench, false), TRAIN_DONE);
        copy_params(&bench, before);
        bench.settings.steps = 37;
        bad_norm = 25;
        bench.names_gradient = named;
        assert_int_equal(run(&bench, false), TRAIN_FAILED);
        assert_int_equal(bench.state.step, 24);
        copy_params(&bench, after);
        assert_memory_equal(before, after, sizeof before);
        assert_non_null(strstr(
            bench.diags.list.data[0].message,
            named ? "step 25: the gradient of 'w' is infinite"
                  : "step 25: the norm of the gradient, or the update that it makes, is infinite"));
        close_bench(&bench);
    }
}

static void a_param_that_is_no_number_is_not_saved(void **state)
{
    (void)state;
    Bench bench;
    open_bench(&bench);
    bad_param = 30; /* a step whose checkpoint is due; the next loss would be the first to tell */
    assert_int_equal(run(&bench, false), TRAIN_FAILED);
    assert_non_null(
        strstr(bench.diags.list.data[0].message,
               "step-30.safetensors: 'w' is not finite: 1 of its 4 values, number 3 the "
               "first, is NaN"));
    assert_false(file_exists(run_step_path(bench.arena, bench.folder, 30)));
    bad_param = 0;
    assert_true(resume(&bench));
    assert_int_equal(bench.state.step, 20);
    ((float *)store_find(bench.store, "m.w")->data)[0] = -INFINITY; /* nor is such a run begun */
    assert_int_equal(run(&bench, false), TRAIN_FAILED);
    assert_int_equal(bench.state.step, 20);
    close_bench(&bench);
}

/* One byte of the file becomes another. */
static void damage(const char *path, long at)
{
    FILE *file = fopen(path, "r+e");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, at < 0 ? SEEK_END : SEEK_SET), 0);
    int byte = fgetc(file);
    assert_int_equal(fseek(file, at, at < 0 ? SEEK_END : SEEK_SET), 0);
    assert_int_not_equal(fputc(byte ^ 1, file), EOF);
    assert_int_equal(fclose(file), 0);
}

static void damage_is_told(void **state)
{
    (void)state;
    Bench bench;
    open_bench(&bench);
    assert_int_equal(run(&bench, false), TRAIN_DONE);
    const char *last = in_folder(&bench, "last.safetensors");
    damage(last, -1); /* the data of "w", which comes after "m.w" */
    assert_false(resume(&bench));
    assert_non_null(strstr(bench.diags.list.data[0].message, "is damaged: the checksum of 'w'"));
    damage(last, -1);
    assert_true(resume(&bench));
    const Source *text = file_read(&bench.diags, bench.arena, last, 1 << 20);
    long at = 0; /* the seed, which no other check looks at */
    while (memcmp(text->text + at, "\"seed\":\"5\"", 10))
        at++;
    damage(last, at + 8);
    assert_false(resume(&bench));
    assert_non_null(
        strstr(bench.diags.list.data[1].message, "is damaged: the checksum of its header"));
    /* Files of other programs have no checksums, and are read. */
    damage(last, at + 8);
    at = 0;
    while (memcmp(text->text + at, "\"xxh64_blocks\"", 14))
        at++;
    damage(last, at + 1);
    damage(last, -3);
    assert_true(resume(&bench));
    close_bench(&bench);
}

static void a_failed_save_keeps_what_is_there(void **state)
{
    (void)state;
    Bench bench;
    open_bench(&bench);
    bench.settings.steps = 10;
    assert_int_equal(run(&bench, false), TRAIN_DONE);
    /* The place of the next checkpoint is taken by a folder: it cannot be written. */
    assert_true(file_make_folder(&bench.diags, run_step_path(bench.arena, bench.folder, 20)));
    bench.settings.steps = 30;
    assert_int_equal(run(&bench, false), TRAIN_FAILED);
    assert_true(bench.diags.errors > 0);
    assert_true(resume(&bench));
    assert_int_equal(bench.state.step, 10);
    close_bench(&bench);
}

static void wrong_checkpoints_are_refused(void **state)
{
    (void)state;
    Bench bench;
    open_bench(&bench);
    const char *path = in_folder(&bench, "other.safetensors");
    float w[2] = {1, 2};
    StTensor tensor = {
        .name = "w", .type = ST_F32, .rank = 1, .dims = {2}, .count = 2, .data = w, .bytes = 8};
    assert_true(st_write(&bench.diags, path, &tensor, 1, NULL, 0));
    assert_false(
        checkpoint_load(&bench.diags, bench.arena, path, bench.store, NULL, &bench.state, NULL));
    assert_false(checkpoint_load_params(&bench.diags, bench.arena, path, bench.store, NULL));
    assert_non_null(strstr(vec_last(bench.diags.list).message, "[2]"));
    assert_false(checkpoint_load(&bench.diags, bench.arena, in_folder(&bench, "none"), bench.store,
                                 NULL, &bench.state, NULL));
    close_bench(&bench);
}

static void a_falling_rate_ends_with_the_time(void **state)
{
    (void)state;
    Bench bench;
    open_bench(&bench);
    bench.settings.rate =
        (RateSettings){.kind = RATE_COSINE, .peak = 0.01, .final = 0.001, .warmup = 20};
    bench.settings.steps = 0;
    bench.settings.seconds = 0.5;
    bench.settings.report_every = bench.settings.save_every = 0;
    assert_int_equal(run(&bench, false), TRAIN_DONE);
    int64_t horizon = bench.state.horizon;
    assert_true(horizon > 20); /* known once the warm-up was over */
    assert_true(resume(&bench));
    assert_int_equal(bench.state.horizon, horizon); /* a resumed run follows the same curve */
    close_bench(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resuming_gives_the_same_bytes),
        cmocka_unit_test(a_kill_goes_back_to_the_last_checkpoint),
        cmocka_unit_test(checkpoints_are_kept_and_averaged),
        cmocka_unit_test(an_average_is_judged),
        cmocka_unit_test(patience_stops_and_best_stays),
        cmocka_unit_test(a_nan_leaves_the_last_good_checkpoint),
        cmocka_unit_test(a_gradient_that_is_no_number_updates_nothing),
        cmocka_unit_test(a_param_that_is_no_number_is_not_saved),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(a_failed_save_keeps_what_is_there),
        cmocka_unit_test(wrong_checkpoints_are_refused),
        cmocka_unit_test(earlier_runs_are_resumed),
        cmocka_unit_test(a_falling_rate_ends_with_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
