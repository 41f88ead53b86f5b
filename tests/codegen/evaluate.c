/* The evaluation of ops in double that kernels are compared with. It shares nothing
 * with the emitters: it goes over logical elements one by one. */
#include "tests/codegen/kernels.h"

#include "base/bf16.h"
#include "runtime/exec/exec.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static double rounded(DType dtype, double x)
{
    return dtype == DT_BF16 ? bf16_to_float(bf16_from_float((float)x)) : x;
}

static double read_aligned(const Dense *x, const Dense *to, const int64_t *index)
{
    int64_t own[MAX_RANK];
    int shift = to->type.rank - x->type.rank;
    for (int i = 0; i < x->type.rank; i++)
        own[i] = x->dims[i] == 1 ? 0 : index[i + shift];
    return x->data[dense_at(x, own)];
}

static double whole_quotient(double a, double b)
{
    return b == 0 ? 0 : trunc(a / b);
}

static double apply(const Op *op, const double *a)
{
    bool real = dtype_is_float(op->args[0]->type.dtype);
    switch (op->kind) {
    case OP_neg: return -a[0];
    case OP_abs: return fabs(a[0]);
    case OP_exp: return exp(a[0]);
    case OP_log: return log(a[0]);
    case OP_sqrt: return sqrt(a[0]);
    case OP_rsqrt: return 1 / sqrt(a[0]);
    case OP_tanh: return tanh(a[0]);
    case OP_erf: return erf(a[0]);
    case OP_sigmoid: return 1 / (1 + exp(-a[0]));
    case OP_sin: return sin(a[0]);
    case OP_cos: return cos(a[0]);
    case OP_floor: return floor(a[0]);
    case OP_relu: return a[0] > 0 ? a[0] : 0;
    case OP_cast:
        return op->results[0].type.dtype == DT_BOOL ? a[0] != 0
               : op->results[0].type.dtype == DT_I32 ? trunc(a[0]) : a[0];
    case OP_stop: return a[0];
    case OP_not: return !a[0];
    case OP_add: return a[0] + a[1];
    case OP_sub: return a[0] - a[1];
    case OP_mul: return a[0] * a[1];
    case OP_div: return real ? a[0] / a[1] : whole_quotient(a[0], a[1]);
    case OP_pow: return pow(a[0], a[1]);
    case OP_max: return fmax(a[0], a[1]);
    case OP_min: return fmin(a[0], a[1]);
    case OP_lt: return a[0] < a[1];
    case OP_le: return a[0] <= a[1];
    case OP_eq: return a[0] == a[1];
    case OP_and: return a[0] && a[1];
    case OP_or: return a[0] || a[1];
    case OP_select: return a[0] ? a[1] : a[2];
    default: fail_msg("no evaluation of %s", op_info[op->kind].name); return 0;
    }
}

/* The word of the element by the rule stated in codegen/emit/random.c. */
static uint32_t word_of(const Case *c, const Op *op, int64_t element)
{
    uint64_t group = (uint64_t)element / 4;
    uint32_t counter[4] = {(uint32_t)group, (uint32_t)(group >> 32) ^ c->rng[3] << 16,
                           (uint32_t)op_int(op, ATTR_site), c->rng[2]}, out[4];
    philox4x32(counter, c->rng, out);
    return out[element % 4];
}

static double gathered(const Op *op, const int64_t *index)
{
    const Dense *table = dense_of(op->args[0]), *rows = dense_of(op->args[1]);
    int64_t at[MAX_RANK] = {(int64_t)rows->data[dense_at(rows, index)]};
    for (int i = 1; i < table->type.rank; i++)
        at[i] = index[rows->type.rank + i - 1];
    return at[0] < 0 || at[0] >= table->dims[0] ? 0 : table->data[dense_at(table, at)];
}

static double moved(const Op *op, const int64_t *index)
{
    const Dense *x = dense_of(op->args[0]);
    int64_t from[MAX_RANK];
    int axis = op_attr(op, ATTR_axis) ? (int)op_int(op, ATTR_axis) : 0;
    memcpy(from, index, sizeof from);
    if (op->kind == OP_transpose)
        for (int d = 0; d < x->type.rank; d++)
            from[op_attr(op, ATTR_perm)->ints[d]] = index[d];
    else if (op->kind == OP_slice)
        from[axis] += op_int(op, ATTR_start);
    else if (op->kind == OP_flip)
        from[axis] = x->dims[axis] - 1 - index[axis];
    else
        from[axis] -= op_int(op, ATTR_start);
    bool inside = from[axis] >= 0 && from[axis] < x->dims[axis];
    return inside ? x->data[dense_at(x, from)] : 0;
}

