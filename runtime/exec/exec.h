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
 * A Store may serve several executors. They may run at the same time, each in a thread of its own,
 * if no program assigns params and, of each program, one executor has run since params changed:
 * that run prepares what the others share. An Exec serves one thread at a time. Nothing here
 * prints. If memory runs out, a call returns false or NULL (exec_slab_needed: -1). The Store or
 * Exec stays usable, and the same call may succeed later. A run that fails changes no params;
 * earlier outputs become invalid. */
#ifndef RUNTIME_EXEC_EXEC_H
#define RUNTIME_EXEC_EXEC_H

#include "runtime/exec/panels.h"
#include "runtime/exec/program.h"

#include <stddef.h>

/* ---- params (store.c, init.c) ---- */

typedef struct Store Store;
typedef struct StoreTensor {
    const char *name;
    TfcType type;
    TfcRole role;
    TfcInit init;
    double a, b;
    const char *file, *tensor; /* TFC_INIT_FILE */
    int32_t rank;
    int64_t dims[TFC_MAX_AXES];
    int64_t count; /* elements */

    /* 64-byte aligned and owned by the store, unless borrowed; NULL in a deferred store until
     * store_need. Code that writes a param between runs calls store_changed. */
    void *data;
    bool borrowed; /* the store does not own data: it is not freed, and may be read-only */
} StoreTensor;

Store *store_new(void);        /* NULL: memory ran out */
Store *store_new_or_end(void); /* where memory runs out, the process ends: for programs */
void store_free(Store *store); /* NULL is allowed */
/* Adds the program's tensors, except caches. A tensor that the store already has under its name
 * must agree in type and shape (an assertion otherwise). Names are copied. false: store is NULL; or
 * memory ran out, and some of the tensors are added. */
bool store_add_program(Store *store, const TfcProgram *program);
/* The same, but a new tensor borrows the data that `find` returns, which must outlive the store.
 * `find` returns NULL: the store allocates the data. */
typedef void *(*StoreFind)(void *context, const TfcTensor *tensor);
bool store_add_borrowing(Store *store, const TfcProgram *program, StoreFind find, void *context);
/* The same without slots of the optimizer and gradients. */
bool store_add_params(Store *store, const TfcProgram *program, StoreFind find, void *context);
/* Finds the mapped file in which borrowed params of 1 MiB or more lie, if any: store_leave then
 * gives back the memory of params in it. To be called after the params are added. A store that
 * borrows from another store takes that one's file, by store_share_pages. */
void store_find_pages(Store *store);
void store_share_pages(Store *store, const Store *from);
/* Gives back the memory of a param that lies in that file; a later read gets it from the file. For
 * a param that was packed and that no other step reads. */
void store_leave(const Store *store, const StoreTensor *tensor);
/* Copies borrowed data, so that it may be written. Executors made before have the old
 * addresses and must be made anew. False: memory ran out, and some of the data is copied. */
bool store_own(Store *store);
/* StoreSource: gives a store params that are not in memory yet, and keeps what executors prepare of
 * them.
 *   fill     writes a param's values to its data; false: they cannot be read
 *   lend     returns a param's values in the source's own memory, which is read-only; NULL: fill
 *            writes them instead
 *   panels   returns the data of a param's panels that agree with those `wanted`, which have none;
 *            NULL: there are none
 *   read     called if a program that keeps prepared data also reads this param itself
 *   find     returns what another process gave to `keep` for this program and layout, in writable
 *            memory, to be given back by `release`; NULL: there is none
 *   keep     gets what the program's first steps (n_prepared) made of the params: `bytes` at
 *            `memory`; `layout` is a hash of where each buffer lies in it
 * Any of `fill`, `lend` and `panels` may be NULL: the source cannot do it. `find` NULL: the source
 * keeps nothing, and `read`, `keep` and `release` are not called. The store calls one of them at a
 * time. */
typedef struct StoreSource {
    void *context;
    bool (*fill)(void *context, StoreTensor *tensor);
    void *(*lend)(void *context, const StoreTensor *tensor);
    const void *(*panels)(void *context, const TfcPanels *wanted);
    void (*read)(void *context, const StoreTensor *tensor);
    void *(*find)(void *context, const TfcProgram *program, uint64_t layout, int64_t bytes);
    void (*keep)(void *context, const TfcProgram *program, uint64_t layout, const void *memory,
                 int64_t bytes);
    void (*release)(void *memory, int64_t bytes);
} StoreSource;
/* Tensors that are added later, unless borrowed, have no data until store_need. The store must not
 * have tensors yet. */
void store_defer(Store *store);
/* Sets the source, which must outlive the store and its executors. Until the store's version
 * changes, all params have the source's values. */
void store_set_source(Store *store, const StoreSource *source);
const StoreSource *store_source(const Store *store); /* NULL: none, or params have changed since */
/* The source's panels of a param; NULL: it has none, or params have changed since. */
const void *store_panels(Store *store, const TfcPanels *wanted);
/* Gives a tensor that has no data its data, or all such tensors: a param the source's values, if
 * there is a source, any other tensor zeros. False: memory ran out, or the source
 * cannot read the values. */
bool store_need(Store *store, StoreTensor *tensor);
bool store_need_all(Store *store);
int64_t store_count(const Store *store);
StoreTensor *store_at(Store *store, int64_t i);          /* in order of addition */
StoreTensor *store_find(Store *store, const char *name); /* NULL: there is none */
/* Whether a tensor is a param: trained, frozen or state, and no slot of an optimizer or
 * gradient. */
bool store_is_param(const StoreTensor *tensor);
/* To be called after params were written, other than by a run: executors then compute again what
 * they have prepared of params. The version changes with each call and with each run that writes
 * params, and is never 0. */
