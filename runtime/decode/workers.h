/* Workers: threads that decode batches at the same time, each with a stepper of its own over the
 * same params. Answers do not depend on their number. A step of decoding has little work for many
 * threads, so one thread for each of several batches is usually faster than all threads for one
 * batch after the other. */
#ifndef RUNTIME_DECODE_WORKERS_H
#define RUNTIME_DECODE_WORKERS_H

#include "runtime/decode/stepper.h"

/* Workers: how many, and their steppers.
 *   given    how many; 0: as many as are measured to be the fastest: as many as threads, then half
 *            as many, as long as that is faster
 *   first    the first worker's stepper; the caller's
 *   make     makes another one; false: memory ran out. Called by the thread that calls workers_run
 *   context  make's argument
 * All other fields begin as 0. */
typedef struct Workers {
    int given;
    Stepper first;
    bool (*make)(const void *context, Stepper *out);
    const void *context;
    Stepper *more;
    int n_more, room;
    int64_t version;  /* of the last call */
    int tried, best;  /* the last number that was measured, and the fastest; 0: none yet */
    double rate;      /* tokens a second of the fastest */
    bool is_measured; /* best is the fastest of all */
} Workers;

/* Decodes batch i with a worker's stepper. Called once for each batch, by several threads at the
 * same time. Returns how many tokens that were, by which speed is measured; below 0: an error. */
typedef int64_t WorkerTask(void *context, Stepper *stepper, int64_t i);

/* Decodes n batches and returns when no worker is busy. The workers divide the threads
 * (exec_threads) among themselves; each has at least one. A worker without memory for its stepper
 * is left out. `version` changes when params change: the first batch is then decoded alone, which
 * prepares what the steppers share. False: a task returned an error, and some batches may not be
 * decoded. */
bool workers_run(Workers *workers, int64_t version, int64_t n, WorkerTask *task, void *context);
/* Frees the steppers that `make` has made. */
void workers_free(Workers *workers);

#endif
