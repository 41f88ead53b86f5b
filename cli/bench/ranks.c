/* tfc bench --ranks: what a step and the network take, and what follows for more ranks. */
#include "base/clock.h"
#include "base/json_write.h"
#include "base/median.h"
#include "cli/bench/bench.h"
#include "cli/bench/scaling.h"
#include "cli/progress.h"
#include "driver/train/ranks.h"
#include "runtime/exec/exec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Bytes a second: between ranks of a machine; that a thread sends, receives and adds (measured on
 * an EPYC, Zen 5, by bench/scaling measured). */
static const double MEMORY = 20e9, HANDLING = 1.5e9;
enum { MOST_RANKS = 1024 };

/* ---- the network between ranks, in pairs, both ways at a time ---- */

/* The seconds of the slowest rank. */
static double slowest(const Ranks *ranks, double seconds)
{
    double *all = memory_zeroed((size_t)ranks_count(ranks), sizeof *all), most = 0;
    all[ranks_mine(ranks)] = seconds;
    ranks_sum(ranks, all, ranks_count(ranks));
    for (int i = 0; i < ranks_count(ranks); i++)
        most = all[i] > most ? all[i] : most;
    free(all);
    return most;
}

/* Seconds of an exchange of so many bytes each way with the neighbour, the mean of some. */
static double exchange(const Ranks *ranks, char *out, char *in, int64_t bytes, int times)
{
    int other = ranks_mine(ranks) ^ 1;
    RankMessage messages[] = {{out, bytes, other, true}, {in, bytes, other, false}};
    double begin = 0, zero = 0;
    for (int i = -1; i < times; i++) {
        if (!i) {
            ranks_sum(ranks, &zero, 1); /* all are here */
            begin = clock_seconds();
        }
        if (other < ranks_count(ranks))
            ranks_move(ranks, messages, 2);
    }
    return slowest(ranks, (clock_seconds() - begin) / times);
}

static void measure_network(const Ranks *ranks, Scaling *s)
{
    enum { LARGE = 16 << 20, LARGE_TIMES = 4, SMALL = 8, SMALL_TIMES = 200 };
    char *room = memory_zeroed(2, LARGE);
    s->delay = exchange(ranks, room, room + LARGE, SMALL, SMALL_TIMES);
    s->speed = LARGE / exchange(ranks, room, room + LARGE, LARGE, LARGE_TIMES);
    free(room);
}

/* "GBIT,MICROSECONDS" */
static bool read_network(Job *job, const char *text, Scaling *s)
{
    char *end = NULL, *last = NULL;
    double gbit = strtod(text, &end), delay = end && *end == ',' ? strtod(end + 1, &last) : -1;
    if (!(gbit > 0 && gbit <= 1e6 && delay >= 0 && delay <= 1e9 && last > end + 1 && !*last))
        return job_error(job, "--network '%s': Gbit/s, a comma, and microseconds, such as 1,50",
                         text);
    s->speed = gbit * 1e9 / 8;
    s->delay = delay / 1e6;
    return true;
}

/* ---- a step ---- */

static bool measure_step(Session *session, Bench o, int64_t batch, BenchMeasured *m, Scaling *s)
{
    Store *store = store_new_or_end();
    o.batch = batch;
    *m = (BenchMeasured){.seconds = ARENA_ARRAY(session->job->arena, double, o.steps)};
    map_init(&m->shapes, session->job->arena);
    bool ok = bench_program(session, &o, store, m);
    s->bytes = s->largest = 0;
    for (int64_t i = 0; ok && i < store_count(store); i++) {
        const StoreTensor *tensor = store_at(store, i);
        double bytes = 4 * (double)tensor->count;
        if (tensor->role != TFC_TRAINED)
            continue;
        s->bytes += bytes;
        if (bytes <= s->largest)
            continue;
        s->largest = bytes;
        s->rows = tensor->rank ? (double)tensor->dims[0] : 1;
    }
    store_free(store);
    return ok;
}

/* The bytes of params that ranks send each other; the largest param is known. In a module of its
 * own, as that of the steps may have a function twice. */
static bool count_given(const Session *steps, Scaling *s)
{
    const ParamInfo **params;
    Session session;
    if (!session_open(&session, steps->job, &steps->options))
        return false;
    int n = derive_trained(session.model->module, &params);
    const Function *rounded =
        training_split_round(&session, derive_accumulate_rows(session.model->module));
    for (int i = 0; rounded && i < n; i++) {
        double elements = 1;
        for (int axis = 0; axis < params[i]->type.rank; axis++)
            elements *= (double)params[i]->type.dims[axis].size;
        double bytes = elements * (reads_as_bf16(rounded, params[i]->name) ? 2 : 4);
        s->given += bytes;
        if (4 * elements == s->largest && bytes > s->first)
            s->first = bytes;
    }
    session_close(&session);
    return rounded != NULL;
}

