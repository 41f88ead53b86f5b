/* A training while it runs: what is shown of it, signals that end it, its last figures. */
#define _GNU_SOURCE
#include "cli/options/training.h"

#include "base/clock.h"
#include "base/machine.h"
#include "cli/forecast.h"
#include "cli/progress.h"
#include "driver/train/training.h"
#include "driver/train/verify.h"
#include "runtime/train/runlog.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>

typedef struct Shown {
    Training *training;
    Progress progress;
    Forecast forecast;
    int64_t begin;       /* step at which this session began */
    TrainReport last;    /* the last report that was due, with the last validation's figures */
    TrainReport average; /* of the mean of the last checkpoints, if it was validated */
} Shown;

static void on_planned(void *user, int64_t slab_bytes, int64_t store_bytes_)
{
    const Training *t = ((Shown *)user)->training;
    JitStats stats = jit_stats(t->session.jit);
    if (vocab_is_empty(t->vocab))
        fprintf(stderr, "%s: %" PRId64 " record%s\n", t->options->model, t->corpus->n,
                text_plural(t->corpus->n, "", "s"));
    else
        fprintf(stderr, "%s: %" PRId64 " row%s of text, %d tokens in the vocabulary\n",
                t->options->model, t->corpus->n, text_plural(t->corpus->n, "", "s"),
                (int)vocab_size(t->vocab));
    fprintf(stderr,
            "compiled in %.1f s (%d kernel%s, %d from the cache); memory at most %s: %s of params "
            "and optimizer, %s of activations\n",
            t->session.compile_seconds, stats.kernels_compiled + stats.kernels_cached,
            text_plural(stats.kernels_compiled + stats.kernels_cached, "", "s"),
            stats.kernels_cached, bytes_text(slab_bytes + store_bytes_), bytes_text(store_bytes_),
            bytes_text(slab_bytes));
    if (stats.cache_note)
        fprintf(stderr, "compiled programs are not kept: %s\n", stats.cache_note);
    if (t->n_valid)
        fprintf(stderr, "best.safetensors is the checkpoint of %s (--best %s)\n",
                train_measure_best(t->settings.best.measure, t->job->arena),
                text_visible_name(t->job->arena, t->settings.best.by));
    if (t->state.step)
        fprintf(stderr, "going on from step %" PRId64 "\n", t->state.step);
}

static void on_report(void *user, const TrainReport *report, bool due)
{
    Shown *s = user;
    const TrainReport was = s->last;
    progress_report(&s->progress, report, due);
    if (forecast_step(&s->forecast, clock_seconds())) {
        progress_clear(&s->progress);
        cli_flush(s->training->job);
    }
    if (report->averaged)
        s->average = *report;
    if (!due || report->averaged)
        return;
    s->last = *report;
    if (!report->validated) {
        s->last.figures = was.figures;
        s->last.best = was.best;
        s->last.best_by = was.best_by;
        s->last.valid = was.valid;
        s->last.n_valid = was.n_valid;
    }
}

static bool on_validate(void *user, TrainReport *report)
{
    return training_validate(((Shown *)user)->training, report);
}

static bool on_hashed(void *user, const StepHashes *hashes)
{
    return training_hashed(((Shown *)user)->training, hashes);
}

static const char *on_bad_gradient(void *user, const Batch *batch, uint64_t stream, double *value)
{
    return training_find_bad(((Shown *)user)->training, batch, stream, value);
}

static Loc place_of_step(void *user, const TfcProgram *program, int step, const char **why)
{
    return training_place_of(((Shown *)user)->training, program, step, why);
}

/* ---- ranks behind the first, which tell nothing ---- */

static void plan_unseen(void *user, int64_t slab_bytes, int64_t store_bytes_) {}
static void report_unseen(void *user, const TrainReport *report, bool due) {}

static int run_behind(Training *t)
{
    const TrainHooks hooks = {.planned = plan_unseen, .report = report_unseen};
    TrainEnd end =
        train(&t->job->diags, &t->programs, &t->settings, &hooks, t->corpus, t->store, &t->state);
    static const int statuses[] = {[TRAIN_DONE] = EXIT_DONE,
                                   [TRAIN_INTERRUPTED] = EXIT_INTERRUPTED,
                                   [TRAIN_FAILED] = EXIT_INPUT};
    return statuses[end];
}

/* ---- running ---- */

static volatile sig_atomic_t stop_asked;
static void ask_to_stop(int signal)
{
    (void)signal;
    stop_asked = 1;
}

/* The second signal of a kind ends the program at once. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = ask_to_stop, .sa_flags = SA_RESETHAND | SA_RESTART},
                     was;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (!sigaction(SIGHUP, NULL, &was) && was.sa_handler != SIG_IGN) /* nohup */
        sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* nobody reads the progress any more: the training goes on */
}

