/* --trace FILE, and the table of kernels of tfc bench --report. */
#ifndef CLI_TRACING_H
#define CLI_TRACING_H

#include "base/json_write.h"
#include "cli/cli.h"
#include "runtime/exec/trace.h"
#include "runtime/ranks/ranks.h"

/* Makes a trace for a path, or for a report without one; else *trace is NULL. Recording
 * begins with trace_use. False after an error: the path cannot be written, or memory ran
 * out. */
bool tracing_open(Job *job, const char *path, bool report, Trace **trace);
/* tracing_open for a path (NULL: no trace), called on all ranks: each records, from a common time
 * 0. */
bool tracing_open_ranks(Job *job, const char *path, const Ranks *ranks, Trace **trace);
/* Ends the recording, writes the file if there is a path, notes how much was left out, and
 * frees the trace; NULL is allowed. The programs that ran must still exist. `ranks`: all call it,
 * and rank 0 writes the records of all; NULL: one process. False after errors. */
bool tracing_close(Job *job, const char *path, Trace *trace, Ranks *ranks);

/* The kernels by their share of `seconds`: as lines, or as member `kernels` of the object that is
 * open. */
void tracing_report(const Trace *trace, double seconds, Text *out);
void tracing_report_json(const Trace *trace, double seconds, JsonWriter *json);

#endif
