/* Running programs: stores of params, executors with one planned slab each.
 *
 *   Store *store = store_new();
 *   store_add_program(store, program);           // params by name, zero-filled
 *   store_initialise(store, seed);
 *   Exec *exec = exec_new(program, store);
 *   exec_set_dim / exec_set_ragged …             // this batch's shape
 *   exec_input(exec, "src", tokens);
 *   exec_run(exec);
 *   const float *loss = exec_output(exec, "loss");
 *
 * A Store may serve several executors, one running at a time if a program
 * assigns params. An Exec serves one thread at a time. Nothing here prints.
 * Only allocations fail: calls return false or NULL, leave all but outputs as it was, and may
 * succeed later. */
#ifndef RUNTIME_EXEC_EXEC_H
#define RUNTIME_EXEC_EXEC_H

#include "runtime/exec/program.h"

#include <stddef.h>

/* ---- params ---- */
typedef struct Store Store;
typedef struct StoreTensor {
    const char *name;
    TfcType type;
    TfcRole role;
    TfcInit init;
    double a, b;
    const char *file, *tensor; /* TFC_INIT_FILE */
    int32_t rank;
    int64_t dims[TFC_MAX_AXES]; /* -1: the leading pair of a cache */
    int64_t count; /* elements; 0 of a cache */
    void *data;    /* 64-byte aligned, owned by the store; a cache's belongs to the decoder, NULL until set. Of a
                      deferred store NULL until it is needed.
                      Who writes a param between runs calls store_changed. */
    bool borrowed; /* data is another's: not freed, and perhaps not to be written */
} StoreTensor;

Store *store_new(void);
void store_free(Store *store);
/* Adds the program's tensors (store NULL: false, out of memory); one already there by name must agree in type and
 * shape (an assertion otherwise). Names are copied. */
bool store_add_program(Store *store, const TfcProgram *program);
/* The same, but a new tensor for which `find` gives an address has its data there,
 * borrowed: it must outlive the store. NULL: the store makes it as ever. */
typedef void *(*StoreFind)(void *context, const TfcTensor *tensor);
bool store_add_borrowing(Store *store, const TfcProgram *program, StoreFind find, void *context);
/* Copies what is borrowed, so that it may be written. Executors made before keep
 * the old addresses and must be made anew. False: memory cannot be had. */
bool store_own(Store *store);
/* StoreSource: where params come from that are not in memory yet, and what executors have prepared of them.
 *   fill     writes a param's values to its data; false: they cannot be had
 *   lend     a param's values, where the source has them as they are: not to be written; NULL: fill does it
 *   read     a program that keeps something reads this param besides, too
 *   find     what `keep` was given for this program and layout by another process: memory that may be written and is
 *            given back by `release`; NULL: there is none
 *   keep     what the program's first steps (n_prepared) made of the params: `bytes` at `memory`, whose places the
 *            hash `layout` tells */
typedef struct StoreSource {
    void *context;
    bool (*fill)(void *context, StoreTensor *tensor);
    void *(*lend)(void *context, const StoreTensor *tensor);
    void (*read)(void *context, const StoreTensor *tensor);
    void *(*find)(void *context, const TfcProgram *program, uint64_t layout, int64_t bytes);
    void (*keep)(void *context, const TfcProgram *program, uint64_t layout, const void *memory, int64_t bytes);
    void (*release)(void *memory, int64_t bytes);
} StoreSource;
/* Of a store without tensors: those to come have no data until they are needed, when the source fills it. */
void store_defer(Store *store);
/* All params are those of the source, which outlives the store and its executors, until store_changed. */
void store_set_source(Store *store, const StoreSource *source);
const StoreSource *store_source(const Store *store); /* NULL: none, or params have changed since */
/* A param's data, or all; without a source they are zeros. False: memory, or the source's values, cannot be had. */
bool store_need(Store *store, StoreTensor *tensor);
bool store_need_all(Store *store);
int64_t store_count(const Store *store);
StoreTensor *store_at(Store *store, int64_t i); /* in order of addition */
StoreTensor *store_find(Store *store, const char *name);
/* Whether a tensor is a param: trained, frozen or state; no optimizer's slot, no gradient, no
 * cache. */
