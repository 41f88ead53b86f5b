/* What an end by time makes of the rate: steps are not known beforehand, so the speed says how many
 * there will be, when a falling rate ends, and whether the warm-up does. */
#include "runtime/train/trainer.h"

#include "base/clock.h"

#include <math.h>

double trainer_spent(const Trainer *t) { return t->earlier + clock_seconds() - t->start; }

/* The schedule as time has changed it. */
static RateSettings own_rate(const Trainer *t)
{
    RateSettings rate = t->settings->rate;
    if (t->state->warmup)
        rate = rate_shortened(&rate, t->state->warmup);
    if (t->state->horizon)
        rate.steps = t->state->horizon;
    return rate;
}

double trainer_rate(const Trainer *t, int64_t step)
{
    const RateSettings rate = own_rate(t);
    return schedule_rate(&rate, step);
}

double train_pace(TrainPace *pace, int64_t step, double now, double seconds)
{
    if (!pace->from)
        *pace = (TrainPace){now, step};
    int64_t steps = step - pace->step;
    double spent = now - pace->from;
    return steps < TRAIN_PACE_STEPS || spent < seconds ? 0 : spent / (double)steps;
}

/* A warm-up that would not end within the time becomes a share of the steps that do, once the speed
 * is known: after some seconds, of a short training a share of its time. */
static void fit_warmup(Trainer *t)
{
    static const double SECONDS_TO_MEASURE = 3, SHARE_TO_MEASURE = 0.1;
    const TrainSettings *s = t->settings;
    int64_t step = t->state->step, warmup = s->rate.warmup;
    if (s->seconds <= 0 || t->state->warmup || step >= warmup)
        return;
    double a_step = train_pace(&t->pace, step, clock_seconds(),
                               fmin(SECONDS_TO_MEASURE, SHARE_TO_MEASURE * s->seconds));
    if (!a_step)
        return;
    int64_t fits = step + (int64_t)(fmax(s->seconds - trainer_spent(t), 0) / a_step);
    if (warmup <= fits || (s->steps && s->steps <= fits))
        return;
    int64_t share = fits / TRAIN_WARMUP_SHARE;
    t->state->warmup = share > step ? share : step;
}

/* A rate that falls over the whole run, in a run that only time ends: when the warm-up is over it
 * is known how long a step takes, and so how many there will be. The estimate is renewed now and
 * then, for the machine may have other work at times, and a resumed run may have been given more
 * time. */
static void set_horizon(Trainer *t)
{
    enum { STEPS_AN_ESTIMATE = 50 };
    const TrainSettings *s = t->settings;
    const RateSettings rate = own_rate(t);
    int64_t step = t->state->step;
    if (!rate_falls(&rate) || s->rate.steps || s->seconds <= 0 || step < rate.warmup || step < 1)
        return;
    if (t->own_horizon && step % STEPS_AN_ESTIMATE)
        return;
    double a_step = t->state->seconds / (double)step;
    t->state->horizon = step + 1 + (int64_t)(fmax(s->seconds - trainer_spent(t), 0) / a_step);
    t->own_horizon = true;
}

void trainer_pace(Trainer *t)
{
    fit_warmup(t);
    set_horizon(t);
}
