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
 * Only allocations fail: a call then returns false or NULL, changes nothing but outputs, and may
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
    int64_t count;              /* elements; 0 of a cache */

    /* 64-byte aligned, owned by the store; NULL in a deferred store until it is needed. A cache's
     * is owned by the decoder, NULL until set. Code that writes a param between runs calls
     * store_changed. */
    void *data;
    bool borrowed; /* the store does not own data: it is not freed, and may be read-only */
} StoreTensor;

Store *store_new(void);
void store_free(Store *store);
/* Adds the program's tensors. A tensor that the store already has under its name must agree in type
 * and shape (an assertion otherwise). Names are copied. false: memory ran out, or store is NULL. */
bool store_add_program(Store *store, const TfcProgram *program);
/* The same, but a new tensor borrows the data that `find` returns, which must outlive the store.
 * `find` returns NULL: the store allocates the data. */
typedef void *(*StoreFind)(void *context, const TfcTensor *tensor);
bool store_add_borrowing(Store *store, const TfcProgram *program, StoreFind find, void *context);
/* To be called when a program's file has lent the params: where they are the file's pages, they
 * take no memory once programs have packed them. A store that borrows from another one has its
 * pages. */
void store_find_pages(Store *store);
void store_share_pages(Store *store, const Store *from);
/* The param was packed and is not read as it is: its pages are left, if they are a file's. */
void store_leave(const Store *store, const StoreTensor *tensor);
/* Copies borrowed data, so that it may be written. Executors made before have the old
 * addresses and must be made anew. False: memory ran out. */
bool store_own(Store *store);
/* StoreSource: gives a store params that are not in memory yet, and keeps what executors prepare of
 * them.
 *   fill     writes a param's values to its data; false: they cannot be read
 *   lend     returns a param's values in the source's own memory, which is read-only; NULL: fill
 *            writes them instead
 *   read     called if a program that keeps prepared data also reads this param itself
 *   find     returns what another process gave to `keep` for this program and layout, in writable
 *            memory, to be given back by `release`; NULL: there is none
 *   keep     gets what the program's first steps (n_prepared) made of the params: `bytes` at
 *            `memory`; `layout` is a hash of the places in it */
typedef struct StoreSource {
    void *context;
    bool (*fill)(void *context, StoreTensor *tensor);
    void *(*lend)(void *context, const StoreTensor *tensor);
    void (*read)(void *context, const StoreTensor *tensor);
    void *(*find)(void *context, const TfcProgram *program, uint64_t layout, int64_t bytes);
    void (*keep)(void *context, const TfcProgram *program, uint64_t layout, const void *memory,
                 int64_t bytes);
    void (*release)(void *memory, int64_t bytes);
} StoreSource;
/* For a store without tensors: those added later have no data until they are needed; then the
 * source fills it. */
void store_defer(Store *store);
/* Until store_changed, all params are the source's, which outlives the store and its executors. */
void store_set_source(Store *store, const StoreSource *source);
const StoreSource *store_source(const Store *store); /* NULL: none, or params have changed since */
/* Fills a param's data, or that of all params; without a source, with zeros. False: memory ran out,
 * or the source cannot read the values. */
bool store_need(Store *store, StoreTensor *tensor);
bool store_need_all(Store *store);
int64_t store_count(const Store *store);
StoreTensor *store_at(Store *store, int64_t i); /* in order of addition */
StoreTensor *store_find(Store *store, const char *name);
/* Whether a tensor is a param: trained, frozen or state, and no slot of an optimizer, gradient or
 * cache. */
bool store_is_param(const StoreTensor *tensor);
/* To be called after params were written, other than by a run: executors then compute again what
 * they have prepared of params. The version changes with each call and with each run that writes
 * params, and is never 0. */
void store_changed(Store *store);
int64_t store_version(const Store *store);
/* Fills each tensor with the initial values that it declares, drawn by Philox with the key (seed,
 * hash of the name), so that they do not depend on order or threads. Fans: of [in, out],
 * in = dims[0] … dims[rank-2], out = dims[rank-1] (Glorot & Bengio 2010). File
 * tensors are not changed: the loader fills them. False: memory ran out. */
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
 * fits without planning again. Without this call the slab grows at the first run of a
 * larger shape. False: memory ran out. */
bool exec_reserve(Exec *exec, const ExecDim *shapes, int64_t n);
int64_t exec_slab_bytes(const Exec *exec); /* the planned peak, with what is kept between runs */
/* The planned peak of a program for one shape; the program may lack kernels. -1: memory for the
 * planning ran out. */
int64_t exec_slab_needed(const TfcProgram *program, const ExecDim *shape);

int exec_dim(const Exec *exec, const char *name); /* index, or -1: the program does not use it */
void exec_set_dim(Exec *exec, int dim, int64_t extent);
/* Lengths of the n rows of the batch; sets the dimension it is ragged over too.
 * `offset` NULL: one after the other (the usual); else where each row
 * begins, in tokens (shared memory of beams, caches with gaps: `total` is not
 * meaningful then and no program may iterate over tokens of the dimension). If memory for
 * the tables runs out, exec_run returns false. */
void exec_set_ragged(Exec *exec, int dim, int64_t n, const int32_t *lengths, const int32_t *offset);

/* Data in storage layout (ir/layout.h), contiguous; not copied, so it must stay until the run
 * ends. */
bool exec_input(Exec *exec, const char *name, const void *data); /* false: no such input */
void exec_set_rng(Exec *exec, uint64_t seed, uint64_t step);
bool exec_run(Exec *exec);
/* The same for what the run leaves behind: caches, and params that are assigned. Steps for outputs
 * alone are left out. */
bool exec_run_state(Exec *exec);
/* In storage layout, valid until the next run; NULL: no such output. */
const void *exec_output(Exec *exec, const char *name);
int64_t exec_output_count(Exec *exec, const char *name); /* elements, for the shape last run */

/* ExecHook: called around a run's steps, by the thread that runs them. */
typedef struct ExecHook {
    void *context;
    /* all earlier steps are done; this one, and perhaps some later ones, are not begun */
    void (*before)(void *context, int32_t step);
    void (*after)(void *context, int32_t step); /* this step and all earlier ones are done */
} ExecHook;
/* Sets the hook of all further runs, which it outlives; NULL: none. */
void exec_set_hook(Exec *exec, const ExecHook *hook);
/* ExecSpan: the first and the last step of a run. In a loop over rows every step counts as all. */
typedef struct ExecSpan {
    int32_t first, last;
} ExecSpan;
/* The steps that read or write a tensor of the store; first > last: there are none. */
ExecSpan exec_tensor_span(const Exec *exec, const char *name);

/* For --check-numerics: runs as exec_run does, but checks the floats that each step wrote, and
 * stops at the first step that made a NaN. Returns its name, and in *step its number. NULL: no step
 * did, and the run is complete. */
const char *exec_find_nan(Exec *exec, int *step);
const TfcProgram *exec_program(const Exec *exec); /* that it runs */

/* Sets the number of threads of every parallel loop from now on; before, it is team_default. A
 * number outside 1 … LIMIT_threads counts as the nearer of the two. */
void exec_set_threads(int n);
int exec_threads(void);

/* Philox4x32-10 (Salmon et al. 2011): the one source of random numbers. */
void philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#endif
