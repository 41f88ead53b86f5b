/* A trace: what ran when on which thread. While one is in use every run of an Exec
 * records its steps, and each thread the slices of them that it ran; whoever else has
 * something to show (loading, validating, saving) adds spans. Written as Chrome's
 * trace events, which chrome://tracing and ui.perfetto.dev draw, or summed up by kernel.
 *
 * Memory is bounded and taken when the trace is made; what does not fit is counted and
 * left out. Without a trace in use a step costs one test of a pointer. */
#ifndef RUNTIME_EXEC_TRACE_H
#define RUNTIME_EXEC_TRACE_H

#include "base/diag.h"
#include "runtime/exec/program.h"

typedef struct Trace Trace;

/* For as many threads as exec_threads() says now; `steps` at most, and as many slices
 * a thread (0: the usual, some minutes of a small model). NULL: out of memory. */
Trace *trace_new(int32_t steps);
void trace_free(Trace *trace); /* must not be in use; NULL is allowed */
/* Every run from now on is recorded; NULL: none is. Not while one runs. */
void trace_use(Trace *trace);
Trace *trace_in_use(void);

/* A span on the calling thread:
 *   int64_t begin = trace_begin();
 *   …
 *   trace_end("validation", begin);
 * Both do nothing without a trace in use. `name` must outlive the trace. */
int64_t trace_begin(void);
void trace_end(const char *name, int64_t begin);

/* Steps, slices and spans that found no room. */
int64_t trace_dropped(const Trace *trace);

/* Makes this moment the trace's zero: of several processes, each does so at the same time. Before
 * the first record. */
void trace_restart(Trace *trace);

/* The programs that ran must still be there for what follows. */

/* TraceSink: takes what is written, piece by piece. */
typedef struct TraceSink {
    void *context;
    void (*put)(void *context, const char *text, size_t bytes);
} TraceSink;
/* The events as elements of a list, those of all processes but the first after a comma. `process`:
 * from 1. */
void trace_put_events(const Trace *trace, int process, const char *name, TraceSink sink);

/* TraceOthers: what other processes have put, for the same file; and this one's name. */
typedef struct TraceOthers {
    const char *name;
    void *context;
    void (*put)(void *context, TraceSink sink);
} TraceOthers;
bool trace_write(const Trace *trace, Diagnostics *diags, const char *path,
                 const TraceOthers *others); /* NULL: there are none */

/* All steps that are alike: the same kernel, a product of the same shape, copying. */
typedef struct TraceTotal {
    TfcStepKind kind;
    const char *kernel; /* its name, "product", "pack", "copy" or "zeros" */
    const char *shape;  /* of the first; "" of kernels, copies and zeros */
    const char *name;   /* the first step's: where in the model */
    int64_t calls;
    double seconds; /* on the clock, of all calls */
    double flops;   /* 0: not known */
    double bytes;   /* of operands and results, each once a call */
} TraceTotal;
/* The longest first, in the arena; *n of them. */
TraceTotal *trace_totals(const Trace *trace, Arena *arena, int *n);

#endif
