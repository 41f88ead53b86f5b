/* Comparing a repeated training with the run. */
#include "driver/train/verify.h"

#include "base/file.h"
#include "driver/run/checkpoints.h"
#include "driver/run/params_hash.h"
#include "driver/train/hash_lines.h"
#include "runtime/train/runlog.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* KeptStep: a checkpoint of the run. */
typedef struct KeptStep {
    int64_t step;
    const char *path;
} KeptStep;

struct Verify {
    Training *training;
    VEC(KeptStep) kept; /* in the order of steps, as `lines` are */
    HashLineList lines;
    size_t n_kept, n_lines; /* compared */
    int64_t begin, same;    /* steps: it began after the first, and is equal up to the second */
    int64_t params;
};

/* ---- what there is ---- */

static int compare_kept(const void *a, const void *b)
{
    const int64_t x = ((const KeptStep *)a)->step, y = ((const KeptStep *)b)->step;
    return (x > y) - (x < y);
}

static void add_kept(Verify *v, int64_t step, const char *path)
{
    for (size_t i = 0; i < v->kept.count; i++)
        if (v->kept.data[i].step == step)
            return;
    if (step > v->begin)
        vec_push(v->training->job->arena, v->kept, ((KeptStep){step, path}));
}

static void find_kept(Verify *v, const char *run)
{
    static const char *const others[] = {"best.safetensors", "last.safetensors"};
    Job *job = v->training->job;
    int64_t *steps;
    const int n = run_steps(job->arena, run, INT64_MAX, &steps);
    for (int i = 0; i < n; i++)
        add_kept(v, steps[i], run_step_path(job->arena, run, steps[i]));
    for (int i = 0; i < 2; i++)
        add_kept(v, run_checkpoint_step(job, run, others[i]), file_in(job->arena, run, others[i]));
    if (v->kept.count)
        qsort(v->kept.data, v->kept.count, sizeof *v->kept.data, compare_kept);
}

/* The lines of steps that are repeated. False after an error. */
static bool find_lines(Verify *v, const char *path)
{
    HashLineList all;
    if (!hash_lines_read(v->training->job, path, &all))
        return false;
    for (size_t i = 0; i < all.count; i++)
        if (all.data[i].step > v->begin)
            vec_push(v->training->job->arena, v->lines, all.data[i]);
    return v->lines.count ||
           job_error(v->training->job, "%s has no line of a step after %" PRId64, path, v->begin);
}

/* Whether the rate of the run's steps was made from the time that they took, after the state. */
static bool followed_clock(const Verify *v)
{
    const KeptStep *last = &vec_last(v->kept);
    const TrainState *state = &v->training->state;
    Diagnostics unseen;
    diag_init(&unseen, v->training->job->arena);
    StFile *file = st_open(&unseen, v->training->job->arena, last->path);
    const char *warmup = file ? st_meta(file, "warmup") : NULL,
               *horizon = file ? st_meta(file, "horizon") : NULL;
    const bool did = (warmup && strtoll(warmup, NULL, 10) != state->warmup) ||
                     (horizon && strtoll(horizon, NULL, 10) != state->horizon);
    if (file)
        st_close(file);
    return did;
}

Verify *verify_open(Training *t)
{
    const char *run = t->options->verify;
    Verify *v = ARENA_NEW(t->job->arena, Verify);
    *v = (Verify){.training = t, .begin = t->state.step, .same = t->state.step};
    if (t->options->record->changed > v->begin) {
        job_error(t->job,
                  "%s cannot be repeated from step %" PRId64 ": it went on with changes after step "
                  "%" PRId64 " (--allow-change); --weights takes a checkpoint from there on",
                  run, v->begin, t->options->record->changed);
        return NULL;
    }
    find_kept(v, run);
    if (t->options->hashes && !find_lines(v, t->options->hashes))
        return NULL;
    if (!v->kept.count && !v->lines.count) {
        job_error(t->job,
                  "%s has no checkpoint after step %" PRId64 " to compare with: name an earlier "
                  "one as --weights, or the file of its --hashes",
                  run, v->begin);
        return NULL;
    }
    if (v->kept.count && followed_clock(v)) {
        job_error(t->job,
                  "%s cannot be repeated from step %" PRId64
                  ": its rate followed the time that its "
                  "steps took (--minutes); --steps in place of --minutes makes a run that can",
                  run, v->begin);
        return NULL;
    }
    const int64_t kept = v->kept.count ? vec_last(v->kept).step : 0,
                  line = v->lines.count ? vec_last(v->lines).step : 0;
    t->settings.steps = kept > line ? kept : line;
    t->settings.seconds = 0;
    return v;
}

