/* Executors: making them, and telling them a batch's shape, inputs and outputs. */
#include "base/limits.h"
#include "base/team.h"
#include "runtime/exec/made.h"
#include "runtime/exec/size.h"
#include "runtime/exec/state.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static void count_kernel_tables(const TfcProgram *program, int64_t *n_views, int64_t *n_dims)
{
    *n_views = *n_dims = 0;
    for (int32_t s = 0; s < program->n_steps; s++)
        if (program->steps[s].kind == TFC_STEP_KERNEL) {
            *n_views += program->steps[s].kernel.n_views;
            *n_dims += program->steps[s].kernel.n_dims;
        }
}

/* Marks the dimensions over whose tokens the program computes. */
static void mark_iterated(const TfcProgram *program, bool *iterated)
{
    for (int32_t b = 0; b < program->n_buffers; b++) {
        const TfcBuffer *buffer = &program->buffers[b];
        const TfcSize *size = &program->sizes[buffer->size];
        bool computed = buffer->kind != TFC_BUFFER_INPUT && buffer->kind != TFC_BUFFER_TENSOR;
        for (int i = 0; computed && i < size->n_factors; i++)
            if (size->factors[i].quantity == TFC_TOTAL)
                iterated[size->factors[i].dim] = true;
    }
}

Exec *exec_new(const TfcProgram *program, Store *store)
{
    Arena *arena = arena_try_new();
    Exec *exec = arena ? ARENA_NEW(arena, Exec) : NULL;
    int64_t n_views, n_dims;
    count_kernel_tables(program, &n_views, &n_dims);
    if (!exec) {
        arena_free(arena);
        return NULL;
    }
    *exec = (Exec){
        .program = program,
        .store = store,
        .arena = arena,
        .dims = ARENA_ARRAY(arena, TfcDim, program->n_dims),
        .sizes = ARENA_ARRAY(arena, int64_t, program->n_sizes),
        .ragged = ARENA_ARRAY(arena, RaggedTables, program->n_dims),
        .iterated = ARENA_ARRAY(arena, bool, program->n_dims),
        .tensors = ARENA_ARRAY(arena, StoreTensor *, program->n_tensors),
        .caches = ARENA_ARRAY(arena, void *, program->n_tensors),
        .inputs = ARENA_ARRAY(arena, const void *, program->n_inputs),
        .addresses = ARENA_ARRAY(arena, void *, program->n_buffers),
        .planned = ARENA_ARRAY(arena, int64_t, program->n_buffers),
        .read = ARENA_ARRAY(arena, bool, program->n_buffers),
        .lent = {.panels = ARENA_ARRAY(arena, const void *, program->n_buffers),
                 .left = ARENA_ARRAY(arena, bool, program->n_prepared),
                 .absent = ARENA_ARRAY(arena, bool, program->n_buffers)},
        .offsets = ARENA_ARRAY(arena, int64_t, program->n_buffers),
        .steps = ARENA_ARRAY(arena, BoundStep, program->n_steps),
        .pointers = ARENA_ARRAY(arena, void *, n_views),
        .strides = ARENA_ARRAY(arena, int64_t, n_views *TFC_MAX_AXES),
        .kernel_dims = ARENA_ARRAY(arena, const TfcDim *, n_dims),
        .patches = ARENA_ARRAY(arena, PointerPatch, n_views),
        .slices = ARENA_ARRAY(arena, TfcDim, program->n_loops),
    };
    if (arena_failed(arena)) {
        arena_free(arena);
        return NULL;
    }
    slab_mark_read(program, exec->read);
    mark_iterated(program, exec->iterated);
    for (int32_t s = 0; s < program->n_steps; s++)
        exec->multiplies |= program->steps[s].kind == TFC_STEP_GEMM;
    for (int32_t t = 0; t < program->n_tensors; t++) {
        bool is_cache = tensor_is_cache(&program->tensors[t]);
        exec->tensors[t] = is_cache ? NULL : store_find(store, program->tensors[t].name);
        assert(exec->tensors[t] || is_cache); /* store_add_program comes first */
    }
    return exec;
}

void exec_free(Exec *exec)
{
    if (!exec)
        return;
    for (int32_t s = 0; s < exec->program->n_steps; s++)
        if (exec->program->steps[s].kind == TFC_STEP_GEMM ||
            exec->program->steps[s].kind == TFC_STEP_PACK)
            gemm_release(&exec->steps[s].gemm);
    for (int32_t d = 0; d < exec->program->n_dims; d++) {
        free(exec->ragged[d].offset);
        free(exec->ragged[d].length);
        free(exec->ragged[d].batch);
        free(exec->ragged[d].position);
    }
    free(exec->made_lengths);
    free(exec->slab);
    exec_drop_kept(exec);
    free(exec->part);
    arena_free(exec->arena);
}

int64_t exec_slab_bytes(const Exec *exec) { return exec->blocks.slab + exec->blocks.kept; }

