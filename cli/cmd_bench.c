/* tfc bench: seconds, tokens, floating-point operations and bytes of a step. */
#include "cli/inference.h"
#include "cli/progress.h"
#include "cli/synthetic.h"
#include "cli/tracing.h"
#include "cli/weights.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Bench {
    const char *mode, *dtype, *trace;
    int64_t batch, source_length, target_length, steps, warm_up, threads, beam, level;
    bool json, report;
    TextList settings;
} Bench;

typedef struct Measured {
    double *seconds; /* a step, in order of size */
    int64_t tokens;  /* of the target, a step */
    double flops;    /* a step; 0: not counted */
    int64_t planned_bytes;
    Trace *trace;    /* of the measured steps, or NULL */
} Measured;

static int compare_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool out_of_memory(Cli *cli) { return cli_error(cli, "out of memory"); }

/* train and forward: one program again and again. */
static bool bench_program(Session *session, const Bench *o, Store *store, Measured *m)
{
    Cli *cli = session->cli;
    Binding binding = {.cli = cli};
    SyntheticOptions shape = {.batch = o->batch,
                              .source_length = o->source_length,
                              .target_length = o->target_length,
                              .seed = 1};
    synthetic_inputs(&binding, session->model->module, &shape);
    const float rate = 1e-4f, one = 1;
    const StTensor scalars[] = {
        {.name = "rate", .type = ST_F32, .count = 1, .data = &rate, .bytes = 4},
        {.name = "step", .type = ST_F32, .count = 1, .data = &one, .bytes = 4}};
    for (int i = 0; i < 2; i++)
        vec_push(cli->arena, binding.made, scalars[i]);
    Function *function =
        session_function(session, !strcmp(o->mode, "train") ? "train_step" : "forward");
    if (!function)
        return false;
    m->flops = synthetic_flops(&binding, function);
    const TfcProgram *program = session_compile(session, function);
    if (!program)
        return false;
    if (!store_add_program(store, program))
        return out_of_memory(cli);
    Exec *exec = exec_new(program, store);
    bool ok = (exec || out_of_memory(cli)) && weights_initialise(cli, store, 1) &&
              tensors_bind(&binding, program, exec);
    for (int64_t i = -o->warm_up; ok && i < o->steps; i++) {
        exec_set_rng(exec, 1, (uint64_t)(i + o->warm_up + 1));
        trace_use(i >= 0 ? m->trace : NULL);
        double start = wall_seconds();
        ok = exec_run(exec) || out_of_memory(cli);
        if (i >= 0)
            m->seconds[i] = wall_seconds() - start;
    }
    if (ok)
        m->planned_bytes = exec_slab_bytes(exec) + store_bytes(store);
    exec_free(exec);
    return ok;
}

/* decode: a beam search of exactly target_length tokens for a batch of sentences. */
static bool bench_decode(Session *session, const Bench *o, Store *store, Measured *m)
{
    Cli *cli = session->cli;
    Inference inference;
    inference_init(&inference, session, store, NULL);
    if (!inference_prepare_decode(&inference) || !weights_initialise(cli, store, 1)) {
        inference_free(&inference);
        return false;
    }
    DecodeSettings settings = decode_defaults();
    settings.beam = (int32_t)o->beam;
    settings.length_factor = 0;
    settings.length_extra = (int32_t)o->target_length;
    settings.bos = 0;
    settings.until_eos = false;
    Tokens *sources = ARENA_ARRAY(cli->arena, Tokens, o->batch);
    for (int64_t i = 0; i < o->batch; i++) {
        int32_t *ids = ARENA_ARRAY(cli->arena, int32_t, o->source_length);
        for (int64_t j = 0; j < o->source_length; j++)
            ids[j] = (int32_t)((i * 7919 + j * 104729) % inference.stepper.vocab);
        sources[i] = (Tokens){ids, (int32_t)o->source_length};
    }
    bool ok = true;
    for (int64_t i = -o->warm_up; ok && i < o->steps; i++) {
        Arena *arena = arena_new();
        Decoded *results = ARENA_ARRAY(arena, Decoded, o->batch);
        trace_use(i >= 0 ? m->trace : NULL);
        double start = wall_seconds();
        ok = decode_batch(&inference.stepper, &settings, inference.ports.source ? sources : NULL,
                          NULL, NULL, (int32_t)o->batch, arena, results) ||
             out_of_memory(cli);
        if (i >= 0)
            m->seconds[i] = wall_seconds() - start;
        arena_free(arena);
    }
    m->planned_bytes = store_bytes(store);
    inference_free(&inference);
    return ok;
}

