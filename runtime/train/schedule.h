/* The learning rate of each step. */
#ifndef RUNTIME_TRAIN_SCHEDULE_H
#define RUNTIME_TRAIN_SCHEDULE_H

#include "base/training.h"

#include <stdbool.h>
#include <stdint.h>

/* With n the step, from 1, and w the warm-up in steps (noam and inverse_sqrt take 0 as 1):
 *   noam          factor × d_model^-0.5 × min(n^-0.5, n × w^-1.5)  (Vaswani et al. 2017, eq. 3)
 *   constant      peak
 *   inverse_sqrt  peak × sqrt(w / n)
 *   linear        from peak after w steps in a line to final at `steps`, then final
 *   cosine        the same along half a cosine
 * `steps` 0: not known yet; linear and cosine then stay at the peak.
 * All but noam rise in a line from 0 to peak over the first w steps. */
typedef struct RateSettings {
    Schedule kind;
    double d_model, factor, peak, final;
    int64_t warmup, steps;
} RateSettings;

/* Whether the rate falls until a last step, which must be known. */
bool rate_falls(const RateSettings *settings);
/* The same settings with a shorter warm-up and the same peak. (The peak of noam depends on the
 * warm-up, so the factor is changed.) */
RateSettings rate_shortened(const RateSettings *settings, int64_t warmup);
double schedule_rate(const RateSettings *settings, int64_t step);

#endif
