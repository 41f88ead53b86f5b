/* Contraction. */
#include "oracle/interpreter.h"

/* ---- products of integers ---- */

/* Sums of a run's integers are exact. Each is rounded as an f32, multiplied by the product of the
 * scales, which is rounded, too, as is each of them; then the runs are added, and with a minimum
 * what it gives: the sum of a's integers times its scale. */
static void interpret_quant(Interpreter *in, const Op *op, Dense *out, OracleWalk outer,
                            const OracleWalk *inner)
{
    enum { ROUNDINGS = 5 };
    const Dense *tensors[] = {operand(in, op, 0), operand(in, op, 1)};
    const Quant quant = op_quant(op);
    const int64_t run = integers_run(quant, inner->count);
    const Integers a =
        integers_of(in, tensors[0], (int)op_attr(op, ATTR_contract_a)->ints[0], run, QUANT_INT8);
    const Integers b =
        integers_of(in, tensors[1], (int)op_attr(op, ATTR_contract_b)->ints[0], run, quant);
    const Rounding to = rounding_for(in, op), sums = rounding_of_sums(to.dtype);
    for (int64_t n = 0; n < outer.count; n++, walk_next(&outer)) {
        const int64_t p = outer.at[0], q = outer.at[1];
        OracleSum all = {0};
        OracleWalk w = *inner;
        if (!dense_has(tensors[0], p) || !inner->count)
            continue;
        for (int64_t i = 0; i < inner->count;) {
            const Num left = a.scale[p + w.at[0]], scale = b.scale[q + w.at[1]],
                      minimum = b.minimum[q + w.at[1]];
            Num sum = {0, 0}, of_a = {0, 0};
            for (int64_t end = i + run; i < end && i < inner->count; i++, walk_next(&w)) {
                const Num x = a.x[p + w.at[0]], term = num_product(x, b.x[q + w.at[1]]);
                sum = (Num){sum.v + term.v, sum.e + term.e};
                of_a = (Num){of_a.v + x.v, of_a.e + x.e};
            }
            sum_add(&all, num_product(sum, num_product(left, scale)));
            if (minimum.v != 0)
                sum_add(&all, num_product(num_product(of_a, left), minimum));
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
    if (op_quant(op)) {
        interpret_quant(in, op, out, outer, &inner);
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
