/* tfc bench: seconds, tokens, floating-point operations and bytes of a step. */
#include "base/limits.h"
#include "base/map.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/tracing.h"
#include "driver/inference.h"
#include "driver/synthetic.h"
#include "driver/weights.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Bench {
    Common common;
    const char *mode, *lengths;
    int64_t batch, source_length, target_length, steps, warm_up, beam;
    int64_t shapes;        /* 0: every step has the same */
    BatchLengths *batches; /* of --lengths: the steps go through them */
    int64_t n_batches;     /* 0: none are given */
    bool json, report;
} Bench;

typedef struct Measured {
    double *seconds; /* a step, in order of size */
    double tokens;   /* of the target, in all steps */
    double flops;    /* in all steps; 0: not counted */
    int64_t planned_bytes;
    Map shapes;      /* those of the steps */
    int first;       /* kernels compiled when the first step had run */
    Trace *trace;    /* of the measured steps, or NULL */
} Measured;

static int compare_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool out_of_memory(Job *job) { return job_error(job, "out of memory"); }

/* What follows a step: number -warm_up is the first. */
static void end_step(const Session *session, const Bench *o, Measured *m, int64_t step,
                     double seconds)
{
    if (step == -o->warm_up)
        m->first = jit_stats(session->jit).kernels_compiled;
    if (step >= 0)
        m->seconds[step] = seconds;
}

/* ---- shapes ---- */

typedef struct Lengths {
    int64_t batch, source, target;
} Lengths;

/* How many shapes there are up to the largest. */
static Lengths ranges_of(const Bench *o, const ModelPorts *ports)
{
    return (Lengths){o->batch, ports->source ? o->source_length : 1,
                     ports->target || !ports->source ? o->target_length : 1};
}

/* With --shapes each measured step has another one, in the order of a walk whose
 * stride is a prime; all other steps have the largest. */
static Lengths lengths_of(const Bench *o, const ModelPorts *ports, int64_t step)
{
    enum { STRIDE = 1000003 };
    Lengths n = ranges_of(o, ports);
    if (!o->shapes || step < 0)
        return (Lengths){o->batch, o->source_length, o->target_length};
    int64_t number = step * STRIDE % (n.batch * n.source * n.target);
    return (Lengths){1 + number % n.batch, 1 + number / n.batch % n.source,
                     1 + number / n.batch / n.source};
}

static bool check_shapes(const Session *session, const Bench *o)
{
    const ModelPorts ports = ports_of(session->model->module);
    Lengths n = ranges_of(o, &ports);
    int64_t count = n.batch * n.source * n.target;
    return o->shapes <= count ||
           job_error(session->job,
                     "there are only %" PRId64 " shapes up to a batch of %" PRId64 " and lengths of %" PRId64
                     " and %" PRId64,
                     count, o->batch, o->source_length, o->target_length);
}

/* The batches of --lengths, and the longest of each size that they ask for. */
static bool read_batches(Job *job, Bench *o)
{
    o->batch = o->source_length = o->target_length = 0;
    o->n_batches = lengths_read(job, o->lengths, &o->batches);
    for (int64_t i = 0; i < o->n_batches; i++) {
        const BatchLengths *batch = &o->batches[i];
        o->batch = batch->n > o->batch ? batch->n : o->batch;
        for (int64_t b = 0; b < batch->n; b++) {
            o->source_length = batch->source[b] > o->source_length ? batch->source[b] : o->source_length;
            o->target_length = batch->target[b] > o->target_length ? batch->target[b] : o->target_length;
        }
    }
    return o->n_batches > 0;
}

/* ---- train and forward: one program again and again ---- */

typedef struct Inputs {
    Binding binding;
    double tokens, flops;
} Inputs;