/* From steps of two sizes. */
static bool measure_steps(Session *session, const Bench *o, Scaling *s)
{
    const ModelPorts ports = ports_of(session->model->module);
    Lengths n = bench_lengths(o, &ports, -1);
    double row =
        (double)((ports.source ? n.source : 0) + (ports.target || !ports.source ? n.target : 0));
    int64_t small = (o->batch + 3) / 4, large = 4 * small;
    BenchMeasured few, many;
    if (!measure_step(session, *o, small, &few, s) || !measure_step(session, *o, large, &many, s))
        return false;
    double a = slowest(o->common.ranks, median_sort(few.seconds, (size_t)o->steps));
    double b = slowest(o->common.ranks, median_sort(many.seconds, (size_t)o->steps));
    s->token = (b - a) / (row * (double)(large - small));
    if (s->token <= 0) /* the machine had other things to do */
        s->token = b / (row * (double)large);
    s->rest = a - row * (double)small * s->token;
    s->rest = s->rest > 0 ? s->rest : 0;
    return true;
}

/* ---- the table ---- */

static void print_json(const Session *session, const Bench *o, const Scaling *s)
{
    Text out = {0};
    JsonWriter json = {.out = &out};
    json_open(&json, NULL, '{');
    json_put_text(&json, "model", session->model->module->name);
    json_put_text(&json, "dtype", session_dtype(&session->options));
    json_put_integer(&json, "threads", exec_threads());
    json_put_integer(&json, "params", (int64_t)(s->bytes / 4));
    json_put_integer(&json, "bytes_given", (int64_t)s->given);
    json_put_number(&json, "seconds_per_token", s->token, 9);
    json_put_number(&json, "seconds_per_update", s->rest, 9);
    json_put_number(&json, "tokens_per_rank", s->tokens, 9);
    json_put_number(&json, "gbit_per_second", s->speed * 8 / 1e9, 9);
    json_put_number(&json, "microseconds", s->delay * 1e6, 9);
    json_put_integer(&json, "machine_ranks", s->machine);
    json_open(&json, "scaling", '[');
    for (int64_t n = 1; n <= MOST_RANKS; n *= 2) {
        json_open(&json, NULL, '{');
        json_put_integer(&json, "ranks", n);
        for (int way = 0; way < N_SCALING_WAYS; way++)
            json_put_number(&json, scaling_ways[way], scaling_rate(s, way, n), 9);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    printf("%s\n", out.data);
    text_free(&out);
}

static void print_text(const Session *session, const Bench *o, const Scaling *s, bool measured)
{
    double one = scaling_rate(s, SCALING_HALVING, 1);
    printf("network    %.3g Gbit/s each way, %.3g µs until a message arrives, %s\n",
           s->speed * 8 / 1e9, s->delay * 1e6, measured ? "measured" : "as --network says");
    printf("step       %.3g ms for 1,000 tokens and %.3g ms for the update; %s of params, ",
           1e6 * s->token, 1e3 * s->rest, bytes_text((int64_t)s->bytes));
    printf("%s go to other ranks, %s\n", bytes_text((int64_t)s->given),
           session_dtype(&session->options));
    printf(
        "then       tokens a second of all, and their share of N times one; %.0f a rank and step\n\n",
        s->tokens);
    printf("%6s", "ranks");
    for (int way = 0; way < N_SCALING_WAYS; way++)
        printf("  %18s", scaling_ways[way]);
    putchar('\n');
    for (int64_t n = 1; n <= MOST_RANKS; n *= 2) {
        printf("%6" PRId64, n);
        for (int way = 0; way < N_SCALING_WAYS; way++) {
            double rate = scaling_rate(s, way, n);
            printf("  %10.0f (%3.0f %%)", rate, 100 * rate / one / (double)n);
        }
        putchar('\n');
    }
}

bool bench_ranks(Session *session, const Bench *o)
{
    const Ranks *ranks = o->common.ranks;
    Scaling s = {.tokens = (double)o->rank_tokens,
                 .memory = MEMORY,
                 .handling = HANDLING * exec_threads(),
                 .shards = o->shards,
                 .machine = o->machine_ranks};
    bool measured = !o->network;
    if (measured)
        measure_network(ranks, &s);
    bool ok = (measured || read_network(session->job, o->network, &s)) &&
              measure_steps(session, o, &s) && count_given(session, &s);
    if (!ok || ranks_mine(ranks))
        return ok;
    if (o->json)
        print_json(session, o, &s);
    else
        print_text(session, o, &s, measured);
    return true;
}
