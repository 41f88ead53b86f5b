/* Warnings about a training before it is over: that its warm-up will not end, or ends earlier, or that
 * it will take days. */
#ifndef CLI_FORECAST_H
#define CLI_FORECAST_H

#include "cli/cli.h"
#include "runtime/train/train.h"

typedef struct Forecast {
    Job *job;
    const TrainSettings *settings;
    const TrainState *state;
    bool default_steps; /* nobody said when to end, and how long that takes is not told yet */
    TrainPace pace;
    int64_t warmup;     /* of the state, when it was last reported */
} Forecast;

/* Tells what is known before the next step. */
void forecast_init(Forecast *forecast, Job *job, const TrainSettings *settings, bool default_steps,
                   const TrainState *state);
/* After each step: once the speed is known, warns of what it tells. True: there are new
 * diagnostics. */
bool forecast_step(Forecast *forecast, double now);

#endif
