/* Contraction. */
#include "oracle/interpreter.h"

#include "base/half.h"

/* ---- products of integers ---- */

/* A run, which is a row or with 4 bits a group of its terms, that is rounded to integers is off by
 * the rounding of its scale and of what is divided by it. Runs whose greatest magnitude is not
 * above LEAST are zero. */
enum { MOST = 127, GROUP = 32, MOST_OF_4 = 8 };
#define LEAST 0x1p-100
#define UNIT 0x1p-24

/* Of a tensor's runs along one axis: by dense number the integers, and, at the first element of
 * each run, the scales. */
typedef struct Integers {
    Num *x, *scale;
} Integers;

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

/* `run`: terms of a run. */
static Integers integers_of(Interpreter *in, const Dense *x, int axis, int64_t run, RoundRun *round)
{
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

/* Sums of a run's integers are exact. Each is rounded as an f32, multiplied by the product of the
 * scales, which is rounded, too, as is each of them; then the runs are added. */
static void interpret_bits(Interpreter *in, const Op *op, Dense *out, OracleWalk outer,
                           const OracleWalk *inner)
{
    enum { ROUNDINGS = 5 };
    const Dense *tensors[] = {operand(in, op, 0), operand(in, op, 1)};
    const bool of_4 = op_attr(op, ATTR_bits)->i == 4;
    const int64_t run = of_4 ? GROUP : inner->count ? inner->count : 1;
    const Integers a =
        integers_of(in, tensors[0], (int)op_attr(op, ATTR_contract_a)->ints[0], run, round_to_8);
    const Integers b = integers_of(in, tensors[1], (int)op_attr(op, ATTR_contract_b)->ints[0], run,
                                   of_4 ? round_to_4 : round_to_8);
    const Rounding to = rounding_for(in, op), sums = rounding_of_sums(to.dtype);
    for (int64_t n = 0; n < outer.count; n++, walk_next(&outer)) {
        const int64_t p = outer.at[0], q = outer.at[1];
        OracleSum all = {0};
        OracleWalk w = *inner;
        if (!dense_has(tensors[0], p) || !inner->count)
            continue;
        for (int64_t i = 0; i < inner->count;) {
            const Num scale = num_product(a.scale[p + w.at[0]], b.scale[q + w.at[1]]);
            Num sum = {0, 0};
            for (int64_t end = i + run; i < end && i < inner->count; i++, walk_next(&w)) {
                const Num term = num_product(a.x[p + w.at[0]], b.x[q + w.at[1]]);
                sum = (Num){sum.v + term.v, sum.e + term.e};
            }
            sum_add(&all, num_product(sum, scale));
        }
        all.part = true; /* a scale is not exact, though its products may be whole */
        out->x[n] = sum_end(&all, ROUNDINGS, &sums, &to);
    }
}

/* ---- dot ---- */

/* Tensor 0 is a, tensor 1 is b. */
void interpret_dot(Interpreter *in, const Op *op, Dense *out)
{
    const Dense *a = operand(in, op, 0), *b = operand(in, op, 1);
    const Shape *x = a->shape, *y = b->shape;
    const Attr *ba = op_attr(op, ATTR_batch_a), *bb = op_attr(op, ATTR_batch_b);
    const Attr *ca = op_attr(op, ATTR_contract_a), *cb = op_attr(op, ATTR_contract_b);
    OracleWalk outer = {.count = 1}, inner = {.count = 1};
    for (int i = 0; i < ba->n; i++)
        walk_add_axis(&outer, x->extent[ba->ints[i]], x->stride[ba->ints[i]],
                      y->stride[bb->ints[i]]);
    for (int i = 0; i < x->rank; i++)
        if (!attr_lists(ba, i) && !attr_lists(ca, i))
            walk_add_axis(&outer, x->extent[i], x->stride[i], 0);
    for (int i = 0; i < y->rank; i++)
        if (!attr_lists(bb, i) && !attr_lists(cb, i))
            walk_add_axis(&outer, y->extent[i], 0, y->stride[i]);
    for (int i = 0; i < ca->n; i++)
        walk_add_axis(&inner, x->extent[ca->ints[i]], x->stride[ca->ints[i]],
                      y->stride[cb->ints[i]]);
    if (op_attr(op, ATTR_bits)) {
        interpret_bits(in, op, out, outer, &inner);
        return;
    }
    Rounding to = rounding_for(in, op), sums = rounding_of_sums(to.dtype);
    for (int64_t n = 0; n < outer.count; n++, walk_next(&outer)) {
        OracleSum sum = {0};
        OracleWalk w = inner;
        for (int64_t i = 0; i < inner.count; i++, walk_next(&w)) {
            int64_t p = outer.at[0] + w.at[0], q = outer.at[1] + w.at[1];
            if (dense_has(a, p) && dense_has(b, q))
                sum_add(&sum, num_product(a->x[p], b->x[q]));
        }
        out->x[n] = sum_end(&sum, 1, &sums, &to);
    }
}
