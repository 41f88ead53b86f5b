/* tfc bench: seconds, tokens, floating-point operations and bytes of a step: the options, the
 * shapes that they ask for, and the figures. */
#include "base/json_write.h"
#include "base/limits.h"
#include "base/machine.h"
#include "base/median.h"
#include "base/training.h"
#include "cli/bench/bench.h"
#include "cli/commands/commands.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/tracing.h"
#include "passes/clone.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- shapes ---- */

/* How many shapes there are up to the largest. */
static Lengths ranges_of(const Bench *o, const ModelPorts *ports)
{
    return (Lengths){o->batch, ports->source ? o->source_length : 1,
                     ports->target || !ports->source ? o->target_length : 1};
}

Lengths bench_lengths(const Bench *o, const ModelPorts *ports, int64_t step)
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
                     "there are only %" PRId64 " shapes up to a batch of %" PRId64
                     " and lengths of %" PRId64 " and %" PRId64,
                     count, o->batch, o->source_length, o->target_length);
}

/* Whether the model has positions for so many tokens of an input (NULL: it has none). `option`
 * names the length. */
static bool check_length(const Session *session, const char *option, const char *input,
                         int64_t length)
{
    const Module *module = session->model->module;
    Op *op = input ? find_input(module_function(module, "model"), input) : NULL;
    const Type *type = op ? &op_result(op)->type : NULL;
    const char *dimension = type && type->rank > 1 && !dim_is_const(type->dims[1])
                                ? module->symbols.data[type->dims[1].symbol].name
                                : NULL;
    const PositionTable table = dimension ? position_table(module, dimension) : (PositionTable){0};
    return !table.length || length <= table.length ||
           job_error(session->job,
                     "%s %" PRId64 ": the model takes %" PRId64 " at most, the positions of '%s'",
                     option, length, table.length, table.name);
}

static bool check_lengths(const Session *session, const Bench *o)
{
    const ModelPorts ports = ports_of(session->model->module);
    return check_length(session, o->lengths ? "--lengths: a source of" : "--source-length",
                        ports.source, o->source_length) &&
           check_length(session, o->lengths ? "--lengths: a target of" : "--target-length",
                        ports.target, o->target_length);
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
            o->source_length =
                batch->source[b] > o->source_length ? batch->source[b] : o->source_length;
            o->target_length =
                batch->target[b] > o->target_length ? batch->target[b] : o->target_length;
        }
    }
    return o->n_batches > 0;
}

void bench_end_step(const Session *session, const Bench *o, BenchMeasured *m, int64_t step,
                    double seconds)
{
    if (step == -o->warm_up)
        m->first = jit_stats(session->jit).kernels_compiled;
    if (step >= 0)
        m->seconds[step] = seconds;
}

/* ---- results ---- */

static double sum_seconds(const Bench *o, const BenchMeasured *m)
{
    double sum = 0;
    for (int64_t i = 0; i < o->steps; i++)
        sum += m->seconds[i];
    return sum;
}

/* Of steps of one shape, by the median; else over all of them. */
static double rate_of(const Bench *o, const BenchMeasured *m, double amount)
{
    if (o->shapes || o->n_batches)
        return amount / sum_seconds(o, m);
    return amount / (double)o->steps / m->seconds[o->steps / 2];
}

static int compiled_after_first(const Session *session, const BenchMeasured *m)
{
    return jit_stats(session->jit).kernels_compiled - m->first;
}

static void print_json(const Session *session, const Bench *o, const BenchMeasured *m)
{
    JitStats stats = jit_stats(session->jit);
    double median = m->seconds[o->steps / 2];
    Text out = {0};
    JsonWriter json = {.out = &out};
    json_open(&json, NULL, '{');
    json_put_text(&json, "model", session->model->module->name);
    json_put_text(&json, "mode", o->mode);
    json_put_text(&json, "dtype", session_dtype(&session->options));
    json_put_integer(&json, "threads", exec_threads());
    json_put_integer(&json, "workers", o->common.workers ? o->common.workers : 1);
    json_put_integer(&json, "batch", o->batch);
    json_put_integer(&json, "source_length", o->source_length);
    json_put_integer(&json, "target_length", o->target_length);
    json_put_integer(&json, "steps", o->steps);
    json_put_number(&json, "step_seconds_median", median, 9);
    json_put_number(&json, "step_seconds_min", m->seconds[0], 9);
    if (m->first_rate > 0)
        json_put_number(&json, "first_tokens_per_second", m->first_rate, 9);
    json_put_number(&json, "tokens_per_second", rate_of(o, m, m->tokens), 9);
    json_put_number(&json, "flops_per_second", rate_of(o, m, m->flops), 9);
    json_put_number(&json, "compile_seconds", session->compile_seconds, 6);
    json_put_integer(&json, "compiled_kernels", stats.kernels_compiled);
    json_put_integer(&json, "cached_kernels", stats.kernels_cached);
    json_put_integer(&json, "shapes", (int64_t)m->shapes.count);
    json_put_integer(&json, "compiled_after_first", compiled_after_first(session, m));
    json_put_integer(&json, "params", m->params);
    json_put_integer(&json, "planned_peak_bytes", m->planned_bytes);
    json_put_integer(&json, "resident_peak_bytes", peak_resident_bytes());
    if (o->report)
        tracing_report_json(m->trace, sum_seconds(o, m), &json);
    json_close(&json, '}');
    puts(out.data);
    text_free(&out);
}

