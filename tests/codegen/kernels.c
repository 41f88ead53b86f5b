/* Running kernels in tests; see kernels.h. The evaluation in double shares nothing
 * with the emitters: it goes over logical elements one by one. */
#define _POSIX_C_SOURCE 200809L
#include "tests/codegen/kernels.h"

#include "runtime/exec/exec.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- cases ---- */

void case_lengths(Case *c, int symbol, int n, const int32_t *lengths)
{
    SymbolValue *s = &c->symbols[symbol], *batch = &c->symbols[c->module->symbols.data[symbol].batch];
    *s = (SymbolValue){.n = n};
    for (int i = 0; i < n; i++) {
        s->length[i] = lengths[i];
        s->extent = lengths[i] > s->extent ? lengths[i] : s->extent;
    }
    *batch = (SymbolValue){.extent = n};
}

void case_open(Case *c, DType real)
{
    *c = (Case){.arena = arena_new(), .real = real, .seed = 1, .rng = {17, 4, 9, 1}};
    diag_init(&c->diags, c->arena);
    c->module = module_new(c->arena, &c->diags, "case");
    c->B = module_add_symbol(c->module, "B", NO_SYMBOL);
    c->S = module_add_symbol(c->module, "S", c->B);
    c->T = module_add_symbol(c->module, "T", c->B);
    c->N = module_add_symbol(c->module, "N", NO_SYMBOL);
    c->R = module_add_symbol(c->module, "R", NO_SYMBOL);
    c->P = module_add_symbol(c->module, "P", c->R);
    c->Q = module_add_symbol(c->module, "Q", c->R);
    case_lengths(c, c->S, 4, (int32_t[]){3, 0, 5, 2});
    case_lengths(c, c->T, 4, (int32_t[]){4, 19, 0, 7});
    case_lengths(c, c->P, 3, (int32_t[]){2, 1, 6});
    case_lengths(c, c->Q, 3, (int32_t[]){2, 0, 3});
    c->symbols[c->N] = (SymbolValue){.extent = 6};
    c->function = module_add_function(c->module, "f");
    c->b = builder_at_end(c->function);
}

void case_close(Case *c)
{
    arena_free(c->arena);
}

Dim case_dim(int symbol)
{
    return dim_symbol(symbol);
}

static double next_unit(Case *c)
{
    c->seed = c->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(c->seed >> 40) * 0x1p-24;
}

static Oracle oracle_of(const Case *c)
{
    return (Oracle){c->module, c->arena, c->symbols};
}

static Value *new_input(Case *c, DType dtype, int rank, const Dim *dims, int limit)
{
    static int number;
    Type type = type_of(dtype, rank, dims);
    char name[16];
    snprintf(name, sizeof name, "x%d", number++);
    Value *value = build_input(&c->b, arena_strdup(c->arena, name), type);
    Oracle o = oracle_of(c);
    Dense *x = dense_new(&o, &type);
    for (int64_t i = 0; i < x->count; i++) {
        double u = next_unit(c);
        x->data[i] = dtype == DT_I32 ? floor(u * limit) : dtype == DT_BOOL ? u < 0.5 : (float)(4 * u - 2);
    }
    dense_set(value, x);
    return value;
}

Value *case_input(Case *c, DType dtype, int rank, const Dim *dims)
{
    return new_input(c, dtype, rank, dims, 10);
}

Value *case_index(Case *c, int rank, const Dim *dims, int limit)
{
    return new_input(c, DT_I32, rank, dims, limit);
}

static void add_operand(Value **args, int *n, Value *value)
{
    for (int i = 0; i < *n; i++)
        if (args[i] == value)
            return;
    args[(*n)++] = value;
}

Op *case_region(Case *c, OpKind kind, int n, Value *const *results)
{
    Block *body = ARENA_NEW(c->arena, Block);
    Value *args[MAX_CASE_VALUES];
    int n_args = 0;
    assert_int_equal(c->diags.errors, 0);
    FOR_OPS(op, &c->function->body) {
        if (op->kind == OP_input || op->body)
            continue;
        for (int i = 0; i < op->n_args; i++)
            if (op->args[i]->op->kind == OP_input)
                add_operand(args, &n_args, op->args[i]);
        block_remove(&c->function->body, op);
        block_append(body, op);
    }
    for (int i = 0; i < n; i++)
        if (results[i]->op->kind == OP_input)
            add_operand(args, &n_args, results[i]);
    block_append(body, op_new(c->function, OP_yield, n, results, 0));
    Op *region = op_new(c->function, kind, n_args, args, n);
    region->body = body;
    for (int i = 0; i < n; i++)
        region->results[i].type = results[i]->type;
    block_append(&c->function->body, region);
    return region;
}