static double sum_seconds(const Bench *o, const Measured *m)
{
    double sum = 0;
    for (int64_t i = 0; i < o->steps; i++)
        sum += m->seconds[i];
    return sum;
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
        ", \"cached_kernels\": %d"
        ", \"planned_peak_bytes\": %" PRId64 ", \"resident_peak_bytes\": %" PRId64,
        name.data, o->mode, o->dtype, exec_threads(), o->batch, o->source_length, o->target_length,
        o->steps, median, m->seconds[0], (double)m->tokens / median, m->flops / median,
        session->compile_seconds, stats.kernels_compiled, stats.kernels_cached, m->planned_bytes,
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
    printf("tokens/s         %.0f of the target\n", (double)m->tokens / median);
    if (m->flops > 0)
        printf("products         %.1f GFLOP/s\n", m->flops / median / 1e9);
    JitStats stats = jit_stats(session->jit);
    printf("compilation      %.2f s, %d kernels, %d from the cache\n", session->compile_seconds,
           stats.kernels_compiled + stats.kernels_cached, stats.kernels_cached);
    printf("memory           %s planned, %s resident at most\n", bytes_text(m->planned_bytes),
           bytes_text(peak_resident_bytes()));
    if (o->report) {
        Text report = {0};
        tracing_report(m->trace, sum_seconds(o, m), &report);
        fputs(report.data, stdout);
        text_free(&report);
    }
}

static bool bench(Cli *cli, const Bench *o, const SessionOptions *options)
{
    Session session;
    if (!session_open(&session, cli, options))
        return false;
    Measured m = {.seconds = ARENA_ARRAY(cli->arena, double, o->steps),
                  .tokens = o->batch * o->target_length};
    if (!ports_of(session.model->module).target)
        m.tokens = o->batch * o->source_length;
    Store *store = store_new();
    bool ok = tracing_open(cli, o->trace, o->report, &m.trace) &&
              (!strcmp(o->mode, "decode") ? bench_decode(&session, o, store, &m)
                                          : bench_program(&session, o, store, &m));
    trace_use(NULL);
    if (ok) {
        qsort(m.seconds, (size_t)o->steps, sizeof *m.seconds, compare_seconds);
        (o->json ? print_json : print_text)(&session, o, &m);
    }
    ok = tracing_close(cli, ok ? o->trace : NULL, m.trace) && ok;
    session_close(&session);
    store_free(store);
    return ok;
}

int command_bench(Cli *cli, int argc, char **argv)
{
    Bench o = {.mode = "train",
               .dtype = "f32",
               .batch = 64,
               .source_length = 32,
               .target_length = 32,
               .steps = 10,
               .warm_up = 2,
               .beam = 4,
               .level = 2};
    const Option options[] = {
        {"mode", "train|forward|decode", OPTION_CHOICE, &o.mode, 0, "what a step is (train)"},
        {"batch", "B", OPTION_INT, &o.batch, 1, "sentences (64)"},
        {"source-length", "S", OPTION_INT, &o.source_length, 1, "tokens of each source (32)"},
        {"target-length", "T", OPTION_INT, &o.target_length, 1, "tokens of each target (32)"},
        {"steps", "K", OPTION_INT, &o.steps, 1, "steps measured (10)"},
        {"warm-up", "K", OPTION_INT, &o.warm_up, 0, "steps before them (2)"},
        {"beam", "N", OPTION_INT, &o.beam, 1, "of --mode decode (4)"},
        {"dtype", "f32|bf16", OPTION_CHOICE, &o.dtype, 0, "type of the arithmetic (f32)"},
        {"threads", "N", OPTION_INT, &o.threads, 1, "threads (all processors)"},
        OPTION_GEMM(cli),
        {"-O", "0|2", OPTION_INT, &o.level, 0, "level of optimisation (2)"},
        {"set", "NAME=VALUE", OPTION_LIST, &o.settings, 0, "override a const of the model"},
        {"json", NULL, OPTION_FLAG, &o.json, 0, "one object with every figure"},
        {"report", NULL, OPTION_FLAG, &o.report, 0,
         "the kernels by their share of the time: calls, ms, GFLOP/s, GB/s"},
        OPTION_TRACE(&o.trace),
    };
    const Usage usage = {
        "bench", "MODEL.tfg",
        "Runs a model on made-up tokens of equal length: seconds a step (median and\n"
        "minimum), target tokens a second, FLOP/s of the products, compile seconds,\n"
        "planned and resident bytes.",
        1, 1};
    Arguments arguments;
    int status;
    if (options_parse(cli, &usage, options, OPTION_COUNT(options), argc, argv, &arguments, &status))
        return status;
    if (!strcmp(o.dtype, "bf16"))
        return cli_usage_error("bench: --dtype bf16 is not there yet; f32 is");
    if (o.threads)
        exec_set_threads((int)o.threads);
    SessionOptions session = session_defaults(arguments.words[0]);
    session.settings = o.settings;
    session.opt_level = o.level ? 2 : 0;
    return cli_finish(cli, bench(cli, &o, &session));
}
