/* The oracle's evaluation; see dense.h. */
#include "tests/codegen/dense.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Dense *dense_new(const Oracle *o, const Type *type)
{
    Dense *x = ARENA_NEW(o->arena, Dense);
    x->type = *type;
    x->count = 1;
    for (int i = 0; i < type->rank; i++) {
        x->dims[i] = dim_is_const(type->dims[i]) ? type->dims[i].size : o->symbols[type->dims[i].symbol].extent;
        x->count *= x->dims[i];
    }
    x->data = ARENA_ARRAY(o->arena, double, x->count + 1);
    return x;
}

bool dense_next(const Dense *x, int64_t index[MAX_RANK])
{
    for (int i = x->type.rank - 1; i >= 0; i--) {
        if (++index[i] < x->dims[i])
            return true;
        index[i] = 0;
    }
    return false;
}

int64_t dense_at(const Dense *x, const int64_t index[MAX_RANK])
{
    int64_t at = 0;
    for (int i = 0; i < x->type.rank; i++)
        at = at * x->dims[i] + index[i];
    return at;
}

static int dim_of_symbol(const Type *type, int symbol)
{
    for (int i = 0; i < type->rank; i++)
        if (type->dims[i].symbol == symbol)
            return i;
    return -1;
}

bool dense_exists(const Oracle *o, const Dense *x, const int64_t index[MAX_RANK])
{
    for (int i = 0; i < x->type.rank; i++) {
        int symbol = x->type.dims[i].symbol;
        if (!symbol_is_ragged(o->module, symbol))
            continue;
        int batch = dim_of_symbol(&x->type, o->module->symbols.data[symbol].batch);
        if (batch >= 0 && index[i] >= o->symbols[symbol].length[index[batch]])
            return false;
    }
    return true;
}

static int64_t total_of(const SymbolValue *symbol)
{
    int64_t total = 0;
    for (int b = 0; b < symbol->n; b++)
        total += symbol->length[b];
    return total;
}

static int64_t axis_length(const Oracle *o, const Axis *axis)
{
    if (dim_is_const(axis->extent))
        return axis->extent.size;
    const SymbolValue *symbol = &o->symbols[axis->extent.symbol];
    return axis->batch_dim >= 0 ? total_of(symbol) : symbol->extent;
}

int64_t dense_stored_count(const Oracle *o, const Type *type)
{
    Layout layout = layout_of(o->module, type);
    int64_t count = 1;
    for (int i = 0; i < layout.n; i++)
        count *= axis_length(o, &layout.axes[i]);
    return count;
}

int64_t dense_storage(const Oracle *o, const Dense *x, const int64_t index[MAX_RANK])
{
    Layout layout = layout_of(o->module, &x->type);
    int64_t at = 0;
    for (int i = 0; i < layout.n; i++) {
        const Axis *axis = &layout.axes[i];
        int64_t here = index[axis->dim];
        for (int64_t b = 0; axis->batch_dim >= 0 && b < index[axis->batch_dim]; b++)
            here += o->symbols[axis->extent.symbol].length[b];
        at = at * axis_length(o, axis) + here;
    }
    return at;
}

/* ---- ops ---- */

static double broadcast_get(const Dense *x, const Dense *to, const int64_t index[MAX_RANK])
{
    int64_t own[MAX_RANK];
    int shift = to->type.rank - x->type.rank;
    for (int i = 0; i < x->type.rank; i++)
        own[i] = x->dims[i] == 1 ? 0 : index[i + shift];
    return x->data[dense_at(x, own)];
}

static double apply(OpKind kind, const double *a)
{
    switch (kind) {
    case OP_add: return a[0] + a[1];
    case OP_sub: return a[0] - a[1];
    case OP_mul: return a[0] * a[1];
    case OP_max: return a[0] > a[1] ? a[0] : a[1];
    case OP_relu: return a[0] > 0 ? a[0] : 0;
    case OP_neg: return -a[0];
    case OP_exp: return exp(a[0]);
    case OP_stop: return a[0];
    default: fprintf(stderr, "the oracle does not know %s\n", op_info[kind].name); abort();
    }
}

static void run_elementwise(const Op *op, Dense *out)
{
    int64_t index[MAX_RANK] = {0}, i = 0;
    do {
        double args[3];
        for (int j = 0; j < op->n_args; j++)
            args[j] = broadcast_get(dense_of(op->args[j]), out, index);
        out->data[i++] = apply(op->kind, args);
    } while (dense_next(out, index));
}

static void run_reduce_sum(const Op *op, Dense *out)
{
    const Dense *x = dense_of(op->args[0]);
    int64_t index[MAX_RANK] = {0};
    do {
        int64_t to[MAX_RANK];
        for (int i = 0; i < x->type.rank; i++)
            to[i] = out->dims[i] == 1 ? 0 : index[i];
        out->data[dense_at(out, to)] += x->data[dense_at(x, index)];
    } while (dense_next(x, index));
}

static void run_moved(const Op *op, Dense *out)
{
    const Dense *x = dense_of(op->args[0]);
    int64_t index[MAX_RANK] = {0}, i = 0;
    const Attr *perm = op_attr(op, ATTR_perm);
    int axis = op_attr(op, ATTR_axis) ? (int)op_int(op, ATTR_axis) : 0;
    do {
        int64_t from[MAX_RANK];
        memcpy(from, index, sizeof from);
        bool inside = true;
        switch (op->kind) {
        case OP_transpose:
            for (int d = 0; d < perm->n; d++)
                from[perm->ints[d]] = index[d];
            break;
        case OP_slice: from[axis] += op_int(op, ATTR_start); break;
        case OP_flip: from[axis] = x->dims[axis] - 1 - index[axis]; break;
        default: /* pad */
            from[axis] -= op_int(op, ATTR_start);
            inside = from[axis] >= 0 && from[axis] < x->dims[axis];
        }
        out->data[i++] = inside ? x->data[dense_at(x, from)] : 0;
    } while (dense_next(out, index));
}

