/* Fitting an Exec to a batch's shape: the slab, then every size and pointer. */
#include "runtime/exec/made.h"
#include "runtime/exec/memory.h"
#include "runtime/exec/size.h"
#include "runtime/exec/state.h"

#include "base/map.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Elements a task of a kernel touches: some tens of microseconds of work. */
enum { TASK_ELEMENTS = 1 << 15, BLOCK_ROUNDING = 64 };

/* ---- the slab ---- */

/* Raises the bytes of each buffer that is not absent (NULL: of each) to what these dimensions need;
 * whether any grew. */
static bool grow_planned(const TfcProgram *program, const TfcDim *dims, const bool *absent,
                         int64_t *planned)
{
    bool grew = false;
    for (int32_t b = 0; b < program->n_buffers; b++) {
        const TfcBuffer *buffer = &program->buffers[b];
        if (!buffer_is_planned(buffer) || (absent && absent[b]))
            continue;
        int64_t bytes = buffer_bytes(program, b, dims);
        if (bytes > planned[b]) {
            planned[b] = bytes;
            grew = true;
        }
    }
    return grew;
}

/* A hash of where each kept buffer lies. */
static uint64_t kept_layout(const Exec *exec)
{
    uint64_t hash = (uint64_t)exec->blocks.kept;
    for (int32_t b = 0; b < exec->program->n_buffers; b++)
        if (slab_stays(exec->program, exec->read, b))
            hash = hash_u64(hash_u64(hash, (uint64_t)b), (uint64_t)exec->offsets[b]);
    return hash;
}

int32_t exec_first_step(const Exec *exec)
{
    bool is_prepared = exec->kept && exec->kept->prepared == store_version(exec->store);
    return is_prepared ? exec->program->n_prepared : 0;
}

/* The param whose data the buffer is, or NULL. */
static StoreTensor *param_of(const Exec *exec, int32_t b)
{
    const TfcBuffer *buffer = &exec->program->buffers[b];
    return buffer->kind == TFC_BUFFER_TENSOR ? exec->tensors[buffer->index] : NULL;
}

void exec_drop_kept(Exec *exec)
{
    if (!exec->kept)
        return;
    for (int32_t b = 0; exec->kept->keeps && b < exec->program->n_buffers; b++)
        if (exec->read[b] && param_of(exec, b))
            store_keep_param(exec->store, exec->kept->keeps, param_of(exec, b));
    store_drop_kept(exec->store, exec->kept);
    exec->kept = NULL;
}

/* What is kept stays, unless more is kept from now on. Steps write what they read, so nothing is
 * cleared. */
static bool plan(Exec *exec, bool keeps_other)
{
    if (keeps_other)
        exec_drop_kept(exec);
    if (!slab_place(exec->program, exec->planned, exec->read, exec->offsets, &exec->blocks))
        return false;
    free(exec->slab);
    exec->slab = memory_raw(exec->blocks.slab);
    if (!exec->kept)
        exec->kept =
            store_take_kept(exec->store, exec->program, kept_layout(exec), exec->blocks.kept);
    exec->planned_once = exec->slab && exec->kept;
    exec->bound = false;
    return exec->planned_once;
}

static const void *lend(void *context, const TfcPanels *wanted)
{
    return store_panels(context, wanted);
}

/* Whether other buffers are absent than before. */
static bool find_lent(Exec *exec)
{
    exec->lent_version = store_version(exec->store);
    return lent_find(&exec->lent, exec->program, exec->read, lend, exec->store);
}

bool exec_fit(Exec *exec, const TfcDim *const *shapes, int64_t n)
{
    bool grew = !exec->planned_once, keeps_other = false;
    for (int64_t i = 0; i < n; i++)
        if (!sizes_fit(exec->program, shapes[i]))
            return false;
    if (exec->lent_version != store_version(exec->store))
        keeps_other = find_lent(exec);
    for (int64_t i = 0; i < n; i++)
        grew |= grow_planned(exec->program, shapes[i], exec->lent.absent, exec->planned);
    if ((!grew && !keeps_other) || plan(exec, keeps_other))
        return true;
    /* What was too large is not planned for again. */
    memset(exec->planned, 0, sizeof *exec->planned * (size_t)exec->program->n_buffers);
    exec_drop_kept(exec);
    exec->planned_once = exec->bound = false;
    return false;
}