static double joined(const Op *op, const int64_t *index)
{
    int axis = (int)op_int(op, ATTR_axis);
    int64_t at[MAX_RANK];
    memcpy(at, index, sizeof at);
    for (int i = 0;; i++) {
        const Dense *x = dense_of(op->args[i]);
        if (at[axis] < x->dims[axis])
            return x->data[dense_at(x, at)];
        at[axis] -= x->dims[axis];
    }
}

static bool lists(const Attr *attr, int axis)
{
    for (int i = 0; i < attr->n; i++)
        if (attr->ints[i] == axis)
            return true;
    return false;
}

/* One element of a product: batch axes, the free ones of a, those of b. */
static double contracted(Case *c, const Op *op, const int64_t *index)
{
    Oracle o = case_oracle(c);
    const Dense *a = dense_of(op->args[0]), *b = dense_of(op->args[1]);
    const Attr *ba = op_attr(op, ATTR_batch_a), *bb = op_attr(op, ATTR_batch_b);
    const Attr *ca = op_attr(op, ATTR_contract_a), *cb = op_attr(op, ATTR_contract_b);
    int64_t x[MAX_RANK] = {0}, y[MAX_RANK] = {0}, terms = 1;
    int n = 0;
    for (int i = 0; i < ba->n; i++, n++)
        x[ba->ints[i]] = y[bb->ints[i]] = index[n];
    for (int i = 0; i < a->type.rank; i++)
        if (!lists(ba, i) && !lists(ca, i))
            x[i] = index[n++];
    for (int i = 0; i < b->type.rank; i++)
        if (!lists(bb, i) && !lists(cb, i))
            y[i] = index[n++];
    for (int i = 0; i < ca->n; i++)
        terms *= a->dims[ca->ints[i]];
    double sum = 0;
    for (int64_t t = 0; t < terms; t++) {
        int64_t rest = t;
        for (int i = ca->n - 1; i >= 0; i--) {
            x[ca->ints[i]] = y[cb->ints[i]] = rest % a->dims[ca->ints[i]];
            rest /= a->dims[ca->ints[i]];
        }
        if (dense_exists(&o, a, x) && dense_exists(&o, b, y))
            sum += a->data[dense_at(a, x)] * b->data[dense_at(b, y)];
    }
    return sum;
}

/* Where a leaf with ones around its dimension stands along that dimension. */
static int64_t along(const Dense *leaf, const int64_t *index)
{
    int64_t sum = 0; /* the others are 0 */
    for (int i = 0; i < leaf->type.rank; i++)
        sum += index[i];
    return sum;
}

static double element_of(Case *c, const Op *op, const Dense *out, const int64_t *index,
                         int64_t flat)
{
    Oracle o = case_oracle(c);
    double args[4];
    switch (op->kind) {
    case OP_const: return op_float(op, ATTR_value);
    case OP_iota: return (double)along(out, index);
    case OP_size: return case_total(c, (int)op_int(op, ATTR_dim));
    case OP_lengths: return c->symbols[op_int(op, ATTR_dim)].length[along(out, index)];
    case OP_random: {
        uint32_t word = word_of(c, op, dense_storage(&o, out, index));
        return out->type.dtype == DT_BF16 ? (word >> 24) * 0x1p-8 : (word >> 8) * 0x1p-24;
    }
    case OP_dropout: {
        double rate = op_float(op, ATTR_rate), x = read_aligned(dense_of(op->args[0]), out, index);
        return word_of(c, op, dense_storage(&o, out, index)) >= rate * 0x1p32 ? x / (1 - rate) : 0;
    }
    case OP_gather: return gathered(op, index);
    case OP_dot: return contracted(c, op, index);
    case OP_transpose: case OP_slice: case OP_flip: case OP_pad: return moved(op, index);
    case OP_concat: return joined(op, index);
    case OP_reshape: return dense_of(op->args[0])->data[flat];
    case OP_broadcast: return read_aligned(dense_of(op->args[0]), out, index);
    default:
        for (int i = 0; i < op->n_args; i++)
            args[i] = read_aligned(dense_of(op->args[i]), out, index);
        return apply(op, args);
    }
}

static void reduce(Case *c, const Op *op, Dense *out)
{
    Oracle o = case_oracle(c);
    const Dense *x = dense_of(op->args[0]);
    const Attr *axes = op_attr(op, ATTR_axes);
    bool sum = op->kind == OP_reduce_sum;
    int64_t index[MAX_RANK] = {0};
    for (int64_t i = 0; i < out->count; i++)
        out->data[i] = sum ? 0 : out->type.dtype == DT_I32 ? INT32_MIN : -INFINITY;
    if (x->count)
        do {
            int64_t to[MAX_RANK];
            memcpy(to, index, sizeof to);
            for (int i = 0; i < axes->n; i++)
                to[axes->ints[i]] = 0;
            double *slot = &out->data[dense_at(out, to)], value = x->data[dense_at(x, index)];
            if (dense_exists(&o, x, index))
                *slot = sum ? *slot + value : value > *slot ? value : *slot;
        } while (dense_next(x, index));
}

