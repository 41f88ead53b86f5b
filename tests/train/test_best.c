/* The best checkpoint is the best by one measure: which way each goes, equal figures, what is no
 * number; logs judged anew, those of older versions too. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "runtime/train/best.h"
#include "runtime/train/runlog.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static TrainBest by(const char *measure)
{
    return (TrainBest){.measure = train_measure_find(measure), .by = measure};
}

static TrainFigures figures(double loss, double bleu, double lines, double errors)
{
    return (TrainFigures){
        .loss = loss, .bleu = bleu, .line_error_rate = lines, .symbol_error_rate = errors};
}

static bool judge(const TrainBest *best, double loss, double bleu, double lines, double errors,
                  int64_t step, TrainState *state)
{
    const TrainFigures of = figures(loss, bleu, lines, errors);
    return train_judge(best, &of, step, state);
}

static void each_measure_has_its_direction(void **state)
{
    (void)state;
    const TrainFigures worse = figures(2, 10, 0.5, 0.4), better = figures(1, 20, 0.3, 0.2);
    for (int i = 0; i < TRAIN_MEASURES; i++) {
        const TrainBest best = {.measure = &train_measures[i], .by = train_measures[i].name};
        TrainState s = {0};
        assert_ptr_equal(train_measure_find(best.by), best.measure);
        assert_true(train_judge(&best, &worse, 10, &s));
        assert_true(train_judge(&best, &better, 20, &s));
        assert_true(train_best_figure(&best, &s) == train_measure_figure(best.measure, &better));
        assert_false(train_judge(&best, &worse, 30, &s));
        assert_false(train_judge(&best, &worse, 40, &s));
        assert_int_equal(s.best_step, 20);
        assert_int_equal(s.bad, 2);
    }
    assert_null(train_measure_find("none"));
    assert_null(train_measure_find(NULL));
}

/* BLEU is 0 of outputs of one or two words, however right: no figure of another unit decides. */
static void a_bleu_and_a_loss_are_never_compared(void **state)
{
    (void)state;
    TrainState s = {0};
    TrainBest best = by("errors");
    assert_true(judge(&best, 0.8, 19, 0.79, 0.6, 10, &s));
    assert_true(judge(&best, 0.1, 0, 0.02, 0.01, 20, &s));
    s = (TrainState){0};
    best = by("loss");
    assert_true(judge(&best, 2, 33, NAN, NAN, 10, &s));
    assert_true(judge(&best, 1, NAN, NAN, NAN, 20, &s));
    s = (TrainState){0};
    best = by("bleu");
    assert_true(judge(&best, 9, 0.5, 1, 1, 10, &s));
    assert_false(judge(&best, 0.1, 0.4, 1, 1, 20, &s));
    assert_false(judge(&best, -40, NAN, 1, 1, 30, &s)); /* without the figure: does not count */
    assert_int_equal(s.bad, 1);
}

static void of_equal_figures_the_lower_loss_is_better(void **state)
{
    (void)state;
    TrainState s = {0};
    const TrainBest best = by("errors");
    assert_false(judge(&best, 1, 0, NAN, NAN, 5, &s));
    assert_int_equal(s.best_step, 0);
    assert_true(judge(&best, NAN, 0, 0, 0, 10, &s));
    assert_false(judge(&best, NAN, 0, 0, 0, 20, &s));
    s.best_loss = 0.5;
    assert_false(judge(&best, 0.5, 0, 0, 0, 30, &s));
    assert_true(judge(&best, 0.4, 0, 0, 0, 40, &s));
    assert_int_equal(s.bad, 0);
}

static void text_as_the_option_takes_it(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    const TrainMeasure *errors = train_measure_find("errors"), *loss = train_measure_find("loss");
    assert_string_equal(train_best_text(arena, NULL, errors), "errors");
    assert_string_equal(train_best_text(arena, "news", errors), "news:errors");
    assert_string_equal(train_measure_text(errors, arena, 0.125), "12.5 %");
    assert_string_equal(train_measure_text(loss, arena, 0.125), "0.1250");
    assert_string_equal(train_measure_best(errors, arena), "the lowest share of wrong symbols");
    assert_string_equal(train_measure_best(train_measure_find("bleu"), arena), "the highest BLEU");
    const TrainBest none = {0}, named = {.by = "loss"}, other = by("errors");
    /* the loss unless something is said */
    assert_true(train_best_hash(&none) == train_best_hash(&named));
    assert_true(train_best_hash(&none) != train_best_hash(&other));
    arena_free(arena);
}

/* ---- logs ---- */

