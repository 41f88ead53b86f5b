/* The formulas. With G bytes of gradients, P of params as they go to other ranks (as many, or fewer
 * where some go as bf16), N ranks, and a network that gives b bytes a second after l seconds
 * (Thakur, Rabenseifner and Gropp 2005, table 1):
 *
 *              sum of gradients              params to all
 *   halving    l log2 N + G (1 - 1/N) / b    l (N - 1) + P (1 - 1/N) / b
 *   ring       l (N - 1) + G (1 - 1/N) / b   the same of P
 *   tree       log2 N (l + G / b)            the same of P
 *
 * Ranks send while they compute: gradients during the backward of the last shard, two thirds of its
 * time, and params during the next forward. Two things are not hidden: the largest param, which the
 * forward needs first, and the rows of its gradient for the batch's tokens, which are computed
 * last. A batch of n tokens has ROWS n^GROWTH different ones (the law of Heaps, 1978), calibrated
 * on Multi30k's subwords: 1,152 rows for 3,125 tokens, 4,203 for 25,000. Sending and receiving take
 * the processor's time in any case. */
#include "cli/bench/scaling.h"

#include <math.h>

static const double ROWS = 10, GROWTH = 0.6;

const char *const scaling_ways[N_SCALING_WAYS] = {"halving", "ring", "tree", "machines"};

/* Phases: seconds to sum the gradients, and to give the params. */
typedef struct Phases {
    double sum, give;
} Phases;

static Phases phases_of(const Scaling *s, ScalingWay way, double ranks, double speed)
{
    double share = (1 - 1 / ranks) / speed, sum = s->bytes * share, give = s->given * share;
    double steps = log2(ranks);
    switch (way) {
    case SCALING_RING: return (Phases){s->delay * (ranks - 1) + sum, s->delay * (ranks - 1) + give};
    case SCALING_TREE:
        return (Phases){steps * (s->delay + s->bytes / speed),
                        steps * (s->delay + s->given / speed)};
    case SCALING_MACHINES:
    case SCALING_HALVING:
    case N_SCALING_WAYS: break;
    }
    return (Phases){s->delay * steps + sum, s->delay * (ranks - 1) + give};
}

static Phases phases_at(const Scaling *s, ScalingWay way, double ranks)
{
    double here = fmin(ranks, (double)s->machine);
    if (way == SCALING_MACHINES) {
        Phases in = phases_of(s, way, here, s->memory / here),
               out = phases_of(s, way, ranks / here, s->speed);
        return (Phases){in.sum + out.sum, in.give + out.give};
    }
    return phases_of(s, way, ranks, (ranks > here ? s->speed : s->memory) / here);
}

/* What is left of a phase of which something is computed meanwhile, but not of this share. */
static double left_of(double phase, double share, double meanwhile)
{
    return fmax(phase * share, phase - meanwhile);
}

/* The share of the largest param's rows that a sum of so many batches has. */
static double share_of(const Scaling *s, double batches)
{
    return fmin(1, ROWS * pow(batches * s->tokens, GROWTH) / s->rows);
}

/* Of these the share in all that a rank sends: half of the elements first, then a quarter of a sum
 * of two. */
static double late_share(const Scaling *s, double ranks)
{
    double late = 0, all = 0;
    for (double have = 1; have < ranks; have *= 2) {
        late += share_of(s, have) / have;
        all += 1 / have;
    }
    return late / all;
}

static double waits_of(const Scaling *s, Phases phases, double ranks, double shard)
{
    return ranks > 1
               ? left_of(phases.sum, late_share(s, ranks) * s->largest / s->bytes, shard * 2 / 3) +
                     left_of(phases.give, s->first / s->given, shard / 3)
               : 0;
}

double scaling_rate(const Scaling *s, ScalingWay way, int64_t n)
{
    double ranks = (double)n, compute = s->tokens * s->token;
    double shard = compute / fmax(1, (double)s->shards / ranks);
    Phases phases = phases_at(s, way, ranks);
    double handles = 2 * (s->bytes + s->given) * (1 - 1 / ranks) / s->handling;
    return ranks * s->tokens /
           (compute + s->rest / ranks + waits_of(s, phases, ranks, shard) + handles);
}