bool store_is_param(const StoreTensor *tensor);
/* Tells the store that params were written, other than by a run: executors then compute again
 * what they keep of params alone. The version differs after each change, runs included, and is
 * never 0. */
void store_changed(Store *store);
int64_t store_version(const Store *store);
/* Initial values as each tensor says, from Philox keyed by (seed, hash of the
 * name), so that they do not depend on order or threads. Fans: of [in, out],
 * in = dims[0] … dims[rank-2], out = dims[rank-1] (Glorot & Bengio 2010). File
 * tensors are left as they are: the loader fills them. False: memory cannot be had. */
bool store_initialise(Store *store, uint64_t seed);
int64_t store_bytes(const Store *store);
int64_t store_own_bytes(const Store *store); /* without what is borrowed */

/* ---- running ---- */
typedef struct Exec Exec;

/* A batch's shape: one entry a program dimension. */
typedef struct ExecDim {
    int64_t extent, total; /* as TfcDim */
} ExecDim;

Exec *exec_new(const TfcProgram *program, Store *store);
void exec_free(Exec *exec);

/* Plans the slab so that each of the n shapes (n × program->n_dims entries)
 * fits without planning again. Without it the slab grows at the first run of a
 * larger shape. Returns false if memory cannot be had. */
bool exec_reserve(Exec *exec, const ExecDim *shapes, int64_t n);
int64_t exec_slab_bytes(const Exec *exec); /* the planned peak, with what is kept between runs */
/* The same for a program that may not have kernels yet, and one shape; -1: memory for
 * the planning cannot be had. */
int64_t exec_slab_needed(const TfcProgram *program, const ExecDim *shape);

int exec_dim(const Exec *exec, const char *name); /* index, or -1: the program does not use it */
void exec_set_dim(Exec *exec, int dim, int64_t extent);
/* Lengths of the n rows of the batch; sets the dimension it is ragged over too.
 * `offset` NULL: one after the other (the usual); else where each row
 * begins, in tokens (shared memory of beams, caches with gaps: `total` is not
 * meaningful then and no program may iterate over tokens of the dimension). Where there is
 * no memory for the tables, exec_run says so. */
void exec_set_ragged(Exec *exec, int dim, int64_t n, const int32_t *lengths, const int32_t *offset);

/* Data in storage layout (ir/layout.h), contiguous; not copied, so it must stay until the run ends. */
bool exec_input(Exec *exec, const char *name, const void *data); /* false: no such input */
void exec_set_rng(Exec *exec, uint64_t seed, uint64_t step);
bool exec_run(Exec *exec);
/* The same for what the run leaves behind: caches, and params that are assigned. Steps for outputs alone are left out. */
bool exec_run_state(Exec *exec);
/* In storage layout, valid until the next run; NULL: no such output. */
const void *exec_output(Exec *exec, const char *name);
int64_t exec_output_count(Exec *exec, const char *name); /* elements, for the shape last run */

/* ExecHook: told of a run's steps by the thread that runs them. */
typedef struct ExecHook {
    void *context;
    void (*before)(void *context, int32_t step); /* the steps before this one are done, it and perhaps
                                                    some behind it are not begun */
    void (*after)(void *context, int32_t step);  /* this step and those before it are done */
} ExecHook;
/* Of all runs from now on; NULL: none. It outlives them. */
void exec_set_hook(Exec *exec, const ExecHook *hook);
/* ExecSpan: the first and the last step of a run. In a loop over rows every step counts as all. */
typedef struct ExecSpan {
    int32_t first, last;
} ExecSpan;
/* Those that read or write a tensor of the store; first > last: there are none. */
ExecSpan exec_tensor_span(const Exec *exec, const char *name);

/* For --check-numerics: runs as exec_run does, but looks at the floats that each
 * step wrote and stops at the first step that made a NaN: its name, and its
 * number in *step. NULL: none did, and the run is complete. */
const char *exec_find_nan(Exec *exec, int *step);

/* Threads: the number used by every parallel loop from now on (team_default at first),
 * from 1 to LIMIT_threads; what lies outside counts as the nearer of the two. */
void exec_set_threads(int n);
int exec_threads(void);

/* Philox4x32-10 (Salmon et al. 2011): the one source of random numbers. */
void philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#endif
