/* Reductions, and the row operations that are made of them. A walk over the result has the
 * operand beside it; an inner walk goes along the reduced axes. */
#include "oracle/interpreter.h"

typedef struct Reduction {
    const Dense *x;
    OracleWalk outer, inner; /* tensor 0: the operand */
} Reduction;

static Reduction reduction_over(const Dense *x, int n_axes, const int *axes)
{
    bool reduced[MAX_RANK] = {0};
    Reduction r = {x, {.count = 1}, {.count = 1}};
    for (int i = 0; i < n_axes; i++)
        reduced[axes[i]] = true;
    for (int i = 0; i < x->shape->rank; i++)
        walk_add_axis(reduced[i] ? &r.inner : &r.outer, x->shape->extent[i], x->shape->stride[i],
                      0);
    return r;
}

static Reduction reduction_of(const Interpreter *in, const Op *op)
{
    const Attr *axes = op_attr(op, ATTR_axes);
    return reduction_over(operand(in, op, 0), axes->n, axes->ints);
}

static Reduction reduction_of_rows(const Interpreter *in, const Op *op)
{
    const Dense *x = operand(in, op, 0);
    int last = x->shape->rank - 1;
    return reduction_over(x, 1, &last);
}

/* Existing elements of the current slice: FOR_SLICE(i, r) … r->x->x[i] */
#define FOR_SLICE(i, r)                                                                         \
    for (OracleWalk w_ = (r)->inner; w_.count > 0; w_.count--, walk_next(&w_))                  \
        for (int64_t i = (r)->outer.at[0] + w_.at[0], once_ = 1; once_ && dense_has((r)->x, i); \
             once_ = 0)

void interpret_reduce_sum(Interpreter *in, const Op *op, Dense *out)
{
    Reduction r = reduction_of(in, op);
    Rounding to = rounding_for(in, op), sums = rounding_of_sums(to.dtype);
    for (int64_t n = 0; n < r.outer.count; n++, walk_next(&r.outer)) {
        OracleSum sum = {0};
        FOR_SLICE (i, &r)
            sum_add(&sum, r.x->x[i]);
        out->x[n] = sum_end(&sum, 0, &sums, &to);
    }
}

/* The greatest of a slice: as far off as any that may be it; NaN if one of them is. *sole: only one
 * may be it. */
static Num greatest(const Reduction *r, double of_nothing, bool *sole)
{
    Num top = num_exact(of_nothing);
    double least = -INFINITY; /* it is at least this */
    bool any = false, nan = false, sure = false;
    FOR_SLICE (i, r) {
        Num x = r->x->x[i];
        nan |= isnan(x.v);
        sure |= num_is_nan(x);
        if (!any || x.v > top.v)
            top.v = x.v;
        least = fmax(least, x.v - x.e);
        any = true;
    }
    int candidates = 0;
    FOR_SLICE (i, r) {
        Num x = r->x->x[i];
        if (!(x.v + x.e < least)) {
            top.e = fmax(top.e, x.e);
            candidates++;
        }
    }
    *sole = candidates == 1 && !nan;
    return sure ? num_nan() : nan ? num_undecided(NAN) : top;
}

void interpret_reduce_max(Interpreter *in, const Op *op, Dense *out)
{
    Reduction r = reduction_of(in, op);
    Rounding to = rounding_for(in, op);
    bool *sole = ARENA_ARRAY(in->arena, bool, out->shape->count + 1);
    for (int64_t n = 0; n < r.outer.count; n++, walk_next(&r.outer)) {
        Num top = greatest(&r, out->dtype == DT_I32 ? INT32_MIN : -INFINITY, &sole[n]);
        out->x[n] = num_is_nan(top) ? top : num_moved(&to, top.v, top.e);
    }
    out->top_of = r.x;
    out->sole = sole;
}

/* ---- rows ---- */

enum { EXP_ROUNDINGS = 5 }; /* of a function of at most 2 ulp, and of its argument's */

/* The exponential of x - top. Every element of a row has the same error of top in it, which
 * cancels. */
static Num exponential(const Rounding *r, Num x, double top)
{
    double z = x.v - top, v = exp(z);
    return v == 0 && x.e == 0
               ? num_exact(0)
               : num_rounded(r, v, v * expm1(x.e + r->unit * fabs(z)), EXP_ROUNDINGS);
}

/* The sum of the exponentials of a row and its greatest element; false: a row that is empty or
 * all -inf. */
static bool row_sum(const Reduction *r, const Rounding *to, double *top, Num *sum)
{
    bool sole;
    OracleSum s = {0};
    Rounding sums = rounding_of_sums(to->dtype);
    Num m = greatest(r, -INFINITY, &sole);
    *top = m.v;
    *sum = num_exact(0);
    if (m.v == -INFINITY)
        return false;
    if (num_is_nan(m)) {
        *sum = m;
        return true;
    }
    FOR_SLICE (i, r)
        sum_add(&s, exponential(to, r->x->x[i], m.v));
    *sum = m.e < INFINITY && isfinite(m.v) ? sum_end(&s, 1, &sums, to) : num_undecided(s.v);
    return true;
}

/* Of what an op divides by a positive sum. */
static Num quotient(const Rounding *r, Num x, Num sum)
{
    double least = sum.v - sum.e, v = x.v / sum.v;
    if (num_is_nan(sum))
        return sum;
    return least > 0 ? num_rounded(r, v, (x.e + fabs(v) * sum.e) / least, 2) : num_undecided(v);
}

void interpret_softmax(Interpreter *in, const Op *op, Dense *out)
{
    Reduction r = reduction_of_rows(in, op);
    Rounding to = rounding_for(in, op);
    for (int64_t n = 0; n < r.outer.count; n++, walk_next(&r.outer)) {
        double top;
        Num sum;
        if (row_sum(&r, &to, &top, &sum))
            FOR_SLICE (i, &r)
                out->x[i] = quotient(&to, exponential(&to, r.x->x[i], top), sum);
    }
}

void interpret_logsumexp(Interpreter *in, const Op *op, Dense *out)
{
    Reduction r = reduction_of_rows(in, op);
    Rounding to = rounding_for(in, op);
    for (int64_t n = 0; n < r.outer.count; n++, walk_next(&r.outer)) {
        double top;
        Num sum;
        if (!row_sum(&r, &to, &top, &sum)) {
            out->x[n] = num_exact(-INFINITY);
            continue;
        }
        if (num_is_nan(sum)) {
            out->x[n] = sum;
            continue;
        }
        double least = sum.v - sum.e, size = fabs(log(sum.v)) * EXP_ROUNDINGS * to.unit;
        double v = log(sum.v) + top;
        out->x[n] = least > 0 ? num_rounded(&to, v, sum.e / least + size, 1) : num_undecided(v);
    }
}