int64_t exec_slab_needed(const TfcProgram *program, const ExecDim *shape)
{
    TfcDim *dims = calloc((size_t)program->n_dims + 1, sizeof *dims);
    int64_t *tables = calloc(2 * (size_t)program->n_buffers + 1, sizeof *tables);
    bool *read = calloc((size_t)program->n_buffers + 1, sizeof *read);
    SlabBlocks blocks = {.slab = -1};
    for (int32_t d = 0; dims && d < program->n_dims; d++)
        dims[d] = (TfcDim){.extent = shape[d].extent, .total = shape[d].total};
    if (dims)
        made_bounds(program, dims);
    if (dims && tables && read && sizes_fit(program, dims)) {
        grow_planned(program, dims, NULL, tables);
        slab_mark_read(program, read);
        slab_place(program, tables, read, tables + program->n_buffers, &blocks);
    }
    free(read);
    free(tables);
    free(dims);
    return blocks.slab < 0 ? -1 : blocks.slab + blocks.kept;
}

static void evaluate_sizes(Exec *exec)
{
    for (int32_t i = 0; i < exec->program->n_sizes; i++)
        exec->sizes[i] = size_value(&exec->program->sizes[i], exec->dims);
}

/* ---- elsewhere ---- */

/* Whether a ragged dimension has no lengths. */
static bool lacks_lengths(const Exec *exec)
{
    for (int32_t d = 0; d < exec->program->n_dims; d++)
        if (exec->ragged[d].missing)
            return true;
    return false;
}

bool exec_measure(Exec *exec)
{
    const TfcProgram *program = exec->program;
    if (!exec_dims(exec) || lacks_lengths(exec))
        return false;
    if (!sizes_fit(program, exec->dims))
        return false;
    if (grow_planned(program, exec->dims, NULL, exec->planned) || !exec->planned_once)
        exec->planned_once = slab_place(program, exec->planned, NULL, exec->offsets, &exec->blocks);
    evaluate_sizes(exec);
    return exec->planned_once;
}

/* ---- steps ---- */

/* Params that the steps from `first` on read. */
static bool need_params(Exec *exec, int32_t first)
{
    const TfcProgram *program = exec->program;
    for (int32_t s = first; s < program->n_steps; s++)
        for (int32_t i = 0, b; !lent_leaves(&exec->lent, program, s) &&
                               (b = slab_buffer_of(program, &program->steps[s], i)) >= 0;
             i++)
            if (param_of(exec, b) && !store_need(exec->store, param_of(exec, b)))
                return false;
    return true;
}

static void find_addresses(Exec *exec)
{
    for (int32_t b = 0; b < exec->program->n_buffers; b++) {
        if (exec->lent.panels[b])
            exec->addresses[b] = (void *)(uintptr_t)exec->lent.panels[b]; /* no step writes it */
        else if (buffer_is_planned(&exec->program->buffers[b]))
            exec->addresses[b] = exec_place(exec, b);
        else if (param_of(exec, b))
            exec->addresses[b] = param_of(exec, b)->data;
    }
}

/* Memory that may lie elsewhere at each run. */
static bool is_callers(const Exec *exec, int32_t b)
{
    const TfcBuffer *buffer = &exec->program->buffers[b];
    return buffer->kind == TFC_BUFFER_INPUT ||
           (buffer->kind == TFC_BUFFER_TENSOR && !exec->tensors[buffer->index]);
}

/* Units a task: fixed by the shape, never by the number of threads. */
static int64_t block_units(int64_t work)
{
    int64_t units = TASK_ELEMENTS / (work < 1 ? 1 : work);
    if (units < 1)
        return 1;
    return units < BLOCK_ROUNDING ? units : units / BLOCK_ROUNDING * BLOCK_ROUNDING;
}

static void bind_kernel(Exec *exec, const TfcKernelStep *step, BoundKernel *bound, void **pointers,
                        int64_t *strides, const TfcDim **dims)
{
    for (int32_t v = 0; v < step->n_views; v++) {
        const TfcView *view = &step->views[v];
        int64_t bytes = view->offset * type_bytes(exec->program->buffers[view->buffer].type);
        if (is_callers(exec, view->buffer))
            exec->patches[exec->n_patches++] = (PointerPatch){&pointers[v], view->buffer, bytes};
        else
            pointers[v] = (char *)exec->addresses[view->buffer] + bytes;
        for (int32_t axis = 0; axis < view->n_axes; axis++)
            strides[v * TFC_MAX_AXES + axis] = exec->sizes[view->strides[axis]];
    }
    for (int32_t d = 0; d < step->n_dims; d++)
        dims[d] = &exec->dims[step->dims[d]];
    bound->call = exec->program->kernels[step->kernel];
    bound->args = (TfcKernelArgs){pointers, strides, dims, step->ints, exec->rng, 0, INT64_MAX};
    bound->begin = 0;
    bound->end = exec->sizes[step->range];
    bound->block = block_units(exec->sizes[step->work]);
}

