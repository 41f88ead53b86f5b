/* What follows a step as it is due: reports, validations, checkpoints. */
#define _GNU_SOURCE
#include "runtime/train/trainer.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/machine.h"
#include "runtime/exec/trace.h"
#include "runtime/train/runlog.h"

#include <inttypes.h>
#include <math.h>
#include <unistd.h>

static double seconds_left(const Trainer *t)
{
    const TrainSettings *s = t->settings;
    double spent = trainer_spent(t), left = INFINITY;
    double a_step = t->state->seconds / (double)t->state->step;
    if (s->steps > 0)
        left = a_step * (double)(s->steps - t->state->step);
    if (s->seconds > 0 && s->seconds - spent < left)
        left = s->seconds - spent;
    return isfinite(left) ? fmax(left, 0) : NAN;
}

static TrainReport make_report(const Trainer *t)
{
    double seconds = clock_seconds() - t->report_start;
    double shared = ranks_count(t->settings->ranks) > 1 ? seconds : NAN;
    return (TrainReport){
        .step = t->state->step,
        .epoch = t->state->epoch,
        .loss = t->loss_tokens ? t->loss_sum / (double)t->loss_tokens : NAN,
        .rate = trainer_rate(t, t->state->step),
        .gradient_norm = t->norm,
        .tokens_per_second = seconds > 0 ? (double)t->loss_tokens / seconds : NAN,
        .waited_for_ranks = t->waited_ranks / shared,
        .waited_for_network = t->waited_network / shared,
        .memory = resident_bytes(),
        .seconds = t->state->seconds,
        .seconds_left = seconds_left(t),
        .figures = train_no_figures(),
    };
}

static bool validate(Trainer *t, TrainReport *report)
{
    trainer_fetch_params(t);
    double pause = clock_seconds();
    int64_t begin = trace_begin();
    if (!t->hooks->validate(t->hooks->user, report))
        return false;
    trace_end("validate", begin);
    report->validated = true;
    t->state->thresholds = report->thresholds;
    t->validated_step = t->state->step;
    report->best_by = t->settings->best.by;
    report->best = train_judge(&t->settings->best, &report->figures, t->state->step, t->state);
    pause = clock_seconds() - pause; /* does not count as training speed, but as time */
    t->report_start += pause;
    return true;
}

/* Whether a validation has the figure that selects the best checkpoint, or an earlier one had it.
 * False after an error. */
static bool check_figure(Trainer *t, const TrainReport *report)
{
    const TrainBest *best = &t->settings->best;
    if (!report->validated || t->state->best_step || t->state->bad ||
        !isnan(train_best_of(best, &report->figures)))
        return true;
    diag_error(
        t->diags, (Loc){0},
        "--best %s: the %s of this validation is undefined, so that no checkpoint is the "
        "best (such as where all predictions, or all that is right, are the same, or nothing "
        "is marked); tfc train %s --resume --best loss continues from step %" PRId64,
        best->by ? best->by : train_best_measure(best)->name, train_best_measure(best)->title,
        t->settings->folder, t->state->step);
    return false;
}

static bool save_as(Trainer *t, Arena *arena, const char *path)
{
    const Split *split = t->programs->split;
    return split ? split_save(split, t->diags, path, t->state)
                 : checkpoint_save(t->diags, arena, path, true, t->store, t->state);
}

/* step-N, then last (and best) as other names of it; last, older ones go. */
bool trainer_save(Trainer *t, bool best)
{
    const TrainSettings *s = t->settings;
    Arena *arena = arena_new();
    int64_t begin = trace_begin();
    const char *path = run_step_path(arena, s->folder, t->state->step);
    const char *last = file_in(arena, s->folder, "last.safetensors");
    const char *best_path = file_in(arena, s->folder, "best.safetensors");
    bool ok = save_as(t, arena, path);
    if (ok && best && !run_link(path, best_path))
        ok = save_as(t, arena, best_path);
    if (ok && !run_link(path, last))
        ok = save_as(t, arena, last);
    if (ok) {
        int64_t keep = s->keep > s->average ? s->keep : s->average;
        run_prune(arena, s->folder, t->state->step, keep > 0 ? keep : 1);
        t->saved_step = t->state->step;
    } else if (t->saved_step && !access(last, F_OK))
        diag_note(t->diags, (Loc){0},
                  "the checkpoint of step %" PRId64 " is whole; --resume goes on "
                  "from it",
                  t->saved_step);
    trace_end("save checkpoint", begin);
    arena_free(arena);
    return ok;
}

/* Averaging: the mean's report, and what its file says. */
typedef struct Averaging {
    Trainer *trainer;
    TrainReport report;
    CheckpointAverage average;
} Averaging;

