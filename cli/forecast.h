/* Forecast: warnings about a training while it runs: its warm-up will not end in time, or was
 * shortened, or the training will take days. */
#ifndef CLI_FORECAST_H
#define CLI_FORECAST_H

#include "cli/cli.h"
#include "runtime/train/train.h"

typedef struct Forecast {
    Job *job;
    const TrainSettings *settings;
    const TrainState *state;
    /* the number of steps is the default, and no forecast of their time has been printed */
    bool default_steps;
    TrainPace pace;
    int64_t warmup; /* of the state, when it was last reported */
} Forecast;

/* Adds the warnings that are known before the first step. */
void forecast_init(Forecast *forecast, Job *job, const TrainSettings *settings, bool default_steps,
                   const TrainState *state);
/* Called after each step: once the speed is known, adds the warnings that follow from it. `now`:
 * clock_seconds(). True: there are new diagnostics. */
bool forecast_step(Forecast *forecast, double now);

#endif