/* ---- evaluation ---- */

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

static double total_of(const Case *c, int symbol)
{
    double total = 0;
    for (int b = 0; b < c->symbols[symbol].n; b++)
        total += c->symbols[symbol].length[b];
    return c->symbols[symbol].n ? total : (double)c->symbols[symbol].extent;
}

static double element_of(Case *c, const Op *op, const Dense *out, const int64_t *index, int64_t flat)
{
    Oracle o = oracle_of(c);
    double args[4];
    switch (op->kind) {
    case OP_const: return op_float(op, ATTR_value);
    case OP_iota: return (double)index[0];
    case OP_size: return total_of(c, (int)op_int(op, ATTR_dim));
    case OP_lengths: return c->symbols[op_int(op, ATTR_dim)].length[index[0]];
    case OP_random: return (word_of(c, op, dense_storage(&o, out, index)) >> 8) * 0x1p-24;
    case OP_dropout: {
        double rate = op_float(op, ATTR_rate), x = read_aligned(dense_of(op->args[0]), out, index);
        return word_of(c, op, dense_storage(&o, out, index)) >= rate * 0x1p32 ? x / (1 - rate) : 0;
    }
    case OP_gather: return gathered(op, index);
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
    Oracle o = oracle_of(c);
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
    Oracle o = oracle_of(c);
    const Dense *x = dense_of(op->args[0]), *rows = dense_of(op->args[1]);
    int64_t index[MAX_RANK] = {0};
    if (x->count)
        do {
            int64_t to[MAX_RANK] = {(int64_t)rows->data[dense_at(rows, index)]};
            for (int i = 1; i < out->type.rank; i++)
                to[i] = index[rows->type.rank + i - 1];
            if (dense_exists(&o, x, index) && to[0] >= 0 && to[0] < out->dims[0])
                out->data[dense_at(out, to)] += x->data[dense_at(x, index)];
        } while (dense_next(x, index));
}

static void append(Case *c, const Op *op, Dense *out)
{
    Oracle o = oracle_of(c);
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
static double paths(const double *p, int64_t frames, int64_t classes, const double *labels, int64_t n,
                    int64_t t, int64_t done, int64_t last)
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

static void evaluate(Case *c, Op *op)
{
    Oracle o = oracle_of(c);
    if (op->body) {
        FOR_OPS(inner, op->body)
            if (inner->kind != OP_yield)
                evaluate(c, inner);
        for (int i = 0; i < op->n_results; i++)
            dense_set(&op->results[i], dense_of(op->body->last->args[i]));
        return;
    }
    Dense *out = dense_new(&o, &op->results[0].type);
    dense_set(op_result(op), out);
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

/* ---- memory ---- */

/* A buffer with its strides: packed, or with gaps. */
typedef struct Memory {
    int64_t strides[TFC_MAX_AXES];
    int64_t extents[TFC_MAX_AXES];
    Layout layout;
    char *data;
    int64_t bytes;
} Memory;

static Memory memory_new(const Case *c, const Type *type, bool strided)
{
    Memory m = {.layout = layout_of(c->module, type)};
    int64_t stride = strided ? c->column_stride : 1;
    for (int i = m.layout.n - 1; i >= 0; i--) {
        const Axis *axis = &m.layout.axes[i];
        m.extents[i] = dim_is_const(axis->extent) ? axis->extent.size
                       : axis->batch_dim >= 0 ? (int64_t)total_of(c, axis->extent.symbol)
                                              : c->symbols[axis->extent.symbol].extent;
        m.strides[i] = stride;
        stride = stride * m.extents[i] + (c->form != FORM_PACKED && i ? c->gap : 0);
    }
    m.bytes = (stride + 64) * (int64_t)dtype_bytes(type->dtype);
    m.data = aligned_alloc(64, ((size_t)m.bytes + 127) / 64 * 64);
    memset(m.data, 0xff, (size_t)m.bytes);
    return m;
}

static int64_t memory_at(const Case *c, const Memory *m, const int64_t *index)
{
    int64_t at = 0;
    for (int i = 0; i < m->layout.n; i++) {
        const Axis *axis = &m->layout.axes[i];
        int64_t here = index[axis->dim];
        for (int64_t b = 0; axis->batch_dim >= 0 && b < index[axis->batch_dim]; b++)
            here += c->symbols[axis->extent.symbol].length[b];
        at += here * m->strides[i];
    }
    return at;
}

static double memory_get(const Memory *m, DType dtype, int64_t at)
{
    switch (dtype) {
    case DT_F32: return ((float *)m->data)[at];
    case DT_F64: return ((double *)m->data)[at];
    case DT_I32: return ((int32_t *)m->data)[at];
    default: return ((uint8_t *)m->data)[at];
    }
}

static void memory_set(const Memory *m, DType dtype, int64_t at, double x)
{
    switch (dtype) {
    case DT_F32: ((float *)m->data)[at] = (float)x; break;
    case DT_F64: ((double *)m->data)[at] = x; break;
    case DT_I32: ((int32_t *)m->data)[at] = (int32_t)x; break;
    default: ((uint8_t *)m->data)[at] = x != 0; break;
    }
}

static void memory_fill(const Case *c, const Memory *m, const Dense *x)
{
    Oracle o = oracle_of(c);
    int64_t index[MAX_RANK] = {0};
    if (x->count)
        do
            if (dense_exists(&o, x, index))
                memory_set(m, x->type.dtype, memory_at(c, m, index), x->data[dense_at(x, index)]);
        while (dense_next(x, index));
}

/* ---- running ---- */

static TfcDim dim_tables(Case *c, int symbol)
{
    SymbolValue *s = &c->symbols[symbol];
    TfcDim dim = {.extent = s->extent, .total = s->extent};
    if (!symbol_is_ragged(c->module, symbol))
        return dim;
    dim.total = (int64_t)total_of(c, symbol);
    int32_t *offset = ARENA_ARRAY(c->arena, int32_t, s->n), *batch = ARENA_ARRAY(c->arena, int32_t, dim.total + 1);
    int32_t *position = ARENA_ARRAY(c->arena, int32_t, dim.total + 1), token = 0;
    for (int b = 0; b < s->n; b++) {
        offset[b] = token;
        for (int i = 0; i < s->length[b]; i++, token++) {
            batch[token] = b;
            position[token] = i;
        }
    }
    dim.offset = offset, dim.length = s->length, dim.batch = batch, dim.position = position;
    return dim;
}

static int64_t units_of(const Case *c, const Signature *s)
{
    TfcSize size = signature_units(c->module, s);
    int64_t units = size.coefficient;
    for (int i = 0; i < size.n_factors; i++) {
        int symbol = s->dims[size.factors[i].dim];
        units *= size.factors[i].quantity == TFC_TOTAL ? (int64_t)total_of(c, symbol) : c->symbols[symbol].extent;
    }
    return units;
}

static void call_in_pieces(TfcKernel kernel, const TfcKernelArgs *args, int64_t units, int cuts)
{
    int64_t done = 0;
    for (int i = 1; i <= cuts; i++) {
        int64_t end = units * i / cuts;
        if (end > done || i == cuts)
            kernel(args, done, end);
        done = end;
    }
}

typedef struct Run {
    Signature signature;
    Memory memory[MAX_CASE_VALUES];
    int n;
} Run;

static void run_op(Case *c, Op *op, Jit *jit, int cuts, Run *run)
{
    BufferForm forms[MAX_CASE_VALUES];
    run->n = op->n_args + op->n_results;
    for (int i = 0; i < run->n; i++)
        forms[i] = c->form;
    run->signature = signature_of(c->module, op, forms);
    Signature *s = &run->signature;
    int kernel = jit_add(jit, c->module, op, s, &c->diags);
    if (kernel < 0 || !jit_finish(jit, &c->diags)) {
        Text text = {0};
        diag_render(&c->diags, &text);
        fail_msg("%s", text.data);
    }
    void *buffers[MAX_CASE_VALUES];
    int64_t strides[MAX_CASE_VALUES * TFC_MAX_AXES] = {0};
    for (int i = 0; i < run->n; i++) {
        Value *v = i < op->n_args ? op->args[i] : &op->results[i - op->n_args];
        run->memory[i] = memory_new(c, &v->type, c->form == FORM_STRIDED);
        if (i < op->n_args)
            memory_fill(c, &run->memory[i], dense_of(v));
        memcpy(&strides[i * TFC_MAX_AXES], run->memory[i].strides, sizeof run->memory[i].strides);
        buffers[i] = run->memory[i].data;
    }
    if (op->kind == OP_append) /* in place */
        buffers[2] = memcpy(run->memory[2].data, run->memory[0].data, (size_t)run->memory[0].bytes);
    TfcDim dims[MAX_KERNEL_DIMS];
    const TfcDim *dim_pointers[MAX_KERNEL_DIMS];
    for (int i = 0; i < s->n_dims; i++) {
        dims[i] = dim_tables(c, s->dims[i]);
        dim_pointers[i] = &dims[i];
    }
    TfcKernelArgs args = {buffers, strides, dim_pointers, s->sites, c->rng};
    call_in_pieces(jit_address(jit, kernel), &args, units_of(c, s), cuts);
}

static void run_free(Run *run)
{
    for (int i = 0; i < run->n; i++)
        free(run->memory[i].data);
}

void case_run(Case *c, Op *op, const TargetOptions *options, int cuts, void **results)
{
    Jit *jit = jit_new(options, &c->diags);
    assert_non_null(jit);
    Run run;
    run_op(c, op, jit, cuts, &run);
    for (int i = 0; i < op->n_results; i++)
        results[i] = arena_copy(c->arena, run.memory[op->n_args + i].data,
                                (size_t)run.memory[op->n_args + i].bytes);
    run_free(&run);
    jit_free(jit);
}

static bool close_to(double got, double want, double tolerance)
{
    if (isnan(want) || isnan(got) || isinf(want) || isinf(got))
        return (isnan(want) && isnan(got)) || want == got;
    return fabs(got - want) <= tolerance * (1 + fabs(want));
}

static void compare(Case *c, Op *op, const Run *run, double tolerance, const char *how)
{
    Oracle o = oracle_of(c);
    for (int r = 0; r < op->n_results; r++) {
        const Dense *want = dense_of(&op->results[r]);
        const Memory *m = &run->memory[op->n_args + r];
        int64_t index[MAX_RANK] = {0};
        if (want->count)
            do {
                if (!dense_exists(&o, want, index))
                    continue;
                double got = memory_get(m, want->type.dtype, memory_at(c, m, index));
                double expected = want->data[dense_at(want, index)];
                if (!close_to(got, expected, tolerance))
                    fail_msg("%s: result %d at [%d, %d, %d, %d]: %.9g instead of %.9g", how, r,
                             (int)index[0], (int)index[1], (int)index[2], (int)index[3], got, expected);
            } while (dense_next(want, index));
    }
}

void case_check(Case *c, Op *op, double tolerance)
{
    static const TargetOptions targets[] = {
        {"x86-64-v4", false, 2}, {"x86-64-v3", false, 2}, {"x86-64", false, 2}, {NULL, true, 0}, {NULL, false, 0},
    };
    size_t n = c->reference_too ? sizeof targets / sizeof targets[0] : 3;
    evaluate(c, op);
    for (size_t t = 0; t < n; t++) {
        Diagnostics ignored;
        diag_init(&ignored, c->arena);
        Jit *jit = jit_new(&targets[t], &ignored);
        if (!jit)
            continue; /* this machine has no such vectors */
        for (int cuts = 1; cuts <= 3; cuts += 2) {
            Run run;
            char how[64];
            snprintf(how, sizeof how, "%s%s in %d pieces", targets[t].cpu ? targets[t].cpu : "host",
                     targets[t].scalar ? " scalar" : "", cuts);
            run_op(c, op, jit, cuts, &run);
            compare(c, op, &run, tolerance, how);
            run_free(&run);
        }
        jit_free(jit);
    }
}