static bool write_summary(Shown *s, const char *ended)
{
    Training *t = s->training;
    if (!t->options->json_summary)
        return true;
    Text text = {0};
    JsonWriter json = {.out = &text};
    s->last.validated = t->n_valid > 0;
    json_open(&json, NULL, '{');
    runlog_put(&s->last, &json);
    json_put_integer(&json, "best_step", t->state.best_step);
    if (s->average.averaged) {
        json_open(&json, "average", '{');
        runlog_put(&s->average, &json);
        json_close(&json, '}');
    }
    json_put_fixed(&json, "compile_seconds", t->session.compile_seconds, 3);
    json_put_integer(&json, "resident_peak_bytes", peak_resident_bytes());
    json_put_text(&json, "ended", ended);
    json_close(&json, '}');
    text_string(&text, "\n");
    bool ok = cli_write(t->job, t->options->json_summary, &text);
    text_free(&text);
    return ok;
}

/* A session in which nothing was left to do: what to type for more. */
static void tell_nothing_left(const Training *t)
{
    const TrainSettings *s = &t->settings;
    const char *out = t->options->out;
    if (s->steps && t->state.step >= s->steps)
        fprintf(stderr,
                "nothing is left to do: the run has %" PRId64 " of %" PRId64
                " step%s; tfc train %s --resume --steps %" PRId64 " goes on\n",
                t->state.step, s->steps, text_plural(s->steps, "", "s"), out, 2 * t->state.step);
    else
        fprintf(
            stderr,
            "nothing is left to do: the run has trained %s of --minutes %g; tfc train %s --resume "
            "--minutes %g goes on for so long\n",
            duration_text(t->state.seconds), s->seconds / 60, out, s->seconds / 60);
}

static void tell_end(const Shown *shown, TrainEnd end)
{
    const Training *t = shown->training;
    if (end == TRAIN_INTERRUPTED && t->verify)
        fprintf(stderr, "interrupted at step %" PRId64 ": what was compared is the same\n",
                t->state.step);
    else if (end == TRAIN_INTERRUPTED)
        fprintf(stderr, "interrupted at step %" PRId64 " and saved; --resume goes on\n",
                t->state.step);
    else if (end == TRAIN_DONE && t->settings.patience > 0 && t->state.bad >= t->settings.patience)
        fprintf(stderr,
                "stopped at step %" PRId64 ": %" PRId64 " validation%s without a better %s; the "
                "best was at step %" PRId64 "\n",
                t->state.step, t->state.bad, text_plural(t->state.bad, "", "s"),
                t->settings.best.measure->title, t->state.best_step);
    else if (end == TRAIN_DONE && t->state.step && t->state.step == shown->begin)
        tell_nothing_left(t);
    else if (end == TRAIN_DONE)
        fprintf(stderr, "done at step %" PRId64 " after %s\n", t->state.step,
                duration_text(t->state.seconds));
}

static Shown shown_of(Training *t)
{
    const TrainOptions *o = t->options;
    Shown s = {.training = t, .begin = t->state.step, .last = train_no_report(&t->state)};
    s.last.best_by = t->settings.best.by;
    forecast_init(&s.forecast, t->job, &t->settings,
                  o->steps < 0 && !o->minutes && !t->session.model->train.steps, &t->state);
    return s;
}

int training_run(Training *t)
{
    t->settings.stop = &stop_asked;
    catch_signals();
    if (ranks_mine(t->options->ranks))
        return run_behind(t);
    Shown s = shown_of(t);
    TrainHooks hooks = {.user = &s,
                        .planned = on_planned,
                        .report = on_report,
                        .validate = t->n_valid ? on_validate : NULL,
                        .hashed = on_hashed,
                        .find_bad_gradient = on_bad_gradient,
                        .place_of_step = place_of_step};
    cli_flush(t->job);
    progress_init(&s.progress, t->settings.steps, vocab_is_words(t->vocab),
                  t->settings.best.measure);
    TrainEnd end =
        train(&t->job->diags, &t->programs, &t->settings, &hooks, t->corpus, t->store, &t->state);
    progress_clear(&s.progress);
    tell_end(&s, end);
    const char *verified = t->verify && end == TRAIN_DONE ? verify_end(t->verify) : NULL;
    if (verified)
        printf("%s\n", verified);
    else if (t->verify && end == TRAIN_DONE)
        end = TRAIN_FAILED;
    static const char *const ended[] = {"done", "interrupted", "failed"};
    bool written = write_summary(&s, ended[end]);
    cli_flush(t->job);
    if (end == TRAIN_FAILED || !written)
        return EXIT_INPUT;
    return end == TRAIN_INTERRUPTED ? EXIT_INTERRUPTED : EXIT_DONE;
}