static void print_text(const Session *session, const Bench *o, const BenchMeasured *m)
{
    double median = m->seconds[o->steps / 2];
    printf("%s, %s, %d thread%s, %" PRId64 " x %" PRId64 " -> %" PRId64 " tokens\n",
           session->model->module->name, o->mode, exec_threads(),
           text_plural(exec_threads(), "", "s"), o->batch, o->source_length, o->target_length);
    printf("step             %.1f ms (fastest %.1f)\n", 1e3 * median, 1e3 * m->seconds[0]);
    printf("tokens/s         %.0f of the target", rate_of(o, m, m->tokens));
    if (m->first_rate > 0)
        printf(", %.0f in the first step", m->first_rate);
    puts("");
    if (m->flops > 0)
        printf("products         %.1f GFLOP/s\n", rate_of(o, m, m->flops) / 1e9);
    JitStats stats = jit_stats(session->jit);
    printf("compilation      %.2f s, %d kernels, %d from the cache\n", session->compile_seconds,
           stats.kernels_compiled + stats.kernels_cached, stats.kernels_cached);
    if (o->shapes)
        printf("shapes           %" PRId64
               " different ones, %d kernels compiled after the first step\n",
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

static bool decodes(const Bench *o)
{
    return !strcmp(o->mode, "decode") || !strcmp(o->mode, "prefill");
}

static bool bench(Job *job, const Bench *o, const SessionOptions *options)
{
    Session session;
    if (precision_quant(options->precision) && !strcmp(o->mode, "train"))
        return job_error(job,
                         "--mode train measures a step of training, and integers (%s) have no "
                         "gradient: --mode decode, prefill or forward, or --dtype f32 or bf16",
                         session_dtype(options));
    if (!session_open(&session, job, options))
        return false;
    if (!check_lengths(&session, o)) {
        session_close(&session);
        return false;
    }
    if (o->ranks) {
        bool done = bench_ranks(&session, o);
        session_close(&session);
        return done;
    }
    BenchMeasured m = {.seconds = ARENA_ARRAY(job->arena, double, o->steps)};
    map_init(&m.shapes, job->arena);
    Store *store = store_new_or_end();
    bool ok = check_shapes(&session, o) &&
              tracing_open(job, o->common.trace, o->report, &m.trace) &&
              (decodes(o) ? bench_decode : bench_program)(&session, o, store, &m);
    trace_use(NULL);
    for (int64_t i = 0; i < store_count(store); i++)
        if (store_is_param(store_at(store, i)))
            m.params += store_at(store, i)->count;
    if (ok) {
        median_sort(m.seconds, (size_t)o->steps);
        (o->json ? print_json : print_text)(&session, o, &m);
    }
    ok = tracing_close(job, ok ? o->common.trace : NULL, m.trace, NULL) && ok;
    session_close(&session);
    store_free(store);
    return ok;
}

/* What the options cannot be together; EXIT_DONE if all is well. */
static int check_usage(const Bench *o)
{
    bool decode = decodes(o);
    int64_t longest = o->source_length > o->target_length ? o->source_length : o->target_length;
    if (o->ranks &&
        (strcmp(o->mode, "train") || o->shapes || o->lengths || o->report || o->common.trace))
        return cli_usage_error("--ranks measures a step of training: leave --mode, --shapes, "
                               "--lengths, --report and --trace out");
    if (o->network && !o->ranks)
        return cli_usage_error("--network is for --ranks: add that, or leave --network out");
    if (decode && o->common.memory)
        return cli_usage_error("--memory is for --mode train or forward: leave it out");
    if (!decode && o->common.workers)
        return cli_usage_error("--workers is for --mode decode or prefill: leave it out");
    if (o->lengths && (o->shapes || decode))
        return cli_usage_error(
            "--lengths is for --mode train or forward without --shapes: leave it out");
    if (!o->lengths && o->batch * longest > LIMIT_batch_tokens)
        return cli_usage_error("%" PRId64 " sentences of %" PRId64
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
    if (o->ranks && (status = cli_ranks_open(job, &command_bench, o, arguments)))
        return cli_ranks_close(o->common.ranks, cli_finish(job, false));
    if (o->ranks && !o->network && ranks_count(o->common.ranks) < 2)
        return cli_ranks_close(
            o->common.ranks,
            cli_usage_error("--ranks measures the network between ranks: start it "
                            "with mpirun -np 2, or say --network GBIT,MICROSECONDS"));
    ModelArgument model;
    status = cli_finish(job, common_model(job, &o->common, arguments->words[0], &model) &&
                                 bench(job, o, &model.options));
    return cli_ranks_close(o->common.ranks, status);
}

static const Option options[] = {
    {"mode", "train|forward|decode|prefill", FIELD(Bench, mode), 0, "train",
     "measure training steps, forward passes, searches, or the first token after prompts"},
    {"batch", "B", FIELD(Bench, batch), 1, "64", "sentences of a batch"},
    {"source-length", "S", FIELD(Bench, source_length), 1, "32", "tokens of each source"},
    {"target-length", "T", FIELD(Bench, target_length), 1, "32",
     "tokens of each target; of --mode prefill of each prompt"},
    {"steps", "K", FIELD(Bench, steps), 1, "10", "steps measured"},
    {"warm-up", "K", FIELD(Bench, warm_up), 0, "2", "steps before the measured ones"},
    {"lengths", "FILE", FIELD(Bench, lengths), 0, NULL,
     "use batches of given lengths instead, a line each: SOURCE:TARGET for every sentence"},
    {"shapes", "N", FIELD(Bench, shapes), 1, NULL,
     "measure N steps, each of another shape up to --batch, --source-length and --target-length, "
     "and count the kernels that are compiled after the first step"},
    {"ranks", NULL, FIELD(Bench, ranks), 0, NULL,
     "predict trainings by up to 1,024 ranks, from a step and the network between ranks (mpirun)"},
    {"network", "GBIT,MICROSECONDS", FIELD(Bench, network), 0, NULL,
     "for --ranks: assume a network of GBIT Gbit/s each way, with MICROSECONDS until a message "
     "arrives (measured)"},
    {"rank-tokens", "N", FIELD(Bench, rank_tokens), 1, "25000",
     "for --ranks: tokens of each rank in a step, source and target"},
    {"machine-ranks", "N", FIELD(Bench, machine_ranks), 1, "1",
     "for --ranks: ranks that share a machine"},
    {"shards", "N", FIELD(Bench, shards), 1, TRAINING_TEXT(TRAINING_RANKS_SHARDS),
     "for --ranks: pieces of a batch, which ranks share; more ranks compute a piece each"},
    OPTION_RANK_TIMEOUT(Bench),
#define RECORD Bench
#define BEAM DECODING_OPTION
#include "runtime/decode/settings.def"
    OPTION_PRODUCTS(Bench),
    OPTION_MEMORY(Bench),
    OPTION_THREADS(Bench),
    {"workers", "N", MACHINE(Bench, common.workers), 1, NULL,
     "for --mode decode and prefill: batches decoded at the same time, which share --threads (1)"},
    OPTION_GEMM(Bench),
    OPTION_CPU(Bench),
    OPTION_FMA(Bench),
    OPTION_PASSES(Bench),
    OPTION_LEVEL(Bench),
    OPTION_SET(Bench),
    {"json", NULL, FIELD(Bench, json), 0, NULL, "print one JSON object with every figure"},
    {"report", NULL, FIELD(Bench, report), 0, NULL,
     "list the kernels by their share of the time: calls, ms, GFLOP/s, GB/s"},
    OPTION_TRACE(Bench),
    OPTION_ALLOW_OUTSIDE(Bench),
};

const Command command_bench = {
    .name = "bench",
    .summary = "measure speed and memory of a model",
    .arguments = "MODEL.tfg|RUN",
    .min_arguments = 1,
    .max_arguments = 1,
    .trains = true,
    .text =
        "Runs a model on made-up tokens and prints seconds per step (median and minimum), target "
        "tokens per second, FLOP/s of the products (--mode train and forward), compile seconds, "
        "planned and resident bytes. With --mode decode and prefill (tokens of prompts) it also "
        "prints the tokens per second of the process's first step, which prepares the weights.",
    COMMAND_OPTIONS(Bench, options),
    .run = run_bench,
};
