/* Rounding to integers of 8 and of 4 bits, as docs/ir.md has it. */
#include "oracle/interpreter.h"

#include "base/half.h"

/* A run, which is a row or with 4 bits a group of its terms, that is rounded to integers is off by
 * the rounding of its scale and of what is divided by it. Runs whose greatest magnitude is not
 * above LEAST are zero. */
enum { MOST = 127, MOST_OF_4 = 8 };
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

/* A way to round n terms, `step` apart. */
typedef void RoundRun(const Dense *x, int64_t first, int64_t step, int64_t n, Integers *out);

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

/* With 4 bits the first term of the greatest magnitude is -8 but for the rounding of the scale to
 * f16. Of a run that is not exact what programs may make of an element is off by a scale. */
static void round_to_4(const Dense *x, int64_t first, int64_t step, int64_t n, Integers *out)
{
    double extreme = 0, high = 0;
    bool is_exact = true;
    for (int64_t i = first; i < first + n * step; i += step) {
        const Num at = x->x[i];
        extreme = fabs(at.v) > fabs(extreme) ? at.v : extreme;
        high = isnan(high) || fabs(at.v) + at.e <= high ? high : fabs(at.v) + at.e;
        is_exact &= at.e == 0;
    }
    const double off = high / MOST_OF_4 * (1 + 0x1p-8) + 0x1p-21;
    const bool is_finite = high / MOST_OF_4 < 65504;
    const float scale = half_to_float(half_from_float((float)extreme / -MOST_OF_4)),
                inverse = scale == 0 ? 0 : 1 / scale;
    out->scale[first] = !is_finite  ? num_undecided(NAN)
                        : !is_exact ? num_exact(1)
                                    : num_exact((double)scale);
    for (int64_t i = first; i < first + n * step; i += step) {
        const double integer = rint((float)x->x[i].v * inverse);
        out->x[i] = !is_finite  ? num_exact(0)
                    : !is_exact ? (Num){x->x[i].v, x->x[i].e + off}
                                : num_exact(fmin(MOST_OF_4 - 1, fmax(-MOST_OF_4, integer)));
    }
}

Integers integers_of(Interpreter *in, const Dense *x, int axis, int64_t run, bool of_4)
{
    RoundRun *round = of_4 ? round_to_4 : round_to_8;
    const Shape *s = x->shape;
    const size_t count = (size_t)s->count + 1;
    Integers out = {ARENA_ARRAY(in->arena, Num, count), ARENA_ARRAY(in->arena, Num, count)};
    for (int64_t i = 0; s->extent[axis] && i < s->count; i++) {
        const int64_t at = i / s->stride[axis] % s->extent[axis], left = s->extent[axis] - at;
        if (at % run == 0 && dense_has(x, i))
            round(x, i, s->stride[axis], left < run ? left : run, &out);
    }
    return out;
}
