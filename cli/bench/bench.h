/* Shared by the modes of tfc bench: what to measure, and the results. */
#ifndef CLI_BENCH_BENCH_H
#define CLI_BENCH_BENCH_H

#include "base/map.h"
#include "cli/options/decoding.h"
#include "driver/ports/ports.h"
#include "driver/values/synthetic.h"
#include "runtime/exec/trace.h"

typedef struct Bench {
    Common common;
    const char *mode, *lengths;                  /* lengths: a file, or NULL */
    int64_t batch, source_length, target_length; /* sentences; tokens of each */
    int64_t steps, warm_up;
    Decoding decoding;
    int64_t shapes;        /* different ones, one a step; 0: every step has the same */
    BatchLengths *batches; /* of --lengths; the steps use one after the other */
    int64_t n_batches;     /* 0: none are given */
    bool json, report;
    bool ranks;          /* predicts trainings by many ranks */
    const char *network; /* "GBIT,MICROSECONDS"; NULL: measured between ranks */
    int64_t rank_tokens, machine_ranks, shards;
} Bench;

typedef struct BenchMeasured {
    double *seconds;       /* of each measured step; room by the caller */
    double tokens;         /* of the target, or else the source, in all measured steps */
    double first_rate;     /* tokens a second of the process's first step; 0: not measured */
    double flops;          /* of products, in all measured steps; 0: not counted */
    int64_t params;        /* elements, those of frozen params and states included */
    int64_t planned_bytes; /* of the store and, except when decoding, of the slab of values */
    Map shapes;            /* those of the measured steps; the caller calls map_init */
    int first;             /* kernels compiled by the end of the process's first step */
    Trace *trace;          /* of the measured steps, or NULL */
} BenchMeasured;

/* Sentences of a batch, and tokens of each source and each target. */
typedef struct Lengths {
    int64_t batch, source, target;
} Lengths;

/* The sizes of a step; warm-up steps have negative numbers. With --shapes each measured step has
 * different sizes, taken from all with a prime stride; all other steps have the largest. */
Lengths bench_lengths(const Bench *o, const ModelPorts *ports, int64_t step);
/* Records what a step took: its seconds and, of the first one (-warm_up), the kernels compiled. */
void bench_end_step(const Session *session, const Bench *o, BenchMeasured *m, int64_t step,
                    double seconds);

/* The modes. Each runs the steps and fills *m except params and trace; seconds[i] is of step i. The
 * store must be empty. False after errors. */
bool bench_program(Session *session, const Bench *o, Store *store, BenchMeasured *m);
bool bench_decode(Session *session, const Bench *o, Store *store, BenchMeasured *m);
/* Measures a step and the network, and prints the speed predicted for more ranks. Called on all
 * ranks. False after errors. */
bool bench_ranks(Session *session, const Bench *o);

#endif