static double count_tokens(Inputs *inputs, const Module *module)
{
    const ModelPorts ports = ports_of(module);
    const Feed feed = feed_of(module, &ports);
    const char *name = feed.target_dim ? feed.target_dim : feed.source_dim;
    const BoundDim *dim = name ? binding_dim(&inputs->binding, name) : NULL;
    double tokens = 0;
    for (int64_t b = 0; dim && b < dim->n; b++)
        tokens += dim->length[b];
    return tokens;
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
    Lengths lengths = lengths_of(o, &ports, number - 1);
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
    const char *key = arena_strndup(arena, text.data ? text.data : "", text.length);
    text_free(&text);
    return key;
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
            ExecDim *dim = &dims[i * program->n_dims + d];
            *dim = (ExecDim){bound->extent, bound->length ? 0 : bound->extent};
            for (int64_t b = 0; b < bound->n; b++)
                dim->total += bound->length[b];
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
            int64_t total = bound && !bound->length ? bound->extent : 0;
            for (int64_t b = 0; bound && bound->length && b < bound->n; b++)
                total += bound->length[b];
            if (bound && bound->extent > dims[d].extent)
                dims[d].extent = bound->extent;
            if (total > dims[d].total)
                dims[d].total = total;
        }
    }
    session->options.memory = (MemoryLimit){.bytes = o->common.memory, .dims = dims, .n_dims = n_dims};
}

static bool run_inputs(Session *session, const Bench *o, const TfcProgram *program, Exec *exec,
                       Inputs *all, Measured *m)
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
        double start = wall_seconds();
        if (!exec_run(exec))
            return out_of_memory(job);
        end_step(session, o, m, i, wall_seconds() - start);
        if (i < 0)
            continue;
        m->tokens += inputs->tokens;
        m->flops += inputs->flops;
        map_set(&m->shapes, shape_key(job->arena, &inputs->binding), m);
    }
    m->planned_bytes = exec_slab_bytes(exec);
    return true;
}

static bool bench_program(Session *session, const Bench *o, Store *store, Measured *m)
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
        return out_of_memory(job);
    Exec *exec = exec_new(program, store);
    bool ok = ((exec && reserve(job->arena, program, exec, all, n)) || out_of_memory(job)) &&
              weights_initialise(job, store, 1) &&
              run_inputs(session, o, program, exec, all, m);
    m->planned_bytes += store_bytes(store);
    exec_free(exec);
    return ok;
}

/* ---- decode: a beam search of exactly target_length tokens for a batch of sentences ---- */

static Tokens *make_sources(Arena *arena, const Lengths *lengths, int64_t vocab)
{
    Tokens *sources = ARENA_ARRAY(arena, Tokens, lengths->batch);
    for (int64_t i = 0; i < lengths->batch; i++) {
        int32_t *ids = ARENA_ARRAY(arena, int32_t, lengths->source);
        for (int64_t j = 0; j < lengths->source; j++)
            ids[j] = (int32_t)((i * 7919 + j * 104729) % vocab);
        sources[i] = (Tokens){ids, (int32_t)lengths->source};
    }
    return sources;
}

static bool decode_once(Inference *inference, const Bench *o, const Lengths *lengths, double *seconds)
{
    DecodeSettings settings = decode_defaults();
    settings.beam = (int32_t)o->beam;
    settings.length_factor = 0;
    settings.length_extra = (int32_t)lengths->target;
    settings.bos = 0;
    settings.until_eos = false;
    Arena *arena = arena_new();
    Tokens *sources = make_sources(arena, lengths, inference->stepper.vocab);
    Decoded *results = ARENA_ARRAY(arena, Decoded, lengths->batch);
    double start = wall_seconds();
    bool ok = decode_batch(&inference->stepper, &settings, inference->ports.source ? sources : NULL,
                           NULL, NULL, (int32_t)lengths->batch, arena, results);
    *seconds = wall_seconds() - start;
    arena_free(arena);
    return ok || out_of_memory(inference->job);
}

static bool bench_decode(Session *session, const Bench *o, Store *store, Measured *m)
{
    Job *job = session->job;
    Inference inference;
    inference_init(&inference, session, store, NULL);
    bool ok = inference_prepare_decode(&inference) && weights_initialise(job, store, 1);
    for (int64_t i = -o->warm_up; ok && i < o->steps; i++) {
        Lengths lengths = lengths_of(o, &inference.ports, i);
        double seconds;
        trace_use(i >= 0 ? m->trace : NULL);
        ok = decode_once(&inference, o, &lengths, &seconds);
        end_step(session, o, m, i, seconds);
        if (i < 0)
            continue;
        m->tokens += (double)(lengths.batch * lengths.target);
        map_set(&m->shapes, arena_printf(job->arena, "%" PRId64 " %" PRId64 " %" PRId64, lengths.batch, lengths.source, lengths.target), m);
    }
    m->planned_bytes = store_bytes(store);
    inference_free(&inference);
    return ok;
}

