/* The search for the scale of a group; see groups_rule.h. */
#include "runtime/product/groups_rule.h"

#include "base/half.h"
#include "runtime/product/rounding.h"

#include <string.h>

enum { MOST_OF_4 = 15, LEAST_OF_4 = -8, LANES = 8 };

GroupBounds group_bounds(Quant quant)
{
    const QuantInfo *q = quant_info(quant);
    return q->bits == 8 ? (GroupBounds){INTEGERS_OFFSET, 1, INTEGERS_OFFSET + INTEGERS_MOST}
                        : (GroupBounds){q->has_minimum ? 0 : -LEAST_OF_4, 0, MOST_OF_4};
}

/* ---- the terms ---- */

/* GroupTerms: those of a group, then copies of the minimum that count nothing. `extreme`: the bits
 * of the first one of the greatest magnitude. */
typedef struct GroupTerms {
    float x[GROUP_TERMS], counts[GROUP_TERMS];
    int64_t n;
    int32_t extreme;
    float least, greatest;
} GroupTerms;

static inline int32_t extreme_of(int32_t extreme, float x)
{
    const int32_t bits = rounding_bits(x);
    return (bits & INTEGERS_MAGNITUDE) > (extreme & INTEGERS_MAGNITUDE) ? bits : extreme;
}
static inline float lower_of(float a, float b) { return b < a ? b : a; }
static inline float higher_of(float a, float b) { return b > a ? b : a; }

static void find_terms(GroupTerms *t, int64_t n, const float *x, int64_t step)
{
    t->n = n;
    t->extreme = 0;
    t->least = __builtin_inff();
    t->greatest = -__builtin_inff();
    for (int64_t i = 0; i < n; i++) {
        t->x[i] = x[i * step];
        t->counts[i] = 1;
        t->extreme = extreme_of(t->extreme, t->x[i]);
        t->least = lower_of(t->least, t->x[i]);
        t->greatest = higher_of(t->greatest, t->x[i]);
    }
    for (int64_t i = n; i < GROUP_TERMS; i++)
        t->x[i] = t->counts[i] = 0;
}

/* ---- candidates ---- */

static GroupRule rule_of(uint16_t scale, uint16_t minimum)
{
    const float value = half_to_float(scale);
    return (GroupRule){{scale, minimum}, value == 0 ? 0 : 1 / value, half_to_float(minimum)};
}

/* The scale that just holds all terms. */
static GroupRule first_rule(Quant quant, const GroupTerms *t)
{
    const QuantInfo *q = quant_info(quant);
    const float extreme = rounding_float(t->extreme);
    const bool is_number = extreme - extreme == 0;
    if (q->bits == 8)
        return rule_of(half_at_least((extreme < 0 ? -extreme : extreme) / INTEGERS_MOST), 0);
    if (!q->has_minimum || !is_number)
        return rule_of(half_at_least(extreme / LEAST_OF_4), 0);
    if (t->n == 0)
        return rule_of(0, 0);
    return rule_of(half_at_least((t->greatest - t->least) / MOST_OF_4), half_from_float(t->least));
}

/* The i-th of the others that the search begins with. False: there is none. */
static bool other_rule(Quant quant, const GroupTerms *t, size_t i, GroupRule *rule)
{
    static const float at[] = {-7, -7.5f, -8.5f, -9}, steps[] = {16};
    const bool has_minimum = quant_info(quant)->has_minimum;
    if (i >= (has_minimum ? sizeof steps / sizeof *steps : sizeof at / sizeof *at))
        return false;
    const float scale =
        has_minimum ? (t->greatest - t->least) / steps[i] : rounding_float(t->extreme) / at[i];
    float minimum = 0;
    if (has_minimum) {
        minimum = scale * ((steps[i] - MOST_OF_4) / 2);
        minimum += t->least;
    }
    *rule = rule_of(half_from_float(scale), half_from_float(minimum));
    return true;
}

/* The rule whose integers reach t: -t at the extreme, or from 0 to t. */
static GroupRule grid_rule(Quant quant, const GroupTerms *t, int steps)
{
    const float of = (float)steps;
    return quant_info(quant)->has_minimum
               ? rule_of(half_from_float((t->greatest - t->least) / of), half_from_float(t->least))
               : rule_of(half_from_float(rounding_float(t->extreme) / -of), 0);
}

/* Terms as parts of the extreme, or of the range above the least one. */
static void find_parts(Quant quant, const GroupTerms *t, float part[GROUP_TERMS])
{
    const bool has_minimum = quant_info(quant)->has_minimum;
    const float from = has_minimum ? t->least : 0,
                whole = has_minimum ? t->greatest - t->least : rounding_float(t->extreme);
    for (int i = 0; i < GROUP_TERMS; i++)
        part[i] = (t->x[i] - from) / whole * t->counts[i];
}

/* Whether `steps` times each part lies within a sixteenth of an integer. */
static bool is_on_grid(const float part[GROUP_TERMS], int steps)
{
    const float near = 0.0625f, of = (float)steps;
    for (int i = 0; i < GROUP_TERMS; i += LANES) {
        float farthest = 0;
        for (int j = 0; j < LANES; j++) {
            const float at = part[i + j] * of;
            float q = at + INTEGERS_ROUND;
            q -= INTEGERS_ROUND;
            const float off = at - q;
            farthest = higher_of(farthest, off < 0 ? -off : off);
        }
        if (farthest > near)
            return false;
    }
    return true;
}