/* ---- a step ---- */

/* Where the two were computed, for somebody who looks for the reason. */
static void note_places(const Verify *v)
{
    Job *job = v->training->job;
    const RunRecord *was = v->training->options->record;
    RunRecord now;
    const char *bits = run_record_fact(was, "bits"), *on = "";
    for (size_t i = 0; i < was->processors.count; i++)
        on = arena_printf(job->arena, "%s%s%s", on, *on ? ", " : "", was->processors.data[i]);
    diag_note(&job->diags, (Loc){0}, "the run was computed by tfc %s%s%s on %s; its bits are %s",
              was->version ? was->version : "?", was->commit ? ", commit " : "",
              was->commit ? was->commit : "", *on ? on : "?", bits ? bits : "not recorded");
    if (run_record_read(job, v->training->options->out, &now))
        diag_note(&job->diags, (Loc){0}, "here it is computed on %s; its bits are %s",
                  run_record_processor(job->arena, &now), run_record_fact(&now, "bits"));
}

static bool differs(const Verify *v, int64_t step, const char *what, const char *from)
{
    job_error(v->training->job, "step %" PRId64 ": %s is not that of %s%s", step, what, from,
              v->same == v->begin
                  ? ", the first that was compared"
                  : arena_printf(v->training->job->arena,
                                 "; what was compared up to step %" PRId64 " is the same",
                                 v->same));
    note_places(v);
    return false;
}

/* The first param that is another, and how many are; both lists are in the order of names. */
static const char *param_that_differs(Arena *arena, const ParamsHash *was, const StepHashes *now)
{
    const char *first = NULL;
    int64_t others = 0;
    size_t k = 0;
    for (int64_t i = 0; i < now->n; i++) {
        const char *name = now->list[i].tensor->name;
        while (k < was->list.count && strcmp(was->list.data[k].name, name) < 0)
            k++;
        const bool is_there = k < was->list.count && !strcmp(was->list.data[k].name, name);
        if (is_there && was->list.data[k].hash == now->list[i].param)
            continue;
        others += first != NULL;
        first = first ? first : name;
    }
    if (!first)
        return (int64_t)was->list.count == now->n ? NULL : "the list of params";
    return others ? arena_printf(arena, "param '%s' (and %" PRId64 " of the other %" PRId64 ")",
                                 first, others, now->n - 1)
                  : arena_printf(arena, "param '%s'", first);
}

static bool compare_kept_step(Verify *v, const KeptStep *kept, const StepHashes *hashes)
{
    Job *job = v->training->job;
    ParamsHash was;
    if (!params_hash_file(job, kept->path, &was))
        return false;
    const char *what = param_that_differs(job->arena, &was, hashes);
    return !what || differs(v, kept->step, what, kept->path);
}

bool verify_step(Verify *v, const StepHashes *hashes)
{
    Job *job = v->training->job;
    const HashLine *line = v->n_lines < v->lines.count ? &v->lines.data[v->n_lines] : NULL;
    const KeptStep *kept = v->n_kept < v->kept.count ? &v->kept.data[v->n_kept] : NULL;
    v->params = hashes->n;
    if (line && line->step == hashes->step) {
        const char *what = hash_line_differs(job, line, hashes);
        if (what)
            return differs(v, line->step, what, v->training->options->hashes);
        v->n_lines++;
        v->same = hashes->step;
    }
    if (kept && kept->step == hashes->step) {
        if (!compare_kept_step(v, kept, hashes))
            return false;
        v->n_kept++;
        v->same = hashes->step;
    }
    return true;
}

const char *verify_end(const Verify *v)
{
    Job *job = v->training->job;
    const TrainOptions *o = v->training->options;
    const int64_t step = v->training->state.step;
    if (v->n_kept < v->kept.count || v->n_lines < v->lines.count) {
        job_error(job,
                  "the training ended at step %" PRId64 ", and %s has step %" PRId64
                  ": what was compared is the same",
                  step, o->verify, v->training->settings.steps);
        return NULL;
    }
    const char *text =
        arena_printf(job->arena,
                     "%s: steps %" PRId64 " to %" PRId64 " repeated, the same bits: %" PRId64
                     " params of %zu checkpoint%s",
                     o->verify, v->begin + 1, step, v->params, v->n_kept,
                     text_plural((int64_t)v->n_kept, "", "s"));
    if (v->n_lines)
        text = arena_printf(job->arena, "%s, %zu line%s of %s", text, v->n_lines,
                            text_plural((int64_t)v->n_lines, "", "s"), o->hashes);
    return text;
}