/* ---- results ---- */

static double sum_seconds(const Bench *o, const Measured *m)
{
    double sum = 0;
    for (int64_t i = 0; i < o->steps; i++)
        sum += m->seconds[i];
    return sum;
}

/* Of steps of one shape, by the median; else over all of them. */
static double rate_of(const Bench *o, const Measured *m, double amount)
{
    if (o->shapes || o->n_batches)
        return amount / sum_seconds(o, m);
    return amount / (double)o->steps / m->seconds[o->steps / 2];
}

static int compiled_after_first(const Session *session, const Measured *m)
{
    return jit_stats(session->jit).kernels_compiled - m->first;
}

static void print_json(const Session *session, const Bench *o, const Measured *m)
{
    JitStats stats = jit_stats(session->jit);
    double median = m->seconds[o->steps / 2];
    Text name = {0};
    text_quote(&name, session->model->module->name);
    printf(
        "{\"model\": %s, \"mode\": \"%s\", \"dtype\": \"%s\", \"threads\": %d, \"batch\": %" PRId64
        ", \"source_length\": %" PRId64 ", \"target_length\": %" PRId64 ", \"steps\": %" PRId64
        ", \"step_seconds_median\": %.9g, \"step_seconds_min\": %.9g, \"tokens_per_second\": %.9g"
        ", \"flops_per_second\": %.9g, \"compile_seconds\": %.6g, \"compiled_kernels\": %d"
        ", \"cached_kernels\": %d, \"shapes\": %" PRId64 ", \"compiled_after_first\": %d"
        ", \"planned_peak_bytes\": %" PRId64 ", \"resident_peak_bytes\": %" PRId64,
        name.data, o->mode, o->common.dtype, exec_threads(), o->batch, o->source_length, o->target_length,
        o->steps, median, m->seconds[0], rate_of(o, m, m->tokens), rate_of(o, m, m->flops),
        session->compile_seconds, stats.kernels_compiled, stats.kernels_cached,
        (int64_t)m->shapes.count, compiled_after_first(session, m), m->planned_bytes,
        peak_resident_bytes());
    text_free(&name);
    if (o->report) {
        Text report = {0};
        tracing_report_json(m->trace, sum_seconds(o, m), &report);
        printf(", \"kernels\": %s", report.data);
        text_free(&report);
    }
    puts("}");
}

static void print_text(const Session *session, const Bench *o, const Measured *m)
{
    double median = m->seconds[o->steps / 2];
    printf("%s, %s, %d threads, %" PRId64 " x %" PRId64 " -> %" PRId64 " tokens\n",
           session->model->module->name, o->mode, exec_threads(), o->batch, o->source_length,
           o->target_length);
    printf("step             %.1f ms (fastest %.1f)\n", 1e3 * median, 1e3 * m->seconds[0]);
    printf("tokens/s         %.0f of the target\n", rate_of(o, m, m->tokens));
    if (m->flops > 0)
        printf("products         %.1f GFLOP/s\n", rate_of(o, m, m->flops) / 1e9);
    JitStats stats = jit_stats(session->jit);
    printf("compilation      %.2f s, %d kernels, %d from the cache\n", session->compile_seconds,
           stats.kernels_compiled + stats.kernels_cached, stats.kernels_cached);
    if (o->shapes)
        printf("shapes           %" PRId64 " different ones, %d kernels compiled after the first step\n",
               (int64_t)m->shapes.count, compiled_after_first(session, m));
    printf("memory           %s planned, %s resident at most\n", bytes_text(m->planned_bytes),
           bytes_text(peak_resident_bytes()));
    if (o->report) {
        Text report = {0};
        tracing_report(m->trace, sum_seconds(o, m), &report);
        fputs(report.data, stdout);
        text_free(&report);
    }
}

