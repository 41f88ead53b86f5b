/* Running: the steps in order, each cut into tasks for the threads. */
#include "runtime/exec/size.h"
#include "runtime/exec/state.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { COPY_BLOCK = 1 << 18 }; /* bytes */

static void run_units(const void *context, int64_t task)
{
    const BoundKernel *kernel = context;
    int64_t begin = task * kernel->block, end = begin + kernel->block;
    kernel->call(&kernel->args, begin, end < kernel->range ? end : kernel->range);
}

static void run_kernel(const BoundKernel *kernel, Pool *pool)
{
    pool_run(pool, (int32_t)((kernel->range + kernel->block - 1) / kernel->block), run_units, kernel);
}

typedef struct Copy {
    char *to;
    const char *from; /* NULL: zeros */
    int64_t bytes;
} Copy;

static void run_copy_block(const void *context, int64_t task)
{
    const Copy *copy = context;
    int64_t at = task * COPY_BLOCK;
    size_t size = (size_t)(copy->bytes - at < COPY_BLOCK ? copy->bytes - at : COPY_BLOCK);
    if (copy->from)
        memcpy(copy->to + at, copy->from + at, size);
    else
        memset(copy->to + at, 0, size);
}

static void run_copy(Exec *exec, const TfcStep *step, int64_t bytes, Pool *pool)
{
    const char *from = step->kind == TFC_STEP_COPY ? exec->addresses[step->copy.from] : NULL;
    Copy copy = {exec->addresses[step->copy.to], from, bytes};
    pool_run(pool, (int32_t)((bytes + COPY_BLOCK - 1) / COPY_BLOCK), run_copy_block, &copy);
}

static void run_step(Exec *exec, int32_t s, Pool *pool)
{
    const TfcStep *step = &exec->program->steps[s];
    const BoundStep *bound = &exec->steps[s];
    switch (step->kind) {
    case TFC_STEP_KERNEL: run_kernel(&bound->kernel, pool); break;
    case TFC_STEP_GEMM: gemm_run(&bound->gemm, exec->addresses, pool); break;
    case TFC_STEP_COPY:
    case TFC_STEP_ZERO: run_copy(exec, step, bound->bytes, pool); break;
    }
}

static bool prepare(Exec *exec)
{
    gemm_setup(); /* an Exec may be run by another thread than the one that made it */
    return (exec->bound || exec_bind(exec)) && exec_point(exec);
}

static void run_steps(Pool *pool, void *argument)
{
    Exec *exec = argument;
    for (int32_t s = 0; s < exec->program->n_steps; s++)
        run_step(exec, s, pool);
}

bool exec_run(Exec *exec)
{
    if (!prepare(exec))
        return false;
    pool_open(exec_threads(), run_steps, exec);
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

typedef struct Search {
    Exec *exec;
    int32_t found; /* step, or -1 */
} Search;

static void run_until_nan(Pool *pool, void *argument)
{
    Search *search = argument;
    const TfcProgram *program = search->exec->program;
    for (int32_t s = 0; s < program->n_steps && search->found < 0; s++) {
        clear_new_buffers(search->exec, s);
        run_step(search->exec, s, pool);
        if (wrote_nan(search->exec, &program->steps[s]))
            search->found = s;
    }
}

const char *exec_find_nan(Exec *exec, int *step)
{
    Search search = {exec, -1};
    if (!prepare(exec))
        return NULL;
    pool_open(exec_threads(), run_until_nan, &search);
    if (search.found < 0)
        return NULL;
    *step = search.found;
    return exec->program->steps[search.found].name;
}
