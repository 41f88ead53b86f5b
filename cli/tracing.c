/* Opening and writing traces; the table of kernels. */
#include "cli/tracing.h"

#include "base/file.h"
#include "cli/ranks.h"

#include <inttypes.h>
#include <stdio.h>

bool tracing_open(Job *job, const char *path, bool report, Trace **trace)
{
    *trace = NULL;
    if (path && !file_can_write(&job->diags, path)) /* before hours of training go by */
        return false;
    if (path || report)
        *trace = trace_new(0);
    return *trace || !(path || report) || job_error(job, "out of memory for the trace");
}

bool tracing_open_ranks(Job *job, const char *path, const Ranks *ranks, Trace **trace)
{
    double zero = 0;
    bool writes = path && !ranks_mine(ranks);
    if (!tracing_open(job, writes ? path : NULL, path && !writes, trace))
        return false;
    ranks_sum(ranks, &zero, 1); /* all are here */
    if (*trace)
        trace_restart(*trace);
    return true;
}

/* ---- from other ranks to rank 0: pieces of text behind their lengths, 0 at the end ---- */

static void send_piece(void *context, const char *text, size_t bytes)
{
    cli_ranks_send(context, text, bytes);
}

static void put_others(void *context, TraceSink sink)
{
    Ranks *ranks = context;
    Text piece = {0};
    for (int rank = 1; rank < ranks_count(ranks); rank++)
        for (;;) {
            piece.length = 0;
            cli_ranks_receive(ranks, rank, &piece);
            if (!piece.length)
                break;
            sink.put(sink.context, piece.data, piece.length);
        }
    text_free(&piece);
}

static void send_all(const Trace *trace, const char *name, Ranks *ranks)
{
    trace_put_events(trace, ranks_mine(ranks) + 1, name, (TraceSink){ranks, send_piece});
    cli_ranks_send(ranks, NULL, 0);
}

static bool write_all(Job *job, const char *path, const Trace *trace, Ranks *ranks)
{
    const char *name = ranks ? ranks_name(ranks, job->arena) : NULL;
    TraceOthers others = {name, ranks, put_others};
    if (!ranks_mine(ranks))
        return trace_write(trace, &job->diags, path, ranks ? &others : NULL);
    send_all(trace, name, ranks);
    return true;
}

bool tracing_close(Job *job, const char *path, Trace *trace, Ranks *ranks)
{
    if (!trace)
        return true;
    trace_use(NULL);
    bool ok = !path || write_all(job, path, trace, ranks);
    int64_t dropped = trace_dropped(trace);
    if (dropped)
        diag_remark(&job->diags, (Loc){0},
                    "the trace was full: %" PRId64
                    " slices came after what it holds and were left out",
                    dropped);
    trace_free(trace);
    return ok;
}

static double per_second(double amount, double seconds)
{
    return seconds > 0 ? amount / seconds / 1e9 : 0;
}

void tracing_report(const Trace *trace, double seconds, Text *out)
{
    Arena *arena = arena_new();
    int n;
    const TraceTotal *totals = trace_totals(trace, arena, &n);
    double sum = 0;
    text_add(out, "\n share      calls          ms   GFLOP/s      GB/s  kernel\n");
    for (int i = 0; i < n; i++) {
        const TraceTotal *t = &totals[i];
        sum += t->seconds;
        text_add(out, "%5.1f %% %10" PRId64 " %11.3f", 100 * t->seconds / seconds, t->calls,
                 1e3 * t->seconds);
        if (t->flops > 0)
            text_add(out, " %9.1f", per_second(t->flops, t->seconds));
        else
            text_add(out, " %9s", "");
        text_add(out, " %9.1f  %s%s%s", per_second(t->bytes, t->seconds), t->kernel,
                 *t->shape ? " " : "", t->shape);
        text_add(out, "%s%s\n", *t->name ? "  " : "", t->name);
    }
    text_add(out, "%5.1f %% %10s %11.3f %30s between steps\n", 100 * (seconds - sum) / seconds, "",
             1e3 * (seconds - sum), "");
    if (trace_dropped(trace))
        text_add(out, "incomplete: %" PRId64 " slices found no room\n", trace_dropped(trace));
    arena_free(arena);
}

void tracing_report_json(const Trace *trace, double seconds, JsonWriter *json)
{
    Arena *arena = arena_new();
    int n;
    const TraceTotal *totals = trace_totals(trace, arena, &n);
    json_open(json, "kernels", '[');
    for (int i = 0; i < n; i++) {
        const TraceTotal *t = &totals[i];
        json_open(json, NULL, '{');
        json_put_text(json, "kernel", t->kernel);
        json_put_text(json, "shape", t->shape);
        json_put_text(json, "first", t->name);
        json_put_integer(json, "calls", t->calls);
        json_put_number(json, "seconds", t->seconds, 9);
        json_put_number(json, "share", t->seconds / seconds, 6);
        json_put_number(json, "flops", t->flops, 9);
        json_put_number(json, "bytes", t->bytes, 9);
        json_close(json, '}');
    }
    json_close(json, ']');
    arena_free(arena);
}
