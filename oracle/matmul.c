/* Contractions. */
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

/* ---- a matrix for each row ---- */

/* The row of x, in elements, that goes with the index's element number i: last axes of x may
 * be 1. */
static int64_t row_of_operand(const Dense *x, const Dense *index, int64_t i)
{
    const int rank = index->shape->rank;
    int64_t repeats = 1;
    for (int axis = rank - 1; axis >= 0 && dim_is_one(x->shape->dims[axis]); axis--)
        repeats *= index->shape->extent[axis];
    return i / repeats * x->shape->extent[rank];
}

/* The matrix that an index names; -1: none. */
static int64_t matrix_of(Num index, int64_t matrices)
{
    return index.v >= 0 && index.v < (double)matrices ? (int64_t)index.v : -1;
}

/* Row p of a by the matrix q of b: b's terms are `step` apart, its columns `beside`. */
typedef struct GroupedRow {
    int64_t p, q, terms, step, beside;
} GroupedRow;

/* As interpret_quant. */
static Num quant_element(const Integers *a, const Integers *b, GroupedRow row, int64_t run,
                         const Rounding *sums, const Rounding *to)
{
    enum { ROUNDINGS = 5 };
    OracleSum all = {.part = true};
    for (int64_t k = 0; k < row.terms;) {
        const Num left = a->scale[row.p + k], scale = b->scale[row.q + k * row.step],
                  minimum = b->minimum[row.q + k * row.step];
        Num sum = {0, 0}, of_a = {0, 0};
        for (int64_t end = k + run; k < end && k < row.terms; k++) {
            const Num x = a->x[row.p + k], term = num_product(x, b->x[row.q + k * row.step]);
            sum = (Num){sum.v + term.v, sum.e + term.e};
            of_a = (Num){of_a.v + x.v, of_a.e + x.e};
        }
        sum_add(&all, num_product(sum, num_product(left, scale)));
        if (minimum.v != 0)
            sum_add(&all, num_product(num_product(of_a, left), minimum));
    }
    return sum_end(&all, ROUNDINGS, sums, to);
}

void interpret_grouped_dot(Interpreter *in, const Op *op, Dense *out)
{
    const Dense *a = operand(in, op, 0), *b = operand(in, op, 1), *index = operand(in, op, 2);
    const int axis = (int)op_int(op, ATTR_axis);
    const Quant quant = op_quant(op);
    const int64_t columns = b->shape->extent[3 - axis];
    GroupedRow row = {.terms = b->shape->extent[axis],
                      .step = b->shape->stride[axis],
                      .beside = b->shape->stride[3 - axis]};
    const int64_t run = integers_run(quant, row.terms);
    const Rounding to = rounding_for(in, op), sums = rounding_of_sums(to.dtype);
    Integers of_a = {0}, of_b = {0};
    if (quant) {
        of_a = integers_of(in, a, a->shape->rank - 1, run, QUANT_INT8);
        of_b = integers_of(in, b, axis, run, quant);
    }
    for (int64_t i = 0; i < index->shape->count; i++) {
        const int64_t matrix = matrix_of(index->x[i], b->shape->extent[0]);
        row.p = row_of_operand(a, index, i);
        for (int64_t j = 0; dense_has(index, i) && j < columns; j++) {
            OracleSum sum = {0};
            row.q = matrix * b->shape->stride[0] + j * row.beside;
            for (int64_t k = 0; !quant && matrix >= 0 && k < row.terms; k++)
                sum_add(&sum, num_product(a->x[row.p + k], b->x[row.q + k * row.step]));
            Num *y = &out->x[i * columns + j];
            *y = quant && matrix >= 0 && row.terms
                     ? quant_element(&of_a, &of_b, row, run, &sums, &to)
                     : sum_end(&sum, 1, &sums, &to);
            *y = num_is_exact(index->x[i]) ? *y : num_undecided(y->v);
        }
    }
}

void interpret_grouped_outer(Interpreter *in, const Op *op, Dense *out)
{
    const Dense *a = operand(in, op, 0), *b = operand(in, op, 1), *index = operand(in, op, 2);
    const int64_t *extent = out->shape->extent, size = extent[1] * extent[2];
    const Rounding to = rounding_for(in, op), sums = rounding_of_sums(to.dtype);
    OracleSum *all = ARENA_ARRAY(in->arena, OracleSum, out->shape->count + 1);
    bool undecided = false;
    for (int64_t i = 0; i < index->shape->count; i++) {
        const int64_t matrix = matrix_of(index->x[i], extent[0]), p = row_of_operand(a, index, i),
                      q = row_of_operand(b, index, i);
        if (!dense_has(index, i))
            continue;
        undecided |= !num_is_exact(index->x[i]);
        for (int64_t m = 0; matrix >= 0 && m < size; m++)
            sum_add(&all[matrix * size + m],
                    num_product(a->x[p + m / extent[2]], b->x[q + m % extent[2]]));
    }
    for (int64_t i = 0; i < out->shape->count; i++) {
        out->x[i] = sum_end(&all[i], 1, &sums, &to);
        if (undecided)
            out->x[i].e = INFINITY;
    }
}
