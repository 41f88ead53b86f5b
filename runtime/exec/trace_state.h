/* Inside a Trace: shared by what records (trace.c), what runs steps (run.c) and what
 * writes and sums up (trace_write.c). */
#ifndef RUNTIME_EXEC_TRACE_STATE_H
#define RUNTIME_EXEC_TRACE_STATE_H

#include "runtime/exec/trace.h"

#include <stdatomic.h>

/* One run of a step of a program. */
typedef struct TraceStep {
    const TfcProgram *program;
    int32_t step;
    int64_t begin, end; /* nanoseconds since the trace was made */

    /* Of a product: m, n, k (the largest) and how many. Of a kernel: units, and
     * elements a unit. Of packs, copies and zeros: bytes. */
    int64_t shape[4];
    double flops, bytes;
} TraceStep;

/* From a thread's first task of a step to the end of its last. */
typedef struct TraceSlice {
    int32_t step, tasks;
    int64_t begin, end;
} TraceSlice;

typedef struct TraceSpan {
    const char *name;
    int32_t thread;
    int64_t begin, end;
} TraceSpan;

typedef struct TraceThread {
    TraceSlice *slices;
    int32_t n;
} TraceThread;

enum { TRACE_SPANS = 1 << 16 };

struct Trace {
    int64_t start;
    uint64_t number; /* no two traces of a process have the same */
    int32_t capacity, n_threads;
    TraceStep *steps;
    TraceThread *threads;
    TraceSpan *spans;
    _Atomic int32_t used_steps, used_threads, used_spans; /* may pass the capacity: dropped */
    _Atomic int64_t dropped;
};

int64_t trace_now(const Trace *trace);
/* One more step, which the thread that runs the program fills; NULL: the trace is full. */
TraceStep *trace_add_step(Trace *trace);
/* Records that the calling thread ran a task of the step. */
void trace_add_task(Trace *trace, const TraceStep *step, int64_t begin, int64_t end);
static inline int32_t trace_filled(int32_t used, int32_t capacity)
{
    return used < capacity ? used : capacity;
}

#endif