static void scatter(Case *c, const Op *op, Dense *out)
{
    Oracle o = case_oracle(c);
    const Dense *x = dense_of(op->args[0]), *rows = dense_of(op->args[1]);
    int64_t index[MAX_RANK] = {0};
    if (x->count)
        do {
            int64_t to[MAX_RANK] = {(int64_t)rows->data[dense_at(rows, index)]};
            for (int i = 1; i < out->type.rank; i++)
                to[i] = index[rows->type.rank + i - 1];
            if (dense_exists(&o, x, index) && to[0] >= 0 && to[0] < out->dims[0]) {
                double *sum = &out->data[dense_at(out, to)];
                *sum = rounded(out->type.dtype, *sum + x->data[dense_at(x, index)]);
            }
        } while (dense_next(x, index));
}

static void append(Case *c, const Op *op, Dense *out)
{
    Oracle o = case_oracle(c);
    const Dense *cache = dense_of(op->args[0]), *row = dense_of(op->args[1]);
    memcpy(out->data, cache->data, (size_t)out->count * sizeof(double));
    int64_t index[MAX_RANK] = {0};
    do {
        int64_t to[MAX_RANK];
        memcpy(to, index, sizeof to);
        if (!dense_exists(&o, row, index))
            continue;
        to[1] += c->symbols[c->P].length[index[0]] - c->symbols[c->Q].length[index[0]];
        out->data[dense_at(out, to)] = row->data[dense_at(row, index)];
    } while (dense_next(row, index));
}

/* Log of the sum over all ways to read the labels, by trying every path. */
static double paths(const double *p, int64_t frames, int64_t classes, const double *labels,
                    int64_t n, int64_t t, int64_t done, int64_t last)
{
    if (t == frames)
        return done == n ? 1 : 0;
    double sum = 0;
    for (int64_t k = 0; k < classes; k++) {
        bool next = done < n && k == (int64_t)labels[done] && k != last;
        bool same = k == last && k != 0;
        if (k == 0 || next || same)
            sum += exp(p[t * classes + k]) *
                   paths(p, frames, classes, labels, n, t + 1, done + next, k);
    }
    return sum;
}

static double ctc_value(const Case *c, const Op *op, int64_t b)
{
    const Dense *p = dense_of(op->args[0]), *l = dense_of(op->args[1]);
    int64_t frames = c->symbols[p->type.dims[1].symbol].length[b];
    int64_t n = c->symbols[l->type.dims[1].symbol].length[b];
    return -log(paths(p->data + b * p->dims[1] * p->dims[2], frames, p->dims[2],
                      l->data + b * l->dims[1], n, 0, 0, -1));
}

static void ctc(Case *c, const Op *op, Dense *out)
{
    for (int64_t b = 0; b < out->count; b++)
        out->data[b] = ctc_value(c, op, b);
}

static void ctc_gradient(Case *c, const Op *op, Dense *out)
{
    Dense *p = dense_of(op->args[0]);
    int64_t index[MAX_RANK] = {0};
    const double h = 1e-5;
    do {
        double *x = &p->data[dense_at(p, index)], kept = *x;
        *x = kept + h;
        double up = ctc_value(c, op, index[0]);
        *x = kept - h;
        double down = ctc_value(c, op, index[0]);
        *x = kept;
        double slope = isfinite(up) ? (up - down) / (2 * h) : 0;
        out->data[dense_at(out, index)] = slope * dense_of(op->args[2])->data[index[0]];
    } while (dense_next(out, index));
}

static void evaluate(Case *c, const Op *op, Dense *out)
{
    Oracle o = case_oracle(c);
    switch (op->kind) {
    case OP_reduce_sum: case OP_reduce_max: reduce(c, op, out); return;
    case OP_scatter_add: scatter(c, op, out); return;
    case OP_append: append(c, op, out); return;
    case OP_ctc: ctc(c, op, out); return;
    case OP_ctc_grad: ctc_gradient(c, op, out); return;
    default: break;
    }
    int64_t index[MAX_RANK] = {0}, i = 0;
    if (out->count)
        do {
            if (dense_exists(&o, out, index))
                out->data[i] = element_of(c, op, out, index, i);
            i++;
        } while (dense_next(out, index));
}

void case_evaluate(Case *c, Op *op)
{
    Oracle o = case_oracle(c);
    if (op->body) {
        FOR_OPS(inner, op->body)
            if (inner->kind != OP_yield)
                case_evaluate(c, inner);
        for (int i = 0; i < op->n_results; i++)
            dense_set(&op->results[i], dense_of(op->body->last->args[i]));
        return;
    }
    Dense *out = dense_new(&o, &op->results[0].type);
    dense_set(op_result(op), out);
    evaluate(c, op, out);
    for (int64_t i = 0; i < out->count; i++)
        out->data[i] = rounded(out->type.dtype, out->data[i]);
}
