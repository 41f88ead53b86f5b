/* Contraction. */
#include "oracle/interpreter.h"

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