/* The loop that step s is in, or NULL. */
static const TfcLoop *loop_of(const TfcProgram *program, int32_t s)
{
    for (int32_t l = 0; program->steps[s].rows != TFC_ROWS_NONE && l < program->n_loops; l++)
        if (s >= program->loops[l].first && s < program->loops[l].end)
            return &program->loops[l];
    return NULL;
}

/* A kernel that sums over rows sees only those of the current chunk. */
static void bind_slice(Exec *exec, const TfcLoop *loop, const TfcKernelStep *step,
                       const TfcDim **dims)
{
    for (int32_t d = 0; d < step->n_dims; d++)
        if (step->dims[d] == loop->dim)
            dims[d] = &exec->slices[loop - exec->program->loops];
}

static bool bind_gemm(Exec *exec, const TfcStep *step, const TfcLoop *loop, BoundGemm *bound)
{
    int64_t rows = loop ? loop_chunk(loop, loop_rows(loop, exec->dims)) : 0;
    return gemm_bind_rows(bound, &step->gemm, gemm_grouping(exec->program, &step->gemm), step->rows,
                          rows, exec->sizes, exec->dims, &exec->program->products,
                          &exec->program->choice);
}

bool exec_bind(Exec *exec)
{
    const TfcProgram *program = exec->program;
    const TfcDim *shape = exec->dims;
    if (!exec_dims(exec) || lacks_lengths(exec))
        return false;
    if (!exec_fit(exec, &shape, 1))
        return false;
    int32_t first = exec_first_step(exec);
    if (!need_params(exec, first))
        return false;
    evaluate_sizes(exec);
    find_addresses(exec);
    exec->n_patches = 0;
    int64_t n_views = 0, n_dims = 0;
    for (int32_t s = 0; s < program->n_steps; s++) {
        const TfcStep *step = &program->steps[s];
        const TfcLoop *loop = loop_of(program, s);
        BoundStep *bound = &exec->steps[s];
        const bool runs = s >= first && !lent_leaves(&exec->lent, program, s);
        switch (step->kind) {
        case TFC_STEP_KERNEL:
            if (runs)
                bind_kernel(exec, &step->kernel, &bound->kernel, exec->pointers + n_views,
                            exec->strides + n_views * TFC_MAX_AXES, exec->kernel_dims + n_dims);
            if (step->rows == TFC_ROWS_SUM)
                bind_slice(exec, loop, &step->kernel, exec->kernel_dims + n_dims);
            n_views += step->kernel.n_views;
            n_dims += step->kernel.n_dims;
            break;
        case TFC_STEP_GEMM:
        case TFC_STEP_PACK:
            if (runs && !bind_gemm(exec, step, loop, &bound->gemm))
                return false;
            break;
        case TFC_STEP_COPY:
        case TFC_STEP_ZERO:
            bound->bytes =
                exec->sizes[step->copy.size] * type_bytes(program->buffers[step->copy.to].type);
            break;
        }
    }
    exec->bound_from = first;
    exec->bound = loops_bind(exec);
    return exec->bound;
}

bool exec_point(Exec *exec)
{
    const TfcProgram *program = exec->program;
    for (int32_t b = 0; b < program->n_buffers; b++) {
        const TfcBuffer *buffer = &program->buffers[b];
        if (!is_callers(exec, b))
            continue;
        const void *data = buffer->kind == TFC_BUFFER_INPUT ? exec->inputs[buffer->index]
                                                            : exec->caches[buffer->index];
        if (!data && exec->sizes[buffer->size] > 0)
            return false;
        exec->addresses[b] = data ? (void *)data : exec; /* of no bytes: an address nobody reads */
    }
    for (int64_t p = 0; p < exec->n_patches; p++)
        *exec->patches[p].pointer =
            (char *)exec->addresses[exec->patches[p].buffer] + exec->patches[p].bytes;
    return true;
}
