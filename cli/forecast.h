/* Forecast: warnings about a training while it runs: its warm-up will not end in time, or was
 * shortened, or, if nobody said when to end, the training will take more than an hour. */
#ifndef CLI_FORECAST_H
#define CLI_FORECAST_H

#include "cli/cli.h"
#include "runtime/train/train.h"

typedef struct Forecast {
    Job *job;
    const TrainSettings *settings;
    const TrainState *state;
    /* the number of steps is the default, and their time is not known yet */
    bool default_steps;
    TrainPace pace;
    int64_t warmup; /* TrainState.warmup when it was last reported */
} Forecast;

/* Adds the warnings that are known before the first step. */
void forecast_init(Forecast *forecast, Job *job, const TrainSettings *settings, bool default_steps,
                   const TrainState *state);
/* Called after each step: adds warnings of a shortened warm-up and, once the speed is known, of a
 * long training. `now`: clock_seconds(). True: there are new diagnostics. */
bool forecast_step(Forecast *forecast, double now);

#endif
