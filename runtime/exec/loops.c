/* Loops over rows: pointing their steps at a chunk.
 *
 * A buffer that holds one chunk is addressed as if it held all rows: its address is
 * that of row 0, wherever that would be. So a kernel does its part of the range as
 * always, and its elements keep their numbers, by which random values are drawn. Only
 * what sums over rows is called with the rows as a dimension of their own. */
#include "runtime/exec/state.h"

#include "runtime/exec/size.h"

#include <stdlib.h>
#include <string.h>

static int64_t result_bytes(const Exec *exec, const TfcView *view)
{
    const TfcBuffer *buffer = &exec->program->buffers[view->buffer];
    return (exec->sizes[buffer->size] * type_bytes(buffer->type) + 63) / 64 * 64;
}

static const TfcView *first_result(const TfcKernelStep *step)
{
    return step->views + (step->n_views - step->n_results);
}

bool loops_bind(Exec *exec)
{
    const TfcProgram *program = exec->program;
    int64_t most = 0;
    for (int32_t s = 0; s < program->n_steps; s++) {
        const TfcStep *step = &program->steps[s];
        int64_t bytes = 0;
        for (int32_t r = 0; step->rows == TFC_ROWS_SUM && r < step->kernel.n_results; r++)
            bytes += result_bytes(exec, first_result(&step->kernel) + r);
        most = bytes > most ? bytes : most;
    }
    if (most <= exec->part_bytes)
        return true;
    free(exec->part);
    exec->part = aligned_alloc(64, (size_t)most);
    exec->part_bytes = exec->part ? most : 0;
    return exec->part != NULL;
}

/* ---- pointing at a chunk ---- */

static void slice_dim(TfcDim *dim, const TfcDim *whole, const TfcLoop *loop, int64_t begin,
                      int64_t rows)
{
    *dim = *whole;
    dim->total = rows;
    if (loop->quantity == TFC_EXTENT) {
        dim->extent = rows;
        return;
    }
    dim->batch += begin;
    dim->position += begin;
}

static void point_buffers(Exec *exec, int32_t loop, int64_t begin, int64_t all)
{
    for (int32_t b = 0; b < exec->program->n_buffers; b++) {
        const TfcBuffer *buffer = &exec->program->buffers[b];
        if (buffer->loop != loop + 1 || !all)
            continue;
        int64_t row = exec->sizes[buffer->size] / all * type_bytes(buffer->type);
        exec->addresses[b] = exec_place(exec, b) - begin * row;
    }
}

static void point_kernel(Exec *exec, const TfcStep *step, BoundKernel *bound, int64_t begin,
                         int64_t rows, int64_t all)
{
    const TfcKernelStep *kernel = &step->kernel;
    void **pointers = (void **)bound->args.buffers;
    bool sums = step->rows == TFC_ROWS_SUM;
    for (int32_t v = 0; v < kernel->n_views; v++) {
        const TfcView *view = &kernel->views[v];
        int64_t at = view->offset;
        if (sums && kernel->along >> v & 1)
            at += begin * exec->sizes[view->strides[0]];
        pointers[v] = (char *)exec->addresses[view->buffer] +
                      at * type_bytes(exec->program->buffers[view->buffer].type);
    }
    if (!sums) {
        int64_t units = all ? exec->sizes[kernel->range] / all : 0;
        bound->begin = begin * units;
        bound->end = (begin + rows) * units;
        return;
    }
    char *part = exec->part;
    for (int32_t r = 0; begin && r < kernel->n_results; r++) {
        pointers[kernel->n_views - kernel->n_results + r] = part;
        part += result_bytes(exec, first_result(kernel) + r);
    }
}

void loop_begin(Exec *exec, int32_t l, int64_t begin, int64_t rows)
{
    const TfcProgram *program = exec->program;
    const TfcLoop *loop = &program->loops[l];
    const int64_t all = loop_rows(loop, exec->dims);
    slice_dim(&exec->slices[l], &exec->dims[loop->dim], loop, begin, rows);
    point_buffers(exec, l, begin, all);
    for (int32_t s = loop->first; s < loop->end; s++) {
        const TfcStep *step = &program->steps[s];
        if (step->kind == TFC_STEP_KERNEL)
            point_kernel(exec, step, &exec->steps[s].kernel, begin, rows, all);
        else
            gemm_move(&exec->steps[s].gemm, begin, rows);
    }
    exec->chunk_begin = begin;
}

/* ---- sums ---- */

static void add_part(void *to, const void *part, TfcType type, int64_t n)
{
    if (type == TFC_F64)
        for (int64_t i = 0; i < n; i++)
            ((double *)to)[i] += ((const double *)part)[i];
    else
        for (int64_t i = 0; i < n; i++)
            ((float *)to)[i] += ((const float *)part)[i];
}

void loop_sum(Exec *exec, int32_t s)
{
    const TfcStep *step = &exec->program->steps[s];
    const char *part = exec->part;
    if (step->rows != TFC_ROWS_SUM || !exec->chunk_begin)
        return;
    for (int32_t r = 0; r < step->kernel.n_results; r++) {
        const TfcView *view = first_result(&step->kernel) + r;
        const TfcBuffer *buffer = &exec->program->buffers[view->buffer];
        char *to = (char *)exec->addresses[view->buffer] + view->offset * type_bytes(buffer->type);
        add_part(to, part, buffer->type, exec->sizes[buffer->size]);
        part += result_bytes(exec, view);
    }
}
