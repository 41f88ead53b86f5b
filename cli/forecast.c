/* Forecasts of a training. */
#include "cli/forecast.h"

#include "cli/progress.h"

#include <inttypes.h>

static const double SECONDS_TO_MEASURE = 3, LONG_SECONDS = 3600;

/* A warm-up beside an end by time, before it is known how many steps that is; a few end before the
 * speed is known. */
static void tell_share(const Forecast *f)
{
    const TrainSettings *s = f->settings;
    if (s->seconds > 0 && !f->state->warmup && s->rate.warmup > f->state->step + TRAIN_PACE_STEPS)
        diag_remark(&f->job->diags, (Loc){0},
                    "the warm-up has %" PRId64
                    " steps; if it does not end within the time of --minutes, it becomes one "
                    "of %.3g %% of the steps that do",
                    s->rate.warmup, 100.0 / TRAIN_WARMUP_SHARE);
}

void forecast_init(Forecast *f, Job *job, const TrainSettings *settings, bool default_steps,
                   const TrainState *state)
{
    *f = (Forecast){.job = job,
                    .settings = settings,
                    .state = state,
                    .default_steps = default_steps,
                    .warmup = state->warmup};
    int64_t warmup = settings->rate.warmup, steps = settings->steps;
    if (default_steps)
        diag_remark(&job->diags, (Loc){0},
                    "neither --steps nor --minutes say when to end: after %" PRId64 " steps",
                    steps);
    if (steps && state->step < steps && warmup >= steps)
        diag_warning(&job->diags, (Loc){0},
                     "the warm-up of %" PRId64 " step%s does not end within the %" PRId64
                     " step%s of this run: the rate never reaches its peak",
                     warmup, text_plural(warmup, "", "s"), steps, text_plural(steps, "", "s"));
    else
        tell_share(f);
}

static bool tell_warmup(Forecast *f)
{
    int64_t warmup = f->state->warmup;
    if (f->warmup == warmup)
        return false;
    f->warmup = warmup;
    diag_warning(&f->job->diags, (Loc){0},
                 "the warm-up of %" PRId64
                 " steps would not end within the time of --minutes: it ends at step %" PRId64
                 " now, at the same rate; a smaller `warmup` in the model's rate says otherwise",
                 f->settings->rate.warmup, warmup);
    return true;
}

static bool tell_long(Forecast *f, double a_step)
{
    const TrainSettings *s = f->settings;
    double left = a_step * (double)(s->steps - f->state->step);
    if (left <= LONG_SECONDS)
        return false;
    diag_warning(&f->job->diags, (Loc){0},
                 "at this speed (%.3g s a step) %" PRId64
                 " steps take %s; --steps and --minutes say when to end",
                 a_step, s->steps, duration_text(left));
    return true;
}

bool forecast_step(Forecast *f, double now)
{
    bool told = tell_warmup(f);
    double a_step =
        f->default_steps ? train_pace(&f->pace, f->state->step, now, SECONDS_TO_MEASURE) : 0;
    if (!a_step)
        return told;
    f->default_steps = false;
    return tell_long(f, a_step) || told;
}