/* An older version's: the best was BLEU where that was 1 or more, else the loss. */
static const char old_log[] =
    "{\"step\": 20, \"valid_loss\": 1.7, \"valid_bleu\": 0.6, \"valid_symbol_error_rate\": 0.8, \"best\": true}\n"
    "{\"step\": 30, \"loss\": 1.5}\n"
    "{\"step\": 40, \"valid_loss\": 0.8, \"valid_bleu\": 19, \"valid_symbol_error_rate\": 0.6, \"best\": true}\n"
    "{\"step\": 60, \"valid_loss\": 0.2, \"valid_bleu\": 0, \"valid_symbol_error_rate\": 0.01, \"best\": false}\n"
    "{\"step\": 80, \"valid_loss\": 0.1, \"valid_bleu\": null, \"best\": false}\n"
    "{\"step\": 90, \"valid_loss\": 0.01, \"valid_bleu\": 90, \"valid_symbol_error_rate\": 0, \"best\": true}\n";

static const char named_log[] =
    "{\"step\": 1, \"valid_loss\": 5, \"best_by\": \"loss\", \"valid\": {\"a\": {\"loss\": 3}, \"b\": {\"loss\": 9}}}\n"
    "{\"step\": 2, \"valid_loss\": 4, \"best_by\": \"loss\", \"valid\": {\"a\": {\"loss\": 4}, \"b\": {\"loss\": 8}}}\n"
    "{\"step\": 3, \"valid_loss\": 1, \"best_by\": \"a:loss\", \"valid\": {\"a\": {\"loss\": 1}, \"b\": {\"loss\": 7}}}\n";

typedef struct Bench {
    Arena *arena;
    Diagnostics diags;
    char folder[64];
    RunLog log;
} Bench;

static void open_bench(Bench *bench, const char *text)
{
    *bench = (Bench){.arena = arena_new()};
    diag_init(&bench->diags, bench->arena);
    strcpy(bench->folder, "/tmp/tfc-best-XXXXXX");
    assert_non_null(mkdtemp(bench->folder));
    const char *path = file_in(bench->arena, bench->folder, "log.jsonl");
    assert_true(file_write_all(&bench->diags, path, text, strlen(text)));
    assert_true(runlog_read(&bench->diags, bench->arena, (FileReach){.folder = bench->folder},
                            &bench->log));
}

static void close_bench(Bench *bench)
{
    file_remove_tree(bench->folder);
    arena_free(bench->arena);
}

static bool is_kept(void *user, int64_t step)
{
    (void)user;
    return step != 60;
}

static void old_logs_are_judged_by_one_measure(void **state)
{
    (void)state;
    Bench bench;
    open_bench(&bench, old_log);
    const struct {
        const char *measure;
        int64_t step, best, bad, lacking;
    } wanted[] = {{"loss", 80, 80, 0, 0}, {"bleu", 80, 40, 1, 1}, {"errors", 80, 60, 0, 1},
                  {"lines", 80, 0, 0, 4}, {"bleu", 90, 90, 0, 1}, {"loss", 60, 60, 0, 0}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const TrainBest best = by(wanted[i].measure);
        /* of that version */
        TrainState s = {.step = wanted[i].step, .best = -19, .best_step = 40, .bad = 7};
        TrainJudged judged = train_judge_log(&best, &bench.log, NULL, NULL, &s);
        assert_int_equal(s.best_step, wanted[i].best);
        assert_int_equal(s.bad, wanted[i].bad);
        assert_int_equal(judged.lacking, wanted[i].lacking);
        assert_true(s.judge == train_best_hash(&best));
    }
    const TrainBest best = by("errors");
    TrainState s = {.step = 80};
    assert_int_equal(train_judge_log(&best, &bench.log, is_kept, NULL, &s).validations, 3);
    assert_int_equal(s.best_step, 40); /* of those whose params are there */
    assert_true(train_best_figure(&best, &s) == 0.6);
    s = (TrainState){.step = 90, .judge_from = 60};
    assert_int_equal(train_judge_log(&best, &bench.log, NULL, NULL, &s).validations, 2);
    assert_int_equal(s.best_step, 90); /* of the texts that it is validated on now */
    close_bench(&bench);
}

/* A line's valid_… are of the text that decided then. */
static void texts_are_not_compared_with_each_other(void **state)
{
    (void)state;
    Bench bench;
    open_bench(&bench, named_log);
    const struct {
        const char *text;
        int64_t best, lacking;
    } wanted[] = {{NULL, 2, 1}, {"a", 3, 0}, {"b", 3, 0}, {"c", 0, 3}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const TrainMeasure *loss = train_measure_find("loss");
        const TrainBest best = {loss, wanted[i].text,
                                train_best_text(bench.arena, wanted[i].text, loss), 0};
        TrainState s = {.step = 3};
        TrainJudged judged = train_judge_log(&best, &bench.log, NULL, NULL, &s);
        assert_int_equal(s.best_step, wanted[i].best);
        assert_int_equal(judged.lacking, wanted[i].lacking);
    }
    close_bench(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_measure_has_its_direction),
        cmocka_unit_test(a_bleu_and_a_loss_are_never_compared),
        cmocka_unit_test(of_equal_figures_the_lower_loss_is_better),
        cmocka_unit_test(text_as_the_option_takes_it),
        cmocka_unit_test(old_logs_are_judged_by_one_measure),
        cmocka_unit_test(texts_are_not_compared_with_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
