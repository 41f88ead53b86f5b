/* Rounding to integers of 8 and of 4 bits, as docs/ir.md has it. */
#include "oracle/interpreter.h"

#include "base/half.h"
#include "runtime/product/groups.h"

/* A run, which is a row or with 4 bits a group of its terms, that is rounded to integers is off by
 * the rounding of its scale and of what is divided by it. Runs whose greatest magnitude is not
 * above LEAST are zero. */
enum { MOST = 127, MOST_OF_4 = 8, MOST_OF_MINIMUM = 15 };
#define LEAST 0x1p-100
#define UNIT 0x1p-24

static Num greatest_of(const Dense *x, int64_t first, int64_t step, int64_t n)
{
    double v = 0, low = 0, high = 0;
    for (int64_t i = 0; i < n; i++) {
        Num at = x->x[first + i * step];
        v = isnan(at.v) ? NAN : fmax(v, fabs(at.v));
        low = fmax(low, fabs(at.v) - at.e);
        high = fmax(high, fabs(at.v) + at.e);
        if (isnan(v))
            return num_undecided(NAN);
    }
    return (Num){v, fmax(high - v, v - low)};
}

/* An exact x of a run whose greatest is exact is divided as every program does. */
static Num integer_of(Num x, Num greatest)
{
    if (x.e == 0 && greatest.e == 0) {
        const float inverse = MOST / (float)greatest.v, scaled = (float)x.v * inverse;
        return num_exact(rint(scaled));
    }
    const double inverse = MOST / greatest.v, scaled = x.v * inverse;
    const double off = greatest.e / (greatest.v - greatest.e) + 2 * UNIT;
    const double e = fabs(scaled) * off + x.e * inverse * (1 + off);
    const double v = rint(scaled);
    return (Num){v, fmax(rint(scaled + e) - v, v - rint(scaled - e))};
}

static void round_to_8(const Dense *x, int64_t first, int64_t step, int64_t n, Integers *out)
{
    const Num greatest = greatest_of(x, first, step, n);
    const bool is_zero = greatest.v + greatest.e <= LEAST,
               is_decided = greatest.v - greatest.e > LEAST && isfinite(greatest.v + greatest.e);
    out->scale[first] = is_zero      ? num_exact(0)
                        : is_decided ? (Num){greatest.v / MOST, greatest.e / MOST}
                                     : num_undecided(greatest.v);
    for (int64_t i = first; i < first + n * step; i += step)
        out->x[i] = is_decided ? integer_of(x->x[i], greatest) : num_exact(0);
}

/* Scales of f16: of a run that is not exact what programs may make of an element is off by a scale,
 * of 4 bits, whose scale is searched for, by up to three times the one that holds all elements; and
 * there are no integers: the elements stand for them. */
static void round_inexact(const Dense *x, int64_t first, int64_t step, int64_t n, double scale,
                          Integers *out)
{
    out->scale[first] = num_exact(1);
    for (int64_t i = first; i < first + n * step; i += step)
        out->x[i] = (Num){x->x[i].v, x->x[i].e + scale * (1 + 0x1p-8) + 0x1p-21};
}

static void round_by(const Dense *x, int64_t first, int64_t step, int64_t n, float scale,
                     float minimum, double least, double most, Integers *out)
{
    const float inverse = scale == 0 ? 0 : 1 / scale;
    out->scale[first] = num_exact((double)scale);
    out->minimum[first] = num_exact((double)minimum);
    for (int64_t i = first; i < first + n * step; i += step) {
        const float above = (float)x->x[i].v - minimum, scaled = above * inverse;
        out->x[i] = num_exact(fmin(most, fmax(least, rint((double)scaled))));
    }
}

static float as_scale(float x) { return half_to_float(half_at_least(x)); }

/* By the scale, and minimum, that runtime/product searches: which one is best is its choice, and
 * tests/exec/test_groups.c is its judge. */
static void round_searched(const Dense *x, int64_t first, int64_t step, int64_t n, Quant quant,
                           Integers *out)
{
    enum { TERMS = 32 };
    const bool has_minimum = quant_info(quant)->has_minimum;
    float terms[TERMS];
    int8_t integers[TERMS];
    for (int64_t i = 0; i < n; i++)
        terms[i] = (float)x->x[first + i * step].v;
    const GroupScale of = groups_round(quant, n, terms, 1, integers);
    round_by(x, first, step, n, half_to_float(of.scale), half_to_float(of.minimum),
             has_minimum ? 0 : -MOST_OF_4, has_minimum ? MOST_OF_MINIMUM : MOST_OF_4 - 1, out);
}

/* A group of f16: of 8 bits the greatest magnitude is 127; of 4 bits the scale is searched for. */
static void round_group(const Dense *x, int64_t first, int64_t step, int64_t n, Quant quant,
                        Integers *out)
{
    const QuantInfo *q = quant_info(quant);
    double extreme = 0, high = 0;
    bool is_exact = true;
    for (int64_t i = first; i < first + n * step; i += step) {
        const Num at = x->x[i];
        extreme = fabs(at.v) > fabs(extreme) ? at.v : extreme;
        high = isnan(high) || fabs(at.v) + at.e <= high ? high : fabs(at.v) + at.e;
        is_exact &= at.e == 0;
    }
    const int steps = q->bits == 8 ? MOST : q->has_minimum ? MOST_OF_MINIMUM : MOST_OF_4;
    const double range = q->has_minimum ? 2 * high : high; /* at most */
    const double top = q->has_minimum ? fmax(high, range / steps) : range / steps;
    if (!(top < 65504)) {
        out->scale[first] = num_undecided(NAN);
        for (int64_t i = first; i < first + n * step; i += step)
            out->x[i] = num_exact(0);
    } else if (!is_exact)
        round_inexact(x, first, step, n, range / steps * (q->bits == 8 ? 1 : 3), out);
    else if (q->bits == 8)
        round_by(x, first, step, n, as_scale((float)fabs(extreme) / MOST), 0, -MOST, MOST, out);
    else
        round_searched(x, first, step, n, quant, out);
}

Integers integers_of(Interpreter *in, const Dense *x, int axis, int64_t run, Quant quant)
{
    const Shape *s = x->shape;
    const size_t count = (size_t)s->count + 1;
    Integers out = {ARENA_ARRAY(in->arena, Num, count), ARENA_ARRAY(in->arena, Num, count),
                    ARENA_ARRAY(in->arena, Num, count)};
    for (int64_t i = 0; s->extent[axis] && i < s->count; i++) {
        const int64_t at = i / s->stride[axis] % s->extent[axis], left = s->extent[axis] - at;
        if (at % run != 0 || !dense_has(x, i))
            continue;
        if (quant_info(quant)->group)
            round_group(x, i, s->stride[axis], left < run ? left : run, quant, &out);
        else
            round_to_8(x, i, s->stride[axis], left < run ? left : run, &out);
    }
    return out;
}
