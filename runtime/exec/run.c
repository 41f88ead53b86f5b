/* Running: the steps in order, each cut into tasks for the threads. */
#include "runtime/exec/size.h"
#include "runtime/exec/state.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { COPY_BLOCK = 1 << 20 }; /* bytes */

static void run_kernel(const BoundKernel *kernel)
{
    int64_t range = kernel->range, block = kernel->block;
    if (range <= block) {
        if (range > 0)
            kernel->call(&kernel->args, 0, range);
        return;
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(exec_threads())
    for (int64_t begin = 0; begin < range; begin += block)
        kernel->call(&kernel->args, begin, begin + block < range ? begin + block : range);
}

static void copy_or_zero(char *to, const char *from, int64_t bytes)
{
#pragma omp parallel for schedule(static) num_threads(exec_threads()) if (bytes > COPY_BLOCK)
    for (int64_t at = 0; at < bytes; at += COPY_BLOCK) {
        size_t size = (size_t)(bytes - at < COPY_BLOCK ? bytes - at : COPY_BLOCK);
        if (from)
            memcpy(to + at, from + at, size);
        else
            memset(to + at, 0, size);
    }
}

void exec_run_step(Exec *exec, int32_t s)
{
    const TfcStep *step = &exec->program->steps[s];
    const BoundStep *bound = &exec->steps[s];
    switch (step->kind) {
    case TFC_STEP_KERNEL: run_kernel(&bound->kernel); break;
    case TFC_STEP_GEMM: gemm_run(&bound->gemm, exec->addresses); break;
    case TFC_STEP_COPY:
        copy_or_zero(exec->addresses[step->copy.to], exec->addresses[step->copy.from], bound->bytes);
        break;
    case TFC_STEP_ZERO: copy_or_zero(exec->addresses[step->copy.to], NULL, bound->bytes); break;
    }
}

static bool prepare(Exec *exec)
{
    gemm_setup(); /* an Exec may be run by another thread than the one that made it */
    return (exec->bound || exec_bind(exec)) && exec_point(exec);
}

bool exec_run(Exec *exec)
{
    if (!prepare(exec))
        return false;
    for (int32_t s = 0; s < exec->program->n_steps; s++)
        exec_run_step(exec, s);
    return true;
}

/* ---- --check-numerics ---- */

static int64_t buffer_bytes(const Exec *exec, int32_t b)
{
    const TfcBuffer *buffer = &exec->program->buffers[b];
    return size_value(&buffer->size, exec->dims) * type_bytes(buffer->type);
}

/* Places that no step writes (score columns past a sentence's end) hold what was
 * there before; zeroed when a buffer's life begins, they cannot pass for a NaN. */
static void clear_new_buffers(Exec *exec, int32_t step)
{
    for (int32_t b = 0; b < exec->program->n_buffers; b++) {
        const TfcBuffer *buffer = &exec->program->buffers[b];
        if ((buffer->kind == TFC_BUFFER_SLAB || buffer->kind == TFC_BUFFER_OUTPUT) && buffer->first == step)
            memset(exec->addresses[b], 0, (size_t)buffer_bytes(exec, b));
    }
}

static bool has_nan(const Exec *exec, int32_t b)
{
    const TfcBuffer *buffer = &exec->program->buffers[b];
    const void *data = exec->addresses[b];
    int64_t n = size_value(&buffer->size, exec->dims);
    bool found = false;
    switch (buffer->type) {
    case TFC_F32:
        for (int64_t i = 0; i < n; i++)
            found |= isnan(((const float *)data)[i]);
        break;
    case TFC_F64:
        for (int64_t i = 0; i < n; i++)
            found |= isnan(((const double *)data)[i]);
        break;
    case TFC_BF16:
        for (int64_t i = 0; i < n; i++)
            found |= (((const uint16_t *)data)[i] & 0x7FFF) > 0x7F80;
        break;
    case TFC_I32:
    case TFC_BOOL: break;
    }
    return found;
}

static bool wrote_nan(const Exec *exec, const TfcStep *step)
{
    switch (step->kind) {
    case TFC_STEP_KERNEL:
        for (int32_t v = step->kernel.n_views - step->kernel.n_results; v < step->kernel.n_views; v++)
            if (has_nan(exec, step->kernel.views[v].buffer))
                return true;
        return false;
    case TFC_STEP_GEMM: return has_nan(exec, step->gemm.c.buffer);
    case TFC_STEP_COPY: return has_nan(exec, step->copy.to);
    case TFC_STEP_ZERO: return false;
    }
    return false;
}

const char *exec_find_nan(Exec *exec, int *step)
{
    if (!prepare(exec))
        return NULL;
    for (int32_t s = 0; s < exec->program->n_steps; s++) {
        clear_new_buffers(exec, s);
        exec_run_step(exec, s);
        if (wrote_nan(exec, &exec->program->steps[s])) {
            *step = s;
            return exec->program->steps[s].name;
        }
    }
    return NULL;
}