bool exec_reserve(Exec *exec, const ExecDim *shapes, int64_t n)
{
    int32_t n_dims = exec->program->n_dims;
    TfcDim *dims = calloc((size_t)(n * n_dims) + 1, sizeof *dims);
    const TfcDim **rows = malloc(((size_t)n + 1) * sizeof *rows);
    bool ok = dims && rows;
    for (int64_t i = 0; ok && i < n; i++) {
        rows[i] = dims + i * n_dims;
        for (int32_t d = 0; d < n_dims; d++) {
            dims[i * n_dims + d].extent = shapes[i * n_dims + d].extent;
            dims[i * n_dims + d].total = shapes[i * n_dims + d].total;
        }
        made_bounds(exec->program, dims + i * n_dims);
    }
    ok = ok && exec_fit(exec, rows, n);
    free(rows);
    free(dims);
    return ok;
}

/* ---- dimensions ---- */

int exec_dim(const Exec *exec, const char *name)
{
    for (int32_t d = 0; d < exec->program->n_dims; d++)
        if (!strcmp(exec->program->dims[d].name, name))
            return d;
    return -1;
}

void exec_set_dim(Exec *exec, int dim, int64_t extent)
{
    if (dim < 0 || (exec->dims[dim].extent == extent && exec->dims[dim].total == extent))
        return;
    assert(exec->program->dims[dim].batch < 0);
    exec->dims[dim] = (TfcDim){.extent = extent, .total = extent};
    exec->bound = exec->made = false;
}

static bool grow_room(int32_t **table, int64_t n)
{
    int32_t *grown = realloc(*table, (size_t)(n + 1) * sizeof *grown);
    if (grown)
        *table = grown;
    return grown != NULL;
}

static bool reserve_tables(RaggedTables *tables, int64_t rows, int64_t tokens)
{
    if (rows > tables->rows || !tables->length) {
        if (!grow_room(&tables->offset, rows) || !grow_room(&tables->length, rows))
            return false;
        tables->rows = rows;
    }
    if (tokens > tables->tokens || !tables->position) {
        if (!grow_room(&tables->batch, tokens) || !grow_room(&tables->position, tokens))
            return false;
        tables->tokens = tokens;
    }
    return true;
}

/* Whether the rows lie one after the other, as without offsets. */
static bool is_contiguous(int64_t n, const int32_t *lengths, const int32_t *offset)
{
    int64_t at = 0;
    for (int64_t b = 0; b < n; at += lengths[b++])
        if (offset && offset[b] != at)
            return false;
    return true;
}

static bool same_rows(const RaggedTables *tables, int64_t n, const int32_t *lengths,
                      const int32_t *offset)
{
    if (tables->n != n || tables->missing || !tables->length)
        return false;
    if (n == 0) /* no array need be there */
        return true;
    return !memcmp(tables->length, lengths, (size_t)n * sizeof *lengths) &&
           (offset ? !memcmp(tables->offset, offset, (size_t)n * sizeof *offset)
                   : is_contiguous(n, lengths, tables->offset));
}

/* Tokens in gaps count as the first of row 0. */
static void fill_tokens(RaggedTables *tables, int64_t total, bool gaps)
{
    if (gaps) {
        memset(tables->batch, 0, (size_t)total * sizeof *tables->batch);
        memset(tables->position, 0, (size_t)total * sizeof *tables->position);
    }
    for (int64_t b = 0; b < tables->n; b++)
        for (int32_t i = 0; i < tables->length[b]; i++) {
            tables->batch[tables->offset[b] + i] = (int32_t)b;
            tables->position[tables->offset[b] + i] = i;
        }
}

static void set_ragged(Exec *exec, int dim, int64_t n, const int32_t *lengths,
                       const int32_t *offset)
{
    assert(exec->program->dims[dim].batch >= 0);
    exec_set_dim(exec, exec->program->dims[dim].batch, n);
    RaggedTables *tables = &exec->ragged[dim];
    if (same_rows(tables, n, lengths, offset))
        return;
    bool contiguous = is_contiguous(n, lengths, offset), iterated = exec->iterated[dim];
    int64_t longest = 0, total = 0, end = 0;
    for (int64_t b = 0; b < n; b++) {
        longest = lengths[b] > longest ? lengths[b] : longest;
        total += lengths[b];
        if (!contiguous && offset[b] + lengths[b] > end)
            end = offset[b] + lengths[b];
    }
    if (!contiguous && iterated)
        total = end;
    exec->bound = exec->made = false;
    tables->missing = !reserve_tables(tables, n, contiguous || iterated ? total : 0);
    if (tables->missing)
        return;
    tables->n = n;
    int32_t at = 0;
    for (int64_t b = 0; b < n; at += lengths[b++]) {
        tables->length[b] = lengths[b];
        tables->offset[b] = offset ? offset[b] : at;
    }
    if (contiguous || iterated)
        fill_tokens(tables, total, !contiguous);
    exec->dims[dim] =
        (TfcDim){longest, total, tables->offset, tables->length, tables->batch, tables->position};
}

void exec_set_ragged(Exec *exec, int dim, int64_t n, const int32_t *lengths, const int32_t *offset)
{
    if (dim < 0)
        return;
    exec->ragged[dim].is_set = true;
    set_ragged(exec, dim, n, lengths, offset);
}

