/* Contraction. */
#include "oracle/interpreter.h"

/* ---- products of integers ---- */

/* Sums of a run's integers are exact. Each is rounded as an f32, multiplied by the product of the
 * scales, which is rounded, too, as is each of them; then the runs are added. */
static void interpret_bits(Interpreter *in, const Op *op, Dense *out, OracleWalk outer,
                           const OracleWalk *inner)
{
    enum { ROUNDINGS = 5 };
    const Dense *tensors[] = {operand(in, op, 0), operand(in, op, 1)};
    const bool of_4 = op_attr(op, ATTR_bits)->i == 4;
    const int64_t run = of_4 ? GROUP_OF_4 : inner->count ? inner->count : 1;
    const Integers a =
        integers_of(in, tensors[0], (int)op_attr(op, ATTR_contract_a)->ints[0], run, false);
    const Integers b =
        integers_of(in, tensors[1], (int)op_attr(op, ATTR_contract_b)->ints[0], run, of_4);
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
