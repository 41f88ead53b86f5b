/* The formulas. With G bytes of gradients, as many of params, N ranks, and a network that gives b bytes a
 * second after l seconds (Thakur, Rabenseifner and Gropp 2005, table 1):
 *
 *              sum of gradients              params to all
 *   halving    l log2 N + G (1 - 1/N) / b    l (N - 1) + G (1 - 1/N) / b
 *   ring       l (N - 1) + G (1 - 1/N) / b   the same
 *   tree       log2 N (l + G / b)            the same
 *
 * Ranks send while they compute: gradients during the backward of the last shard, two thirds of its time,
 * and params during the next forward. Not so the largest param, mostly an embedding, whose gradient is
 * whole last and which the forward needs first. What is sent and received takes the processor's time in any
 * case. */
#include "cli/scaling.h"

#include <math.h>

const char *const scaling_ways[N_SCALING_WAYS] = {"halving", "ring", "tree", "machines"};

/* Phases: seconds to sum the gradients, and to give the params. */
typedef struct Phases {
    double sum, give;
} Phases;

static Phases phases_of(const Scaling *s, ScalingWay way, double ranks, double speed)
{
    double part = s->bytes * (1 - 1 / ranks) / speed, steps = log2(ranks);
    switch (way) {
    case SCALING_RING: return (Phases){s->delay * (ranks - 1) + part, s->delay * (ranks - 1) + part};
    case SCALING_TREE:
        return (Phases){steps * (s->delay + s->bytes / speed), steps * (s->delay + s->bytes / speed)};
    case SCALING_MACHINES:
    case SCALING_HALVING:
    case N_SCALING_WAYS: break;
    }
    return (Phases){s->delay * steps + part, s->delay * (ranks - 1) + part};
}

static Phases phases_at(const Scaling *s, ScalingWay way, double ranks)
{
    double here = fmin(ranks, (double)s->machine);
    if (way == SCALING_MACHINES) {
        Phases in = phases_of(s, way, here, s->memory / here), out = phases_of(s, way, ranks / here, s->speed);
        return (Phases){in.sum + out.sum, in.give + out.give};
    }
    return phases_of(s, way, ranks, (ranks > here ? s->speed : s->memory) / here);
}

/* What is left of a phase where others are computed meanwhile. */
static double left_of(const Scaling *s, double phase, double meanwhile)
{
    return fmax(phase * s->largest / s->bytes, phase - meanwhile);
}

double scaling_rate(const Scaling *s, ScalingWay way, int64_t n)
{
    double ranks = (double)n, compute = s->tokens * s->token;
    double shard = compute / fmax(1, (double)s->shards / ranks);
    Phases phases = phases_at(s, way, ranks);
    double waits = n > 1 ? left_of(s, phases.sum, shard * 2 / 3) + left_of(s, phases.give, shard / 3) : 0;
    double handles = 4 * s->bytes * (1 - 1 / ranks) / s->handling;
    return ranks * s->tokens / (compute + s->rest / ranks + waits + handles);
}