/* Whether terms that are rounded by the rule are found again by the first candidates, and no term
 * is clipped by more than 1.5 steps beyond what the first one clips. */
static bool is_found_again(Quant quant, const GroupTerms *t, GroupRule rule)
{
    const float half = 0.5f, clipped = 1.5f;
    if (!quant_info(quant)->has_minimum) {
        const float at = rounding_float(t->extreme) * rule.inverse, most = at < 0 ? -at : at;
        return most > 7 - half && most <= 8 + clipped;
    }
    const float least = (t->least - rule.minimum) * rule.inverse,
                greatest = (t->greatest - rule.minimum) * rule.inverse;
    return least < half && least >= -clipped && greatest > MOST_OF_4 - half &&
           greatest <= MOST_OF_4 + clipped;
}

/* ---- what a rule loses ---- */

/* GroupFit: a rule with the sum of squared errors, and of its integers q and of y = x - minimum the
 * sums Σq, Σq², Σy, Σyq. */
typedef struct GroupFit {
    GroupRule rule;
    float error, q, qq, y, yq;
} GroupFit;

static float lanes_sum(const float lanes[LANES])
{
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
           ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

static GroupFit fit_of(const GroupTerms *t, GroupRule rule, GroupBounds bounds)
{
    const float scale = half_to_float(rule.of.scale);
    const float least = (float)(bounds.least - bounds.offset),
                most = (float)(bounds.most - bounds.offset);
    float error[LANES] = {0}, sum_q[LANES] = {0}, qq[LANES] = {0}, sum_y[LANES] = {0},
          yq[LANES] = {0};
    for (int i = 0; i < GROUP_TERMS; i += LANES)
        for (int j = 0; j < LANES; j++) {
            const float y = (t->x[i + j] - rule.minimum) * t->counts[i + j];
            float q = y * rule.inverse;
            q += INTEGERS_ROUND;
            q -= INTEGERS_ROUND;
            q = higher_of(lower_of(q, most), least);
            const float value = scale * q, lost = y - value, square = lost * lost, of_q = q * q,
                        of_y = y * q;
            error[j] += square;
            sum_q[j] += q;
            qq[j] += of_q;
            sum_y[j] += y;
            yq[j] += of_y;
        }
    return (GroupFit){rule,          lanes_sum(error), lanes_sum(sum_q),
                      lanes_sum(qq), lanes_sum(sum_y), lanes_sum(yq)};
}

/* The scale, and minimum, of the least squares for the integers of the fit. */
static GroupRule least_squares(Quant quant, const GroupTerms *t, const GroupFit *fit)
{
    const float n = (float)t->n;
    if (!quant_info(quant)->has_minimum)
        return rule_of(half_from_float(fit->yq / fit->qq), 0);
    const float of_n = n * fit->yq, of_q = fit->q * fit->y, all = n * fit->qq,
                squared = fit->q * fit->q;
    const float scale = (of_n - of_q) / (all - squared);
    const float part = scale * fit->q;
    return rule_of(half_from_float(scale),
                   half_from_float(fit->rule.minimum + (fit->y - part) / n));
}

static bool fits_better(Quant quant, const GroupTerms *t, GroupRule rule, GroupFit *best)
{
    const GroupFit fit = fit_of(t, rule, group_bounds(quant));
    if (!(fit.error < best->error))
        return false;
    *best = fit;
    return true;
}

static bool search_takes(Quant quant, const GroupTerms *t, GroupRule rule, GroupFit *best)
{
    return is_found_again(quant, t, rule) /* not of a NaN, either */ &&
           fits_better(quant, t, rule, best);
}

static void try_grids(Quant quant, const GroupTerms *t, GroupFit *best)
{
    float part[GROUP_TERMS];
    find_parts(quant, t, part);
    for (int steps = (quant_info(quant)->has_minimum ? MOST_OF_4 : MOST_OF_4 / 2) - 1; steps > 0;
         steps--)
        if (is_on_grid(part, steps))
            fits_better(quant, t, grid_rule(quant, t, steps), best);
}

/* ---- the rule ---- */

GroupRule group_rule(Quant quant, int64_t n, const float *x, int64_t step)
{
    enum { REFITS = 4 };
    GroupTerms t;
    find_terms(&t, n, x, step);
    const GroupRule first = first_rule(quant, &t);
    const float scale = half_to_float(first.of.scale & 0x7FFF), minimum = first.minimum;
    const bool is_searched = scale >= HALF_NORMAL && scale < HALF_LIMIT && minimum - minimum == 0;
    if (quant_info(quant)->bits == 8 || !is_searched)
        return first;
    GroupFit best = fit_of(&t, first, group_bounds(quant));
    GroupRule other;
    for (size_t i = 0; best.error > 0 && other_rule(quant, &t, i, &other); i++)
        search_takes(quant, &t, other, &best);
    for (int i = 0; best.error > 0 && i < REFITS; i++)
        if (!search_takes(quant, &t, least_squares(quant, &t, &best), &best))
            break;
    if (best.error > 0)
        try_grids(quant, &t, &best);
    return best.rule;
}
