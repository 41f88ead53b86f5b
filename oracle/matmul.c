/* Contraction. */
#include "oracle/interpreter.h"

/* ---- products of integers ---- */

/* A row that is rounded to integers is off by the rounding of its scale and of what is divided by
 * it. Rows whose greatest magnitude is not above LEAST are zero. */
enum { MOST = 127 };
#define LEAST 0x1p-100
#define UNIT 0x1p-24

/* Of a tensor's rows along one axis: by dense number the integers, and, at the first element of
 * each row, the scales. */
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

/* An exact x of a row whose greatest is exact is divided as every program does. */
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

static void round_row(const Dense *x, int64_t first, int64_t step, int64_t n, Integers *out)
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

static Integers integers_of(Interpreter *in, const Dense *x, int axis)
{
    const Shape *s = x->shape;
    const size_t count = (size_t)s->count + 1;
    Integers out = {ARENA_ARRAY(in->arena, Num, count), ARENA_ARRAY(in->arena, Num, count)};
    for (int64_t i = 0; s->extent[axis] && i < s->count; i++)
        if (i / s->stride[axis] % s->extent[axis] == 0 && dense_has(x, i))
            round_row(x, i, s->stride[axis], s->extent[axis], &out);
    return out;
}

/* Sums of integers are exact. The result is rounded as an f32, multiplied by the product of the
 * scales, which is rounded, too, as is each of them. */
static void interpret_bits(Interpreter *in, const Op *op, Dense *out, OracleWalk outer,
                           const OracleWalk *inner)
{
    enum { ROUNDINGS = 5 };
    const Dense *tensors[] = {operand(in, op, 0), operand(in, op, 1)};
    const Integers a = integers_of(in, tensors[0], (int)op_attr(op, ATTR_contract_a)->ints[0]);
    const Integers b = integers_of(in, tensors[1], (int)op_attr(op, ATTR_contract_b)->ints[0]);
    const Rounding to = rounding_for(in, op);
    for (int64_t n = 0; n < outer.count; n++, walk_next(&outer)) {
        const int64_t p = outer.at[0], q = outer.at[1];
        Num sum = {0, 0};
        OracleWalk w = *inner;
        if (!dense_has(tensors[0], p) || !inner->count)
            continue;
        for (int64_t i = 0; i < inner->count; i++, walk_next(&w)) {
            const Num term = num_product(a.x[p + w.at[0]], b.x[q + w.at[1]]);
            sum = (Num){sum.v + term.v, sum.e + term.e};
        }
        const Num result = num_product(sum, num_product(a.scale[p], b.scale[q]));
        out->x[n] = num_rounded(&to, result.v, result.e, ROUNDINGS);
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
