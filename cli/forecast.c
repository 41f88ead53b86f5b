/* Forecasts of a training. */
#include "cli/forecast.h"

#include "cli/progress.h"

#include <inttypes.h>

/* When the speed is known: after the first step (which is slower) at least so many, and so
 * many seconds, of a short session a tenth of it. */
enum { STEPS_TO_MEASURE = 3 };
static const double SECONDS_TO_MEASURE = 3, SHARE_TO_MEASURE = 0.1;
static const double LONG_SECONDS = 3600;

void forecast_init(Forecast *f, Job *job, const TrainSettings *settings, bool default_steps,
                   int64_t step)
{
    *f = (Forecast){.job = job, .settings = settings, .default_steps = default_steps};
    int64_t warmup = settings->rate.warmup, steps = settings->steps;
    if (default_steps)
        diag_note(&job->diags, (Loc){0},
                  "neither --steps nor --minutes say when to end: after %" PRId64 " steps", steps);
    if (steps && step < steps && warmup >= steps)
        diag_warning(&job->diags, (Loc){0},
                     "the warm-up of %" PRId64 " steps does not end within the %" PRId64
                     " steps of this run: the rate never reaches its peak",
                     warmup, steps);
}

static double known_after(const TrainSettings *s)
{
    double share = s->seconds * SHARE_TO_MEASURE;
    return s->seconds > 0 && share < SECONDS_TO_MEASURE ? share : SECONDS_TO_MEASURE;
}

static bool tell(Forecast *f, int64_t step, double a_step, double spent)
{
    const TrainSettings *s = f->settings;
    double left = a_step * (double)(s->steps - step);
    int64_t warmup = s->rate.warmup, before = f->job->diags.list.count;
    if (s->seconds > 0 && warmup > step) {
        int64_t reached = step + (int64_t)((s->seconds - spent) / a_step);
        if (warmup > reached && (!s->steps || warmup < s->steps))
            diag_warning(
                &f->job->diags, (Loc){0},
                "the warm-up of %" PRId64 " steps will not end within these %s minutes: at "
                "this speed (%.3g s a step) about %" PRId64
                " steps are done then; a smaller `warmup` in the model's rate does",
                warmup, arena_printf(f->job->arena, "%g", s->seconds / 60), a_step, reached);
    }
    if (f->default_steps && left > LONG_SECONDS)
        diag_warning(&f->job->diags, (Loc){0},
                     "at this speed (%.3g s a step) %" PRId64
                     " steps take %s; --steps and --minutes say when to end",
                     a_step, s->steps, duration_text(left));
    return (int64_t)f->job->diags.list.count > before;
}

bool forecast_step(Forecast *f, int64_t step, double now)
{
    if (!f->begin) {
        f->begin = now;
        f->begin_step = step;
    }
    double spent = now - f->begin;
    int64_t steps = step - f->begin_step;
    if (f->told || steps < STEPS_TO_MEASURE || spent < known_after(f->settings))
        return false;
    f->told = true;
    return tell(f, step, spent / (double)steps, spent);
}