void store_changed(Store *store);
int64_t store_version(const Store *store);
/* Fills each tensor that has data with the initial values that it declares, drawn by Philox with a
 * key that is a hash of seed and name, so that they do not depend on order or threads. Fans: of
 * [in, out], in = dims[0] × … × dims[rank-2], out = dims[rank-1] (Glorot & Bengio 2010). File
 * tensors are not changed: the loader fills them. Borrowed data is written, too: call store_own
 * before. False: memory ran out, and some tensors are not filled. (init.c) */
bool store_initialise(Store *store, uint64_t seed);
int64_t store_bytes(const Store *store);     /* of all tensors, also of those without data yet */
int64_t store_own_bytes(const Store *store); /* without what is borrowed */

/* ---- running (exec.c, run.c, bind.c, spans.c) ---- */

typedef struct Exec Exec;

/* A batch's shape: one entry a program dimension. */
typedef struct ExecDim {
    int64_t extent, total; /* as TfcDim */
} ExecDim;

/* An executor of a program whose tensors are in the store; both must outlive it. NULL: memory ran
 * out. */
Exec *exec_new(const TfcProgram *program, Store *store);
void exec_free(Exec *exec); /* NULL is allowed */

/* Plans the slab so that each of the n shapes (n × program->n_dims entries)
 * fits without planning again. Without this call the slab grows at the first run of a
 * larger shape. If the slab grows, earlier outputs become invalid. False: memory ran out, or a
 * shape needs more than any machine has. */
bool exec_reserve(Exec *exec, const ExecDim *shapes, int64_t n);
int64_t exec_slab_bytes(const Exec *exec); /* the planned peak, with what is kept between runs */
/* The planned peak of a program for one shape; the program may lack kernels. -1: memory for the
 * planning ran out, or the shape needs more than any machine has. (bind.c) */
int64_t exec_slab_needed(const TfcProgram *program, const ExecDim *shape);

int exec_dim(const Exec *exec, const char *name); /* index, or -1: the program does not use it */
/* Sets a dimension that is not ragged. dim -1: does nothing; also in exec_set_ragged. */
void exec_set_dim(Exec *exec, int dim, int64_t extent);
/* Sets a ragged dimension to the lengths of the batch's n rows, and the dimension that it is ragged
 * over to n. Copies both lists. `offset` NULL: the rows lie one after the other (the usual); else
 * where each row begins, in tokens (shared memory of beams, caches with gaps). A program that
 * computes over the tokens of the dimension then computes all up to the end of the last row, with
 * those in gaps as the first of row 0: it must not use their results, and rows may not share
 * tokens. If memory for the tables runs out, exec_run returns false. Runs compute the lengths of
 * dimensions made of others, except of those that were once set. */
void exec_set_ragged(Exec *exec, int dim, int64_t n, const int32_t *lengths, const int32_t *offset);

/* The dimensions as they are set now, with those made of others; NULL: memory ran out, or one of
 * those is longer than 2^31 - 1. Valid until a dimension is set. */
const TfcDim *exec_dims(Exec *exec);

/* Data in storage layout (ir/layout.h), contiguous. It is not copied: every run reads it, until
 * another call replaces it. */
bool exec_input(Exec *exec, const char *name, const void *data); /* false: no such input */
/* Memory of a cache of the program ("cache.N"), which runs read and write, until another call
 * replaces it. False: no such cache. */
bool exec_cache(Exec *exec, const char *name, void *data);
void exec_set_rng(Exec *exec, uint64_t seed, uint64_t step);
/* Runs the program. False, and no step has run: memory ran out, the shape needs more than any
 * machine has, an input or a cache of more than 0 elements has no data, or the store's source
 * cannot read a param. (run.c, as the next one) */
bool exec_run(Exec *exec);
/* The same without the steps that only outputs need: computes caches, params that are assigned, and
 * what is kept for the next run. Outputs are undefined then. */
bool exec_run_state(Exec *exec);
/* In storage layout, valid until the next run or until exec_reserve grows the slab; NULL: no such
 * output, or nothing has run. */
const void *exec_output(Exec *exec, const char *name);
/* Elements of the output for the dimensions as they are set now; 0: no such output. */
int64_t exec_output_count(Exec *exec, const char *name);

/* ExecHook: called around each step of a run, or around a whole loop over rows, by the thread that
 * called exec_run. */
typedef struct ExecHook {
    void *context;
    /* called when all earlier steps are done and before `step` begins; but an epilogue's product
     * has done it already. Of a loop: its first step */
    void (*before)(void *context, int32_t step);
    /* called when `step` and all earlier ones are done. Of a loop: its last step */
    void (*after)(void *context, int32_t step);
} ExecHook;
/* Sets the hook of all further runs; it must outlive them. NULL: none. (spans.c, as
 * exec_tensor_span) */
void exec_set_hook(Exec *exec, const ExecHook *hook);
/* ExecSpan: a range of a program's steps, both ends included. It has all steps of a loop over rows,
 * or none. */
typedef struct ExecSpan {
    int32_t first, last;
} ExecSpan;
/* The steps that read or write a tensor of the store; first > last: there are none. */
ExecSpan exec_tensor_span(const Exec *exec, const char *name);

/* For --check-numerics: runs as exec_run does, but checks the floats that each step wrote, except
 * panels, and stops at the first step that wrote a NaN: *name and *step are its name and number.
 * *name NULL: no step did, and the run is complete. False: as exec_run. (run.c) */
bool exec_find_nan(Exec *exec, const char **name, int *step);
const TfcProgram *exec_program(const Exec *exec);

/* Sets the number of threads of every parallel loop from now on; until then it is team_default(). A
 * number outside 1 … LIMIT_threads counts as the nearer of the two. Any thread may call. */
void exec_set_threads(int n);
int exec_threads(void);

#endif
