/* Recording; see trace.h. Each thread writes into its own slices. */
#define _GNU_SOURCE
#include "runtime/exec/trace_state.h"

#include "base/clock.h"
#include "runtime/exec/exec.h"

#include <stdlib.h>

enum { USUAL_STEPS = 1 << 19, SPARE_THREADS = 2 };

static Trace *in_use;

void trace_use(Trace *trace) { in_use = trace; }
Trace *trace_in_use(void) { return in_use; }

int64_t trace_now(const Trace *trace) { return clock_nanoseconds() - trace->start; }

Trace *trace_new(int32_t steps)
{
    static _Atomic uint64_t made;
    Trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        return NULL;
    trace->number = atomic_fetch_add(&made, 1) + 1;
    trace->capacity = steps > 0 ? steps : USUAL_STEPS;
    trace->n_threads = exec_threads() + SPARE_THREADS;
    trace->steps = calloc((size_t)trace->capacity, sizeof *trace->steps);
    trace->spans = calloc(TRACE_SPANS, sizeof *trace->spans);
    trace->threads = calloc((size_t)trace->n_threads, sizeof *trace->threads);
    bool ok = trace->steps && trace->spans && trace->threads;
    for (int32_t i = 0; ok && i < trace->n_threads; i++)
        ok = (trace->threads[i].slices = calloc((size_t)trace->capacity, sizeof(TraceSlice))) !=
             NULL;
    trace->start = clock_nanoseconds();
    if (ok)
        return trace;
    trace_free(trace);
    return NULL;
}

void trace_restart(Trace *trace) { trace->start = clock_nanoseconds(); }

void trace_free(Trace *trace)
{
    if (!trace)
        return;
    for (int32_t i = 0; trace->threads && i < trace->n_threads; i++)
        free(trace->threads[i].slices);
    free(trace->threads);
    free(trace->spans);
    free(trace->steps);
    free(trace);
}

int64_t trace_dropped(const Trace *trace) { return atomic_load(&trace->dropped); }

static void drop(Trace *trace) { atomic_fetch_add(&trace->dropped, 1); }

/* The calling thread's place in the trace, taken at its first record; -1: none is left. */
static int32_t find_thread(Trace *trace)
{
    static _Thread_local uint64_t number;
    static _Thread_local int32_t place;
    if (number != trace->number) {
        number = trace->number;
        place = atomic_fetch_add(&trace->used_threads, 1);
    }
    return place < trace->n_threads ? place : -1;
}

TraceStep *trace_add_step(Trace *trace)
{
    /* The first test keeps the count from wrapping around in a run of days. */
    if (atomic_load(&trace->used_steps) < trace->capacity) {
        int32_t i = atomic_fetch_add(&trace->used_steps, 1);
        if (i < trace->capacity)
            return &trace->steps[i];
    }
    drop(trace);
    return NULL;
}

void trace_add_task(Trace *trace, const TraceStep *step, int64_t begin, int64_t end)
{
    int32_t number = (int32_t)(step - trace->steps), t = find_thread(trace);
    TraceThread *thread = t >= 0 ? &trace->threads[t] : NULL;
    if (thread && thread->n && thread->slices[thread->n - 1].step == number) {
        thread->slices[thread->n - 1].end = end;
        thread->slices[thread->n - 1].tasks++;
    } else if (thread && thread->n < trace->capacity)
        thread->slices[thread->n++] = (TraceSlice){number, 1, begin, end};
    else
        drop(trace);
}

int64_t trace_begin(void) { return in_use ? trace_now(in_use) : 0; }

void trace_end(const char *name, int64_t begin)
{
    Trace *trace = in_use;
    if (!trace)
        return;
    int32_t thread = find_thread(trace);
    bool room = thread >= 0 && atomic_load(&trace->used_spans) < TRACE_SPANS;
    int32_t i = room ? atomic_fetch_add(&trace->used_spans, 1) : TRACE_SPANS;
    if (i < TRACE_SPANS)
        trace->spans[i] = (TraceSpan){name, thread, begin, trace_now(trace)};
    else
        drop(trace);
}