/* Lengths of dimensions in one row of the batch. */
typedef struct ExecRow {
    const Exec *exec;
    int64_t row;
} ExecRow;

static int64_t length_in_exec(const void *of, int32_t d)
{
    const ExecRow *at = of;
    const TfcDim *dim = &at->exec->dims[d];
    return dim->length ? dim->length[at->row] : dim->extent;
}

/* The lengths of made dimension d in each of n rows; false: a length that it is made of is missing,
 * or they are more than any machine has memory for. */
static bool make_lengths(const Exec *exec, int32_t d, int64_t n, int32_t *lengths)
{
    const TfcProgram *program = exec->program;
    const DimFormula *formula = &program->dims[d].formula;
    int64_t total = 0;
    for (int32_t i = 0; i < formula->n; i++) {
        const int32_t term = formula->terms[i].symbol;
        const RaggedTables *tables = &exec->ragged[term];
        if (program->dims[term].batch >= 0 && (tables->missing || tables->n != n))
            return false;
    }
    for (int64_t b = 0; b < n; b++) {
        const int64_t length = dim_formula_length(formula, length_in_exec, &(ExecRow){exec, b});
        total += length;
        if (total > INT32_MAX)
            return false;
        lengths[b] = (int32_t)length;
    }
    return true;
}

static bool make_ragged(Exec *exec, int32_t d)
{
    int64_t n = exec->dims[exec->program->dims[d].batch].extent;
    if (!grow_room(&exec->made_lengths, n) || !make_lengths(exec, d, n, exec->made_lengths))
        return false;
    set_ragged(exec, d, n, exec->made_lengths, NULL);
    return !exec->ragged[d].missing;
}

static bool make_dims(Exec *exec)
{
    const TfcProgram *program = exec->program;
    bool ok = true;
    for (int32_t d = 0; !exec->made && ok && d < program->n_dims; d++) {
        const TfcProgramDim *dim = &program->dims[d];
        if (!dim_is_made(program, d))
            continue;
        if (dim->batch >= 0) {
            ok = exec->ragged[d].is_set || make_ragged(exec, d);
            continue;
        }
        const int64_t length =
            dim_formula_length(&dim->formula, length_in_exec, &(ExecRow){exec, 0});
        ok = length <= MOST_DIM_LENGTH;
        if (ok)
            exec_set_dim(exec, d, length);
    }
    return exec->made = ok;
}

const TfcDim *exec_dims(Exec *exec) { return make_dims(exec) ? exec->dims : NULL; }

/* ---- data ---- */

static int find_port(const TfcPort *ports, int32_t n, const char *name)
{
    for (int32_t i = 0; i < n; i++)
        if (!strcmp(ports[i].name, name))
            return i;
    return -1;
}

bool exec_input(Exec *exec, const char *name, const void *data)
{
    int i = find_port(exec->program->inputs, exec->program->n_inputs, name);
    if (i >= 0)
        exec->inputs[i] = data;
    return i >= 0;
}

/* Callers go through a program's caches in the order of its tensors: the search goes on from the
 * one found last. */
bool exec_cache(Exec *exec, const char *name, void *data)
{
    const int32_t n = exec->program->n_tensors;
    for (int32_t i = 0, t = exec->last_cache; i < n; i++) {
        t = t + 1 < n ? t + 1 : 0;
        const TfcTensor *tensor = &exec->program->tensors[t];
        if (!tensor_is_cache(tensor) || strcmp(tensor->name, name) != 0)
            continue;
        exec->caches[t] = data;
        exec->last_cache = t;
        return true;
    }
    return false;
}

const void *exec_output(Exec *exec, const char *name)
{
    int i = find_port(exec->program->outputs, exec->program->n_outputs, name);
    return i >= 0 ? exec->addresses[exec->program->outputs[i].buffer] : NULL;
}

int64_t exec_output_count(Exec *exec, const char *name)
{
    int i = find_port(exec->program->outputs, exec->program->n_outputs, name);
    if (i < 0 || !make_dims(exec))
        return 0;
    return program_size(exec->program,
                        exec->program->buffers[exec->program->outputs[i].buffer].size, exec->dims);
}

const TfcProgram *exec_program(const Exec *exec) { return exec->program; }

void exec_set_rng(Exec *exec, uint64_t seed, uint64_t step)
{
    exec->rng[0] = (uint32_t)seed;
    exec->rng[1] = (uint32_t)(seed >> 32);
    exec->rng[2] = (uint32_t)step;
    exec->rng[3] = (uint32_t)(step >> 32);
}

/* ---- how many threads the parallel loops use ---- */

static _Atomic int threads; /* 0: not set yet */

void exec_set_threads(int n)
{
    n = n < 1 ? 1 : n > LIMIT_threads ? LIMIT_threads : n;
    atomic_store_explicit(&threads, n, memory_order_relaxed);
}

int exec_threads(void)
{
    int n = atomic_load_explicit(&threads, memory_order_relaxed);
    if (n)
        return n;
    exec_set_threads(team_default());
    return atomic_load_explicit(&threads, memory_order_relaxed);
}
