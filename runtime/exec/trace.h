/* A trace: what ran when on which thread. While one is in use every run of an Exec
 * records its steps, and each thread the slices of them that it ran; other work (loading,
 * validating, saving) is recorded as spans. A trace is written as Chrome's
 * trace events, which chrome://tracing and ui.perfetto.dev draw, or summed up by kernel.
 *
 * Memory is bounded and taken when the trace is made; what does not fit is counted and
 * left out. Without a trace in use a step costs one test of a pointer. */
#ifndef RUNTIME_EXEC_TRACE_H
#define RUNTIME_EXEC_TRACE_H

#include "base/diag.h"
#include "runtime/exec/program.h"

typedef struct Trace Trace;

/* Room for as many threads as exec_threads() says now, for `steps` steps, and for as many slices
 * of each thread. 0 steps: the usual 2^19, some minutes of a small model. NULL: memory ran out. */
Trace *trace_new(int32_t steps);
void trace_free(Trace *trace); /* must not be in use; NULL is allowed */
/* Every run from now on is recorded; NULL: none is. Not to be called during a run. */
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

/* Makes this moment the trace's time zero. Several processes call it at the same moment, before the
 * first record. */
void trace_restart(Trace *trace);

/* The functions below read the programs that ran: these must not be freed before. */

/* TraceSink: receives what is written, piece by piece. */
typedef struct TraceSink {
    void *context;
    void (*put)(void *context, const char *text, size_t bytes);
} TraceSink;
/* Writes the events as elements of a JSON list; a comma comes first unless `process` is 1.
 * `process`: the process's number, from 1; `name`: the name that viewers show for it. */
void trace_put_events(const Trace *trace, int process, const char *name, TraceSink sink);

/* TraceOthers: for a file with the events of several processes: this one's name, and what writes
 * the events of the others. */
typedef struct TraceOthers {
    const char *name;
    void *context;
    void (*put)(void *context, TraceSink sink);
} TraceOthers;
/* Writes a trace file. `others` NULL: this is the only process. False after errors. */
bool trace_write(const Trace *trace, Diagnostics *diags, const char *path,
                 const TraceOthers *others);

/* The sum over steps that are alike: one kernel, products of one shape, or all that pack, that
 * copy, or that write zeros. */
typedef struct TraceTotal {
    TfcStepKind kind;
    const char *kernel; /* its name, "product", "pack", "copy" or "zeros" */
    const char *shape;  /* of products; else "" */
    const char *name;   /* of the first such step: where in the model it is */
    int64_t calls;
    double seconds; /* of wall-clock time, of all calls */
    double flops;   /* 0: not known */
    double bytes;   /* of operands and results, each once a call */
} TraceTotal;
/* The totals, longest first; *n of them, in the arena. */
TraceTotal *trace_totals(const Trace *trace, Arena *arena, int *n);

#endif
