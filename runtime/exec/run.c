/* Running: the steps in order, each cut into tasks for the threads. */
#include "runtime/exec/size.h"
#include "runtime/exec/state.h"
#include "runtime/exec/trace_state.h"
#include "runtime/exec/per_thread.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { COPY_BLOCK = 1 << 18 }; /* bytes */

static void run_units(const void *context, int64_t task)
{
    const BoundKernel *kernel = context;
    int64_t begin = kernel->begin + task * kernel->block, end = begin + kernel->block;
    kernel->call(&kernel->args, begin, end < kernel->end ? end : kernel->end);
}

static int64_t kernel_tasks(const BoundKernel *kernel)
{
    return (kernel->end - kernel->begin + kernel->block - 1) / kernel->block;
}

static void run_kernel(const BoundKernel *kernel, Team *team)
{
    team_run(team, (int32_t)kernel_tasks(kernel), run_units, kernel);
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

static void run_copy(Exec *exec, const TfcStep *step, int64_t bytes, Team *team)
{
    const char *from = step->kind == TFC_STEP_COPY ? exec->addresses[step->copy.from] : NULL;
    Copy copy = {exec->addresses[step->copy.to], from, bytes};
    team_run(team, (int32_t)((bytes + COPY_BLOCK - 1) / COPY_BLOCK), run_copy_block, &copy);
}

/* The kernel that the product calls, or NULL. */
static const BoundKernel *epilogue_of(const Exec *exec, int32_t s)
{
    bool joined = s + 1 < exec->program->n_steps && step_is_epilogue(&exec->program->steps[s + 1]);
    return joined ? &exec->steps[s + 1].kernel : NULL;
}

static void run_tasks(Exec *exec, int32_t s, Team *team)
{
    const TfcStep *step = &exec->program->steps[s];
    const BoundStep *bound = &exec->steps[s];
    switch (step->kind) {
    case TFC_STEP_KERNEL:
        run_kernel(&bound->kernel, team);
        loop_sum(exec, s);
        break;
    case TFC_STEP_GEMM: gemm_run(&bound->gemm, epilogue_of(exec, s), exec->addresses, team); break;
    case TFC_STEP_PACK: gemm_pack_run(&bound->gemm, exec->addresses, team); break;
    case TFC_STEP_COPY:
    case TFC_STEP_ZERO: run_copy(exec, step, bound->bytes, team); break;
    }
}

/* ---- traces ---- */

/* Of so many elements in a buffer that may hold less (they are read again) or more. */
static double touched_bytes(const Exec *exec, int32_t b, double elements)
{
    double bytes = elements * (double)type_bytes(exec->program->buffers[b].type),
           all = (double)buffer_bytes(exec->program, b, exec->dims);
    return bytes < all ? bytes : all;
}

static void describe_kernel(const Exec *exec, const TfcKernelStep *step, const BoundKernel *bound,
                            TraceStep *record)
{
    int64_t work = exec->sizes[step->work], units = bound->end - bound->begin;
    record->shape[0] = units;
    record->shape[1] = work;
    for (int32_t v = 0; v < step->n_views; v++)
        record->bytes += touched_bytes(exec, step->views[v].buffer, (double)units * (double)work);
}

static void describe_gemm(const Exec *exec, const TfcGemmStep *step, const BoundGemm *bound,
                          TraceStep *record)
{
    GemmCost cost = gemm_cost(bound);
    record->shape[0] = cost.m;
    record->shape[1] = cost.n;
    record->shape[2] = cost.k;
    record->shape[3] = cost.products;
    record->flops = cost.flops;
    record->bytes =
        touched_bytes(exec, step->a.buffer, cost.elements[0]) +
        (product_quant(step->product) ? cost.elements[1] * product_weight_bytes(step->product)
                                      : touched_bytes(exec, step->b.buffer, cost.elements[1])) +
        touched_bytes(exec, step->c.buffer, cost.elements[2]) * (bound->accumulate ? 2 : 1);
}

static void describe_step(const Exec *exec, int32_t s, TraceStep *record)
{
    const TfcStep *step = &exec->program->steps[s];
    const BoundStep *bound = &exec->steps[s];
    *record = (TraceStep){.program = exec->program, .step = s};
    switch (step->kind) {
    case TFC_STEP_KERNEL: describe_kernel(exec, &step->kernel, &bound->kernel, record); break;
    case TFC_STEP_GEMM: describe_gemm(exec, &step->gemm, &bound->gemm, record); break;
    case TFC_STEP_PACK:
        record->shape[0] = bound->gemm.n * bound->gemm.k * type_bytes(step->gemm.type);
        record->bytes = (double)record->shape[0] * 2;
        break;
    case TFC_STEP_COPY:
    case TFC_STEP_ZERO:
        record->shape[0] = bound->bytes;
        record->bytes = (double)bound->bytes * (step->kind == TFC_STEP_COPY ? 2 : 1);
        break;
    }
}

typedef struct StepWatch {
    TeamWatch watch;
    Trace *trace;
    const TraceStep *record;
} StepWatch;

static void record_task(const TeamWatch *watch, TeamTask task, const void *context, int64_t index)
{
    const StepWatch *w = (const StepWatch *)watch;
    int64_t begin = trace_now(w->trace);
    task(context, index);
    trace_add_task(w->trace, w->record, begin, trace_now(w->trace));
}

static void run_recorded(Exec *exec, int32_t s, Team *team, Trace *trace)
{
    TraceStep *record = trace_add_step(trace);
    if (!record) {
        run_tasks(exec, s, team);
        return;
    }
    describe_step(exec, s, record);
    StepWatch watch = {{record_task}, trace, record};
    team->watch = &watch.watch;
    record->begin = trace_now(trace);
    run_tasks(exec, s, team);
    record->end = trace_now(trace);
    team->watch = NULL;
}

static void run_step(Exec *exec, int32_t s, Team *team)
{
    Trace *trace = trace_in_use();
    if (step_is_epilogue(&exec->program->steps[s]))
        return; /* done with the product */
    if (trace)
        run_recorded(exec, s, team, trace);
    else
        run_tasks(exec, s, team);
}

static bool prepare(Exec *exec)
{
    exec->bound &= exec_first_step(exec) >= exec->bound_from &&
                   (!exec->lent.any || exec->lent_version == store_version(exec->store));
    if (!(exec->bound || exec_bind(exec)) || !exec_point(exec))
        return false;
    if (exec->multiplies && !workspace_ready())
        return false;
    exec->first_step = exec_first_step(exec);
    return true;
}

/* What a thread needs to take part. */
static TeamReady ready_for(const Exec *exec) { return exec->multiplies ? workspace_ready : NULL; }

static void note_run(Exec *exec)
{
    if (exec->program->trains)
        store_changed(exec->store);
    KeptBlock *kept = exec->kept;
    const int64_t version = store_version(exec->store); /* no step changes what was prepared */
    if (kept->prepared != version)
        kept->prepared = version;
    if (!exec->first_step && exec->program->n_prepared)
        kept->keeps = kept->found ? NULL : store_keeper(exec->store);
}

/* What is done with each step; false: no more. */
typedef bool StepWork(Exec *exec, int32_t s, Team *team, void *context);

static bool walk_loop(Exec *exec, int32_t l, Team *team, StepWork *work, void *context)
{
    const TfcLoop *loop = &exec->program->loops[l];
    const int64_t all = loop_rows(loop, exec->dims), chunk = loop_chunk(loop, all);
    int64_t begin = 0;
    do { /* once where there are no rows, too: sums over them are zero */
        loop_begin(exec, l, begin, all - begin < chunk ? all - begin : chunk);
        for (int32_t s = loop->first; s < loop->end; s++)
            if (!work(exec, s, team, context))
                return false;
        begin += chunk;
    } while (begin < all);
    return true;
}

static void walk_steps(Exec *exec, Team *team, StepWork *work, void *context)
{
    const TfcProgram *program = exec->program;
    const ExecHook *hook = exec->hook;
    bool more = true;
    for (int32_t s = exec->first_step, l = 0; more && s < program->n_steps; s++) {
        if (lent_leaves(&exec->lent, program, s))
            continue;
        if (hook)
            hook->before(hook->context, s);
        if (l < program->n_loops && program->loops[l].first == s) {
            more = walk_loop(exec, l, team, work, context);
            s = program->loops[l++].end - 1;
        } else
            more = work(exec, s, team, context);
        if (hook)
            hook->after(hook->context, s);
    }
}

/* Behind a step that prepares something: the params that it read, and that nothing else reads. */
static void leave_prepared(const Exec *exec, int32_t s)
{
    const TfcProgram *program = exec->program;
    for (int32_t i = 0, b; (b = slab_buffer_of(program, &program->steps[s], i)) >= 0; i++)
        if (program->buffers[b].kind == TFC_BUFFER_TENSOR && !exec->read[b])
            store_leave(exec->store, exec->tensors[program->buffers[b].index]);
}

static bool run_whole_step(Exec *exec, int32_t s, Team *team, void *context)
{
    if (!exec->leaves_out || !exec->for_outputs[s])
        run_step(exec, s, team);
    if (s < exec->program->n_prepared)
        leave_prepared(exec, s);
    return true;
}

static int64_t count_tasks(const Exec *exec, int32_t s)
{
    const BoundStep *bound = &exec->steps[s];
    switch (exec->program->steps[s].kind) {
    case TFC_STEP_KERNEL: return kernel_tasks(&bound->kernel);
    case TFC_STEP_GEMM: return bound->gemm.n_tasks;
    case TFC_STEP_PACK: return gemm_pack_tasks(&bound->gemm);
    case TFC_STEP_COPY:
    case TFC_STEP_ZERO: return (bound->bytes + COPY_BLOCK - 1) / COPY_BLOCK;
    }
    return 1;
}

/* As many as the step of most tasks keeps busy: others would only wait, and waiting takes from
 * who works where processors are shared. */
static int threads_for(const Exec *exec)
{
    int64_t most = 1;
    for (int32_t s = exec->first_step; s < exec->program->n_steps; s++) {
        if (lent_leaves(&exec->lent, exec->program, s))
            continue;
        int64_t tasks = step_is_epilogue(&exec->program->steps[s]) ? 1 : count_tasks(exec, s);
        most = tasks > most ? tasks : most;
    }
    return most < exec_threads() ? (int)most : exec_threads();
}

bool exec_run(Exec *exec)
{
    if (!prepare(exec))
        return false;
    int64_t begin = trace_begin();
    Team team;
    team_open(&team, threads_for(exec), ready_for(exec));
    walk_steps(exec, &team, run_whole_step, NULL);
    team_close(&team);
    trace_end(exec->program->name, begin);
    note_run(exec);
    return true;
}

bool exec_run_state(Exec *exec)
{
    if (!exec->for_outputs && !exec_find_outputs(exec))
        return false;
    exec->leaves_out = true;
    bool ok = exec_run(exec);
    exec->leaves_out = false;
    return ok;
}

/* ---- --check-numerics ---- */

/* Places that no step writes (score columns past a sentence's end) hold what was
 * there before; zeroed when a buffer's life begins, they cannot pass for a NaN. */
static void clear_new_buffers(Exec *exec, int32_t step)
{
    bool again = exec->program->steps[step].rows != TFC_ROWS_NONE && exec->chunk_begin > 0;
    for (int32_t b = 0; b < exec->program->n_buffers; b++) {
        const TfcBuffer *buffer = &exec->program->buffers[b];
        bool begins = buffer->first == step && (!again || buffer->loop);
        if (buffer_is_planned(buffer) && begins)
            memset(exec_place(exec, b), 0, (size_t)buffer_bytes(exec->program, b, exec->dims));
    }
}

static bool has_nan(const Exec *exec, int32_t b)
{
    const TfcBuffer *buffer = &exec->program->buffers[b];
    const void *data = buffer->loop ? exec_place(exec, b) : exec->addresses[b];
    int64_t n = buffer_bytes(exec->program, b, exec->dims) / type_bytes(buffer->type);
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
        for (int32_t v = step->kernel.n_views - step->kernel.n_results; v < step->kernel.n_views;
             v++)
            if (has_nan(exec, step->kernel.views[v].buffer))
                return true;
        return false;
    case TFC_STEP_GEMM: return has_nan(exec, step->gemm.c.buffer);
    case TFC_STEP_PACK: return false; /* bits of a product's own */
    case TFC_STEP_COPY: return has_nan(exec, step->copy.to);
    case TFC_STEP_ZERO: return false;
    }
    return false;
}

static bool run_and_look(Exec *exec, int32_t s, Team *team, void *context)
{
    int32_t *found = context;
    clear_new_buffers(exec, s);
    run_step(exec, s, team);
    if (!wrote_nan(exec, &exec->program->steps[s]))
        return true;
    *found = s;
    return false;
}

bool exec_find_nan(Exec *exec, const char **name, int *step)
{
    int32_t found = -1;
    *name = NULL;
    if (exec->kept)
        exec->kept->prepared = 0; /* every step is looked at */
    if (!prepare(exec))
        return false;
    Team team;
    team_open(&team, exec_threads(), ready_for(exec));
    walk_steps(exec, &team, run_and_look, &found);
    team_close(&team);
    note_run(exec);
    if (found < 0)
        return true;
    exec->kept->prepared = 0; /* no step after `found` has run */
    exec->kept->keeps = NULL;
    *step = found;
    *name = exec->program->steps[found].name;
    return true;
}