/* Validates the mean, which the store's params are now, beside the best checkpoint. */
static bool judge_average(void *user, CheckpointAverage *average)
{
    Averaging *a = user;
    Trainer *t = a->trainer;
    TrainReport *report = &a->report;
    const TrainBest *best = &t->settings->best;
    TrainState judged = *t->state; /* a mean is no step, after which the training could go on */
    if (!t->hooks->validate(t->hooks->user, report))
        return false;
    report->n_samples = 0;
    report->validated = true;
    report->best_by = average->by = best->by;
    average->thresholds = report->thresholds;
    average->figure = train_best_of(best, &report->figures);
    average->best = judged.best_step ? train_best_figure(best, &judged) : NAN;
    average->better = report->best = train_judge(best, &report->figures, report->step, &judged);
    a->average = *average;
    return true;
}

/* Which params the run answers with now, or why that may be a bad choice. */
static void tell_average(Trainer *t, const char *path, const Averaging *a)
{
    const TrainSettings *s = t->settings;
    const TrainReport *report = &a->report;
    Arena *arena = t->diags->arena;
    const char *few = report->averaged < s->average
                          ? arena_printf(arena,
                                         ": there are no more for --average %" PRId64
                                         "; --save-every N makes more, and --keep N keeps them",
                                         s->average)
                          : "";
    diag_remark(t->diags, (Loc){0}, "%s has the average of the last %" PRId64 " checkpoint%s%s",
                path, report->averaged, text_plural(report->averaged, "", "s"), few);
    if (report->validated)
        diag_remark(t->diags, (Loc){0}, "the run answers with %s: %s",
                    file_in(arena, s->folder,
                            a->average.better ? "average.safetensors" : "best.safetensors"),
                    train_average_text(&a->average, arena));
    else if (report->averaged > 1 && 2 * report->averaged_first < t->state->step)
        diag_warning(t->diags, (Loc){0},
                     "the oldest checkpoint of %s, of step %" PRId64
                     ", is of the first half of the training, and may spoil the average, with "
                     "which the run answers: a smaller --save-every averages later ones",
                     path, report->averaged_first);
}

bool trainer_average(Trainer *t)
{
    const TrainSettings *s = t->settings;
    Arena *arena = arena_new();
    int64_t *steps;
    int n = run_steps(arena, s->folder, t->state->step, &steps);
    int from = n > s->average ? n - (int)s->average : 0;
    const char **paths = ARENA_ARRAY(arena, const char *, n + 1);
    for (int i = from; i < n; i++)
        paths[i - from] = run_step_path(arena, s->folder, steps[i]);
    const char *path = file_in(arena, s->folder, "average.safetensors");
    bool ok = true;
    if (n > from) {
        Averaging averaging = {.trainer = t, .report = train_no_report(t->state)};
        TrainReport *report = &averaging.report;
        report->averaged = n - from;
        report->averaged_first = steps[from];
        ok = checkpoint_average(t->diags, arena, path, paths, n - from, t->store,
                                t->hooks->validate ? judge_average : NULL, &averaging);
        if (ok && report->validated) {
            t->hooks->report(t->hooks->user, report, true);
            ok = runlog_add(t->diags, s->folder, report);
        }
        if (ok)
            tell_average(t, path, &averaging);
    }
    arena_free(arena);
    return ok;
}

/* Begins the next figures. */
static bool log_report(Trainer *t, const TrainReport *report)
{
    if (!runlog_add(t->diags, t->settings->folder, report))
        return false;
    t->loss_sum = 0;
    t->loss_tokens = 0;
    t->waited_ranks = t->waited_network = 0;
    t->report_start = clock_seconds();
    return true;
}

/* Tells the hashes of the step, if they are wanted. */
static bool tell_hashes(Trainer *t)
{
    if (!t->hashes)
        return true;
    trainer_fetch_params(t);
    t->hashes->step = t->state->step;
    step_hashes_params(t->hashes);
    return t->hooks->hashed(t->hooks->user, t->hashes);
}

static bool is_due(int64_t step, int64_t every) { return every > 0 && step % every == 0; }

bool trainer_after_step(Trainer *t, bool last)
{
    const TrainSettings *s = t->settings;
    int64_t step = t->state->step;
    if (!tell_hashes(t))
        return false;
    TrainReport report = make_report(t);
    bool validates = t->hooks->validate && t->validated_step != step &&
                     (last || is_due(step, s->validate_every));
    if (validates && !validate(t, &report))
        return false;
    bool saves = last || validates || is_due(step, s->save_every);
    if (saves && t->saved_step != step && !trainer_save(t, report.best))
        return false;
    bool due = validates || last || is_due(step, s->report_every);
    t->hooks->report(t->hooks->user, &report, due);
    return (!due || log_report(t, &report)) && check_figure(t, &report);
}

bool trainer_log_rest(Trainer *t)
{
    const TrainReport report = make_report(t);
    return !t->loss_tokens || log_report(t, &report);
}
