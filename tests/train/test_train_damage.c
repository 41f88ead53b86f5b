/* The training loop where something is wrong: numbers that are none, damaged and other checkpoints,
 * a checkpoint that cannot be written. */
#define _GNU_SOURCE
#include "tests/train/bench.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_nan_leaves_the_last_good_checkpoint),
        cmocka_unit_test(a_gradient_that_is_no_number_updates_nothing),
        cmocka_unit_test(a_param_that_is_no_number_is_not_saved),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(a_failed_save_keeps_what_is_there),
        cmocka_unit_test(wrong_checkpoints_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
