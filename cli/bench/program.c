/* tfc bench --mode train and forward: one program again and again on made-up tokens. */
#include "cli/bench/bench.h"
#include "base/clock.h"
#include "cli/progress.h"
#include "driver/run/inference.h"
#include "driver/run/weights.h"

#include <inttypes.h>
#include <string.h>

typedef struct Inputs {
    Binding binding;
    double tokens, flops;
} Inputs;

static double count_tokens(Inputs *inputs, const Module *module)
{
    const ModelPorts ports = ports_of(module);
    const Feed feed = feed_of(module, &ports);
    const char *name = feed.dims[feed.target ? SIDE_TARGET : SIDE_SOURCE];
    const BoundDim *dim = name ? binding_dim(&inputs->binding, name) : NULL;
    return dim && dim->length ? (double)bound_total(dim) : 0;
}

/* The inputs there are: the batches given, or the largest shape and those of --shapes. */
static int64_t inputs_count(const Bench *o) { return o->n_batches ? o->n_batches : o->shapes + 1; }

static int64_t inputs_of_step(const Bench *o, int64_t step)
{
    if (o->n_batches)
        return (step % o->n_batches + o->n_batches) % o->n_batches;
    return o->shapes && step >= 0 ? step + 1 : 0;
}

static void make_inputs(Session *session, const Bench *o, const Function *function, int64_t number,
                        Inputs *out)
{
    static const float rate = 1e-4f, one = 1;
    const StTensor scalars[] = {
        {.name = "rate", .type = ST_F32, .count = 1, .data = &rate, .bytes = 4},
        {.name = "step", .type = ST_F32, .count = 1, .data = &one, .bytes = 4}};
    const Module *module = session->model->module;
    const ModelPorts ports = ports_of(module);
    Lengths lengths = bench_lengths(o, &ports, number - 1);
    SyntheticOptions options = {.batch = lengths.batch,
                                .source_length = lengths.source,
                                .target_length = lengths.target,
                                .ragged = o->shapes && number > 0,
                                .seed = 1 + (uint64_t)number};
    if (o->n_batches) {
        options.lengths = &o->batches[number];
        options.batch = options.lengths->n;
    }
    *out = (Inputs){.binding = {.job = session->job}};
    synthetic_inputs(&out->binding, module, &options);
    for (int i = 0; i < 2; i++)
        vec_push(session->job->arena, out->binding.made, scalars[i]);
    out->tokens = count_tokens(out, module);
    out->flops = synthetic_flops(&out->binding, function);
}

/* The shape as the program is given it. */
static const char *shape_key(Arena *arena, const Binding *binding)
{
    Text text = {0};
    for (size_t d = 0; d < binding->dims.count; d++) {
        const BoundDim *dim = &binding->dims.data[d];
        text_add(&text, "%s %" PRId64 ":", dim->name, dim->extent);
        for (int64_t b = 0; dim->length && b < dim->n; b++)
            text_add(&text, " %d", dim->length[b]);
        text_add(&text, "\n");
    }
    return text_keep(arena, &text);
}

/* Room in the slab for all inputs, so that no step has to grow it. */
static bool reserve(Arena *arena, const TfcProgram *program, Exec *exec, Inputs *all, int64_t n)
{
    ExecDim *dims = ARENA_ARRAY(arena, ExecDim, n * program->n_dims + 1); /* zeros */
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < program->n_dims; d++) {
            const BoundDim *bound = binding_dim(&all[i].binding, program->dims[d].name);
            if (!bound)
                continue; /* tensors_bind will tell */
            dims[i * program->n_dims + d] = (ExecDim){bound->extent, bound_total(bound)};
        }
    return exec_reserve(exec, dims, n);
}

/* Each dimension as large as any of the inputs has it. */
static void limit_memory(Session *session, const Bench *o, Inputs *all, int64_t n)
{
    if (!o->common.memory)
        return;
    const Module *module = session->model->module;
    int n_dims = (int)module->symbols.count;
    DimSize *dims = ARENA_ARRAY(session->job->arena, DimSize, n_dims + 1);
    for (int d = 0; d < n_dims; d++) {
        dims[d].name = module->symbols.data[d].name;
        for (int64_t i = 0; i < n; i++) {
            const BoundDim *bound = binding_dim(&all[i].binding, dims[d].name);
            if (bound && bound->extent > dims[d].extent)
                dims[d].extent = bound->extent;
            if (bound && bound_total(bound) > dims[d].total)
                dims[d].total = bound_total(bound);
        }
    }
    session->options.memory =
        (MemoryLimit){.bytes = o->common.memory, .dims = dims, .n_dims = n_dims};
}

static bool run_inputs(Session *session, const Bench *o, const TfcProgram *program, Exec *exec,
                       Inputs *all, BenchMeasured *m)
{
    Job *job = session->job;
    const Inputs *bound = NULL;
    for (int64_t i = -o->warm_up; i < o->steps; i++) {
        Inputs *inputs = &all[inputs_of_step(o, i)];
        if (inputs != bound && !tensors_bind(&inputs->binding, program, exec))
            return false;
        bound = inputs;
        exec_set_rng(exec, 1, (uint64_t)(i + o->warm_up + 1));
        trace_use(i >= 0 ? m->trace : NULL);
        double start = clock_seconds();
        if (!exec_run(exec))
            return job_no_memory(job);
        bench_end_step(session, o, m, i, clock_seconds() - start);
        if (i < 0)
            continue;
        m->tokens += inputs->tokens;
        m->flops += inputs->flops;
        map_set(&m->shapes, shape_key(job->arena, &inputs->binding), m);
    }
    m->planned_bytes = exec_slab_bytes(exec);
    return true;
}

bool bench_program(Session *session, const Bench *o, Store *store, BenchMeasured *m)
{
    Job *job = session->job;
    Function *function =
        session_function(session, !strcmp(o->mode, "train") ? "train_step" : "forward");
    if (!function)
        return false;
    int64_t n = inputs_count(o);
    Inputs *all = ARENA_ARRAY(job->arena, Inputs, n);
    for (int64_t i = 0; i < n; i++)
        make_inputs(session, o, function, i, &all[i]);
    limit_memory(session, o, all, n);
    const TfcProgram *program = session_compile(session, function);
    if (!program)
        return false;
    if (!store_add_program(store, program))
        return job_no_memory(job);
    Exec *exec = exec_new(program, store);
    bool ok = ((exec && reserve(job->arena, program, exec, all, n)) || job_no_memory(job)) &&
              weights_initialise(job, session->model, store, 1) &&
              run_inputs(session, o, program, exec, all, m);
    m->planned_bytes += store_bytes(store);
    exec_free(exec);
    return ok;
}
