/* The training loop: stopping at any step and going on gives the same bytes; checkpoints, best,
 * averages and patience do what train.h says. */
#define _GNU_SOURCE
#include "tests/train/bench.h"

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
        cmocka_unit_test(earlier_runs_are_resumed),
        cmocka_unit_test(a_falling_rate_ends_with_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