static bool bench(Job *job, const Bench *o, const SessionOptions *options)
{
    Session session;
    if (!session_open(&session, job, options))
        return false;
    Measured m = {.seconds = ARENA_ARRAY(job->arena, double, o->steps)};
    map_init(&m.shapes, job->arena);
    Store *store = store_new();
    bool ok = check_shapes(&session, o) && tracing_open(job, o->common.trace, o->report, &m.trace) &&
              (!strcmp(o->mode, "decode") ? bench_decode(&session, o, store, &m)
                                          : bench_program(&session, o, store, &m));
    trace_use(NULL);
    if (ok) {
        qsort(m.seconds, (size_t)o->steps, sizeof *m.seconds, compare_seconds);
        (o->json ? print_json : print_text)(&session, o, &m);
    }
    ok = tracing_close(job, ok ? o->common.trace : NULL, m.trace) && ok;
    session_close(&session);
    store_free(store);
    return ok;
}

/* What the options cannot be together; EXIT_DONE if all is well. */
static int check_usage(const Bench *o)
{
    bool decode = !strcmp(o->mode, "decode");
    int64_t longest = o->source_length > o->target_length ? o->source_length : o->target_length;
    if (decode && !strcmp(o->common.dtype, "bf16"))
        return cli_usage_error("bench: decoding computes in f32: it would cast every weight for "
                               "each token");
    if (decode && o->common.memory)
        return cli_usage_error("bench: --memory goes with --mode train or forward");
    if (o->lengths && (o->shapes || decode))
        return cli_usage_error(
            "bench: --lengths goes with --mode train or forward, and not with --shapes");
    if (!o->lengths && o->batch * longest > LIMIT_batch_tokens)
        return cli_usage_error("bench: %" PRId64 " sentences of %" PRId64
                               " tokens are more than the %d tokens that a batch may have",
                               o->batch, longest, LIMIT_batch_tokens);
    return EXIT_DONE;
}

static int run_bench(Job *job, void *record, const Arguments *arguments)
{
    Bench *o = record;
    int status = check_usage(o);
    if (status)
        return status;
    if (o->lengths && !read_batches(job, o))
        return cli_finish(job, false);
    if (o->shapes)
        o->steps = o->shapes;
    ModelArgument model;
    return cli_finish(job, common_model(job, &o->common, arguments->words[0], &model) &&
                               bench(job, o, &model.options));
}

static const Option options[] = {
    {"mode", "train|forward|decode", FIELD(Bench, mode), 0, "train", "what a step is"},
    {"batch", "B", FIELD(Bench, batch), 1, "64", "sentences"},
    {"source-length", "S", FIELD(Bench, source_length), 1, "32", "tokens of each source"},
    {"target-length", "T", FIELD(Bench, target_length), 1, "32", "tokens of each target"},
    {"steps", "K", FIELD(Bench, steps), 1, "10", "steps measured"},
    {"warm-up", "K", FIELD(Bench, warm_up), 0, "2", "steps before them"},
    {"lengths", "FILE", FIELD(Bench, lengths), 0, NULL,
     "batches of these lengths instead, a line each: SOURCE:TARGET for every sentence"},
    {"shapes", "N", FIELD(Bench, shapes), 1, NULL,
     "measure N steps, each of another shape up to these, and count what is compiled "
     "after the first"},
    {"beam", "N", FIELD(Bench, beam), 1, "4", "of --mode decode"},
    {"dtype", "f32|bf16", FIELD(Bench, common.dtype), 0, "f32", "type of the products"},
    OPTION_MEMORY(Bench),
    OPTION_THREADS(Bench),
    OPTION_GEMM(Bench),
    OPTION_CPU(Bench),
    OPTION_PASSES(Bench),
    OPTION_LEVEL(Bench),
    OPTION_SET(Bench),
    {"json", NULL, FIELD(Bench, json), 0, NULL, "one object with every figure"},
    {"report", NULL, FIELD(Bench, report), 0, NULL,
     "the kernels by their share of the time: calls, ms, GFLOP/s, GB/s"},
    OPTION_TRACE(Bench),
};

const Command command_bench = {
    .name = "bench",
    .summary = "measure speed and memory of a model",
    .arguments = "MODEL.tfg|RUN",
    .min_arguments = 1,
    .max_arguments = 1,
    .text = "Runs a model on made-up tokens: seconds a step (median and minimum), target\n"
            "tokens a second, FLOP/s of the products, compile seconds, planned and resident\n"
            "bytes.",
    COMMAND_OPTIONS(Bench, options),
    .run = run_bench,
};
