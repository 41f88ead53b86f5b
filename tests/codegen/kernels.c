/* Cases, their memory and their runs; see kernels.h. */
#define _POSIX_C_SOURCE 200809L
#include "tests/codegen/kernels.h"

#include "base/bf16.h"
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
    SymbolValue *s = &c->symbols[symbol],
                *batch = &c->symbols[c->module->symbols.data[symbol].batch];
    *s = (SymbolValue){.n = n};
    for (int i = 0; i < n; i++) {
        s->length[i] = lengths[i];
        s->extent = lengths[i] > s->extent ? lengths[i] : s->extent;
    }
    *batch = (SymbolValue){.extent = n};
}

void case_open(Case *c, DType real)
{
    Arena *arena = arena_new();
    *c = (Case){
        .arena = arena, .elements = side_new(arena), .real = real, .seed = 1, .rng = {17, 4, 9, 1}};
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

void case_close(Case *c) { arena_free(c->arena); }

Dim case_dim(int symbol) { return dim_symbol(symbol); }

BatchShape case_batch(Case *c)
{
    return (BatchShape){c->module, c->arena, c->symbols, &c->elements};
}

int64_t case_total(const Case *c, int symbol)
{
    int64_t total = 0;
    for (int b = 0; b < c->symbols[symbol].n; b++)
        total += c->symbols[symbol].length[b];
    return c->symbols[symbol].n ? total : c->symbols[symbol].extent;
}

static double next_unit(Case *c)
{
    c->seed = c->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(c->seed >> 40) * 0x1p-24;
}

static Value *new_input(Case *c, DType dtype, int rank, const Dim *dims, int limit)
{
    static int number;
    Type type = type_of(dtype, rank, dims);
    char name[16];
    snprintf(name, sizeof name, "x%d", number++);
    Value *value = build_input(&c->b, arena_strdup(c->arena, name), type);
    BatchShape b = case_batch(c);
    Elements *x = elements_new(&b, &type);
    for (int64_t i = 0; i < x->count; i++) {
        double u = next_unit(c);
        x->data[i] = dtype == DT_I32    ? floor(u * limit)
                     : dtype == DT_BOOL ? u < 0.5
                     : dtype == DT_BF16 ? bf16_to_float(bf16_from_float((float)(4 * u - 2)))
                                        : (float)(4 * u - 2);
    }
    elements_set(&b, value, x);
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
    Block *body = block_of_region(c->arena);
    Value *args[MAX_CASE_VALUES];
    int n_args = 0;
    assert_int_equal(c->diags.errors, 0);
    FOR_OPS (op, &c->function->body) {
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

/* ---- memory ---- */

/* A buffer with its strides: contiguous, or with gaps. */
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
                       : axis->batch_dim >= 0     ? case_total(c, axis->extent.symbol)
                                                  : c->symbols[axis->extent.symbol].extent;
        m.strides[i] = stride;
        stride = stride * m.extents[i] + (c->form != FORM_CONTIGUOUS && i ? c->gap : 0);
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
    case DT_BF16: return bf16_to_float(((uint16_t *)m->data)[at]);
    case DT_I32: return ((int32_t *)m->data)[at];
    default: return ((uint8_t *)m->data)[at];
    }
}

static void memory_set(const Memory *m, DType dtype, int64_t at, double x)
{
    switch (dtype) {
    case DT_F32: ((float *)m->data)[at] = (float)x; break;
    case DT_F64: ((double *)m->data)[at] = x; break;
    case DT_BF16: ((uint16_t *)m->data)[at] = bf16_from_float((float)x); break;
    case DT_I32: ((int32_t *)m->data)[at] = (int32_t)x; break;
    default: ((uint8_t *)m->data)[at] = x != 0; break;
    }
}

static void memory_fill(Case *c, const Memory *m, const Elements *x)
{
    BatchShape b = case_batch(c);
    int64_t index[MAX_RANK] = {0};
    if (x->count)
        do
            if (elements_exists(&b, x, index))
                memory_set(m, x->type.dtype, memory_at(c, m, index),
                           x->data[elements_at(x, index)]);
        while (elements_next(x, index));
}

/* ---- running ---- */

static TfcDim dim_tables(Case *c, int symbol)
{
    SymbolValue *s = &c->symbols[symbol];
    TfcDim dim = {.extent = s->extent, .total = s->extent};
    if (!symbol_is_ragged(c->module, symbol))
        return dim;
    dim.total = case_total(c, symbol);
    int32_t *offset = ARENA_ARRAY(c->arena, int32_t, s->n),
            *batch = ARENA_ARRAY(c->arena, int32_t, dim.total + 1);
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
        units *= size.factors[i].quantity == TFC_TOTAL ? case_total(c, symbol)
                                                       : c->symbols[symbol].extent;
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

typedef struct Compiled {
    Signature signature;
    TfcKernel kernel;
} Compiled;

static Compiled compile_op(Case *c, Op *op, Jit *jit)
{
    BufferForm forms[MAX_CASE_VALUES];
    for (int i = 0; i < op->n_args + op->n_results; i++)
        forms[i] = c->form;
    Compiled compiled = {.signature = signature_of(c->arena, c->module, op, forms)};
    compiled.kernel = jit_kernel(jit, c->module, op, &compiled.signature, &c->diags);
    if (!compiled.kernel) {
        Text text = {0};
        diag_render(&c->diags, &text);
        fail_msg("%s", text.data);
    }
    return compiled;
}

typedef struct Run {
    Memory memory[MAX_CASE_VALUES];
    int n;
} Run;

static void run_op(Case *c, Op *op, const Compiled *compiled, int cuts, Run *run)
{
    const Signature *s = &compiled->signature;
    BatchShape b = case_batch(c);
    run->n = op->n_args + op->n_results;
    void *buffers[MAX_CASE_VALUES];
    int64_t strides[MAX_CASE_VALUES * TFC_MAX_AXES] = {0};
    for (int i = 0; i < run->n; i++) {
        Value *v = i < op->n_args ? op->args[i] : &op->results[i - op->n_args];
        run->memory[i] = memory_new(c, &v->type, c->form == FORM_STRIDED);
        if (i < op->n_args)
            memory_fill(c, &run->memory[i], elements_of(&b, v));
        memcpy(&strides[i * TFC_MAX_AXES], run->memory[i].strides, sizeof run->memory[i].strides);
        buffers[i] = run->memory[i].data;
    }
    if (op->kind == OP_append) /* in place */
        buffers[2] = memcpy(run->memory[2].data, run->memory[0].data, (size_t)run->memory[0].bytes);
    TfcDim *dims = ARENA_ARRAY(c->arena, TfcDim, s->n_dims);
    const TfcDim **dim_pointers = ARENA_ARRAY(c->arena, const TfcDim *, s->n_dims);
    for (int i = 0; i < s->n_dims; i++) {
        dims[i] = dim_tables(c, s->dims[i]);
        dim_pointers[i] = &dims[i];
    }
    TfcKernelArgs args = {buffers, strides, dim_pointers, s->sites, c->rng, 0, INT64_MAX};
    call_in_pieces(compiled->kernel, &args, units_of(c, s), cuts);
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
    Compiled compiled = compile_op(c, op, jit);
    Run run;
    run_op(c, op, &compiled, cuts, &run);
    for (int i = 0; i < op->n_results; i++)
        results[i] = arena_copy(c->arena, run.memory[op->n_args + i].data,
                                (size_t)run.memory[op->n_args + i].bytes);
    run_free(&run);
    jit_free(jit);
}

static void compare(Case *c, Op *op, const Run *run, const char *how)
{
    BatchShape b = case_batch(c);
    for (int r = 0; r < op->n_results; r++) {
        const Elements *want = elements_of(&b, &op->results[r]);
        const Memory *m = &run->memory[op->n_args + r];
        int64_t index[MAX_RANK] = {0};
        if (want->count)
            do {
                if (!elements_exists(&b, want, index))
                    continue;
                double got = memory_get(m, want->type.dtype, memory_at(c, m, index));
                int64_t at = elements_at(want, index);
                if (!elements_agree(want, at, got))
                    fail_msg("%s: result %d at [%d, %d, %d, %d]: %.9g instead of %.9g (±%.2g)", how,
                             r, (int)index[0], (int)index[1], (int)index[2], (int)index[3], got,
                             want->data[at], want->tolerance[at]);
            } while (elements_next(want, index));
    }
}

void case_evaluate(Case *c, Op *op)
{
    BatchShape b = case_batch(c);
    Op *last = c->function->body.last;
    for (int i = 0; i < op->n_results; i++)
        build_output(&c->b, arena_printf(c->arena, "result.%d", i), &op->results[i]);
    elements_evaluate(&b, c->function, c->rng[0] | (uint64_t)c->rng[1] << 32,
                      c->rng[2] | (uint64_t)c->rng[3] << 32);
    while (c->function->body.last != last)
        block_remove(&c->function->body, c->function->body.last);
}

void case_check(Case *c, Op *op)
{
    static const TargetOptions targets[] = {
        {.cpu = "x86-64-v4", .opt_level = 2},
        {.cpu = "x86-64-v3", .opt_level = 2},
        {.cpu = "x86-64", .opt_level = 2},
        {.scalar = true},
        {.opt_level = 0},
    };
    size_t n = c->reference_too ? sizeof targets / sizeof targets[0] : short_test() ? 2 : 3;
    case_evaluate(c, op);
    for (size_t t = 0; t < n; t++) {
        Diagnostics ignored;
        diag_init(&ignored, c->arena);
        Jit *jit = jit_new(&targets[t], &ignored);
        if (!jit)
            continue; /* this machine has no such vectors */
        Compiled compiled = compile_op(c, op, jit);
        for (int cuts = 1; cuts <= 3; cuts += 2) {
            Run run;
            char how[64];
            snprintf(how, sizeof how, "%s%s in %d pieces", targets[t].cpu ? targets[t].cpu : "host",
                     targets[t].scalar ? " scalar" : "", cuts);
            run_op(c, op, &compiled, cuts, &run);
            compare(c, op, &run, how);
            run_free(&run);
        }
        jit_free(jit);
    }
}