static void run_concat(const Op *op, Dense *out)
{
    int axis = (int)op_int(op, ATTR_axis);
    int64_t start = 0;
    for (int j = 0; j < op->n_args; j++) {
        const Dense *x = dense_of(op->args[j]);
        int64_t index[MAX_RANK] = {0};
        do {
            int64_t to[MAX_RANK];
            memcpy(to, index, sizeof to);
            to[axis] += start;
            if (x->count)
                out->data[dense_at(out, to)] = x->data[dense_at(x, index)];
        } while (dense_next(x, index));
        start += x->dims[axis];
    }
}

/* The cache with the new rows at the end of each sentence. */
static void run_append(const Oracle *o, const Op *op, Dense *out)
{
    const Dense *rows = dense_of(op->args[1]);
    const SymbolValue *all = &o->symbols[out->type.dims[1].symbol];
    const SymbolValue *added = &o->symbols[rows->type.dims[1].symbol];
    int64_t index[MAX_RANK] = {0};
    memcpy(out->data, dense_of(op->args[0])->data, (size_t)out->count * sizeof(double));
    do {
        int64_t to[MAX_RANK];
        memcpy(to, index, sizeof to);
        to[1] += all->length[index[0]] - added->length[index[0]];
        if (dense_exists(o, rows, index))
            out->data[dense_at(out, to)] = rows->data[dense_at(rows, index)];
    } while (dense_next(rows, index));
}

static bool in_list(const Attr *attr, int dim)
{
    for (int i = 0; i < attr->n; i++)
        if (attr->ints[i] == dim)
            return true;
    return false;
}

static void run_dot(const Op *op, Dense *out)
{
    const Dense *a = dense_of(op->args[0]), *b = dense_of(op->args[1]);
    const Attr *ba = op_attr(op, ATTR_batch_a), *bb = op_attr(op, ATTR_batch_b);
    const Attr *ca = op_attr(op, ATTR_contract_a), *cb = op_attr(op, ATTR_contract_b);
    int64_t x[MAX_RANK] = {0};
    do { /* every element of a … */
        int64_t y[MAX_RANK] = {0};
        do { /* … against every element of b whose shared indices agree */
            bool agree = true;
            for (int i = 0; i < ba->n; i++)
                agree &= x[ba->ints[i]] == y[bb->ints[i]];
            for (int i = 0; i < ca->n; i++)
                agree &= x[ca->ints[i]] == y[cb->ints[i]];
            if (!agree)
                continue;
            int64_t to[MAX_RANK];
            int n = 0;
            for (int i = 0; i < ba->n; i++)
                to[n++] = x[ba->ints[i]];
            for (int i = 0; i < a->type.rank; i++)
                if (!in_list(ba, i) && !in_list(ca, i))
                    to[n++] = x[i];
            for (int i = 0; i < b->type.rank; i++)
                if (!in_list(bb, i) && !in_list(cb, i))
                    to[n++] = y[i];
            out->data[dense_at(out, to)] += a->data[dense_at(a, x)] * b->data[dense_at(b, y)];
        } while (dense_next(b, y));
    } while (dense_next(a, x));
}

static bool has_elements(const Op *op)
{
    for (int i = 0; i < op->n_args; i++)
        if (dense_of(op->args[i])->count == 0 && op->kind != OP_concat)
            return false;
    return true;
}

static void compute(const Oracle *o, const Op *op, Dense *out)
{
    switch (op->kind) {
    case OP_const:
        for (int64_t i = 0; i < out->count; i++)
            out->data[i] = op_float(op, ATTR_value);
        break;
    case OP_reshape: memcpy(out->data, dense_of(op->args[0])->data, (size_t)out->count * sizeof(double)); break;
    case OP_broadcast: {
        int64_t index[MAX_RANK] = {0}, i = 0;
        do
            out->data[i++] = broadcast_get(dense_of(op->args[0]), out, index);
        while (dense_next(out, index));
        break;
    }
    case OP_transpose: case OP_slice: case OP_flip: case OP_pad: run_moved(op, out); break;
    case OP_concat: run_concat(op, out); break;
    case OP_append: run_append(o, op, out); break;
    case OP_dot: run_dot(op, out); break;
    case OP_reduce_sum: run_reduce_sum(op, out); break;
    default: run_elementwise(op, out);
    }
}

static void clear_past_ends(const Oracle *o, Dense *x)
{
    int64_t index[MAX_RANK] = {0}, i = 0;
    if (x->count)
        do {
            if (!dense_exists(o, x, index))
                x->data[i] = 0;
            i++;
        } while (dense_next(x, index));
}

void dense_run(const Oracle *o, const Block *block)
{
    FOR_OPS(op, block) {
        if (op->body) {
            dense_run(o, op->body);
            for (int r = 0; r < op->n_results; r++)
                dense_set(&op->results[r], dense_of(op->body->last->args[r]));
        } else if (op_family(op) != FAMILY_effect && op->kind != OP_input && op->kind != OP_param) {
            Dense *out = dense_new(o, &op->results[0].type);
            if (out->count && has_elements(op)) /* else zeros: the sum of nothing */
                compute(o, op, out);
            clear_past_ends(o, out);
            dense_set(op_result(op), out);
        }
    }
}
