/* Learning rate schedules. */
#include "runtime/train/schedule.h"

#include "base/portable_math.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

static double noam(const RateSettings *s, double n)
{
    double warmup = s->warmup > 0 ? (double)s->warmup : 1;
    return s->factor / sqrt(s->d_model) * fmin(1 / sqrt(n), n * portable_pow(warmup, -1.5));
}

/* How far from the end of the warm-up (0) to the last step (1). */
static double progress(const RateSettings *s, double n)
{
    double span = (double)(s->steps - s->warmup);
    if (!s->steps)
        return 0;
    return span <= 0 ? 1 : fmin((n - (double)s->warmup) / span, 1);
}

bool rate_falls(const RateSettings *s) { return s->kind == RATE_LINEAR || s->kind == RATE_COSINE; }

RateSettings rate_shortened(const RateSettings *s, int64_t warmup)
{
    RateSettings shorter = *s;
    shorter.warmup = warmup;
    if (s->kind == RATE_NOAM)
        shorter.factor *= sqrt((double)warmup / (double)s->warmup);
    return shorter;
}

double schedule_rate(const RateSettings *s, int64_t step)
{
    double n = (double)step, warmup = (double)s->warmup;
    if (s->kind == RATE_NOAM)
        return noam(s, n);
    if (step < s->warmup)
        return s->peak * n / warmup;
    switch (s->kind) {
    case RATE_INVERSE_SQRT: return s->peak * sqrt((s->warmup > 0 ? warmup : 1) / n);
    case RATE_LINEAR: return s->peak + (s->final - s->peak) * progress(s, n);
    case RATE_COSINE:
        return s->final + (s->peak - s->final) * 0.5 * (1 + portable_cos(PI * progress(s, n)));
    default: return s->peak;
    }
}
