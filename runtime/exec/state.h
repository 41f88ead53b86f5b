/* Inside an Exec: shared by the files that set it up (exec.c), fit it to a batch's
 * shape (bind.c) and run it (run.c). */
#ifndef RUNTIME_EXEC_STATE_H
#define RUNTIME_EXEC_STATE_H

#include "base/arena.h"
#include "runtime/exec/exec.h"
#include "runtime/exec/gemm.h"
#include "runtime/exec/lent.h"
#include "runtime/exec/size.h"
#include "runtime/exec/slab.h"

#include <stdatomic.h>

/* The tables of one ragged dimension; they grow, never shrink. */
typedef struct RaggedTables {
    int32_t *offset, *length;  /* room for `rows` */
    int32_t *batch, *position; /* room for `tokens` */
    int64_t rows, tokens;
    int64_t n;   /* rows in use */
    bool is_set; /* by a caller: not made of others, even where the program says of which */

    /* memory for the rows ran out: runs return false until they are set again */
    bool missing;
} RaggedTables;

typedef struct BoundStep {
    union {
        BoundKernel kernel;
        BoundGemm gemm;
        int64_t bytes; /* copy, zero */
    };
} BoundStep;

/* A kernel's pointer into memory of the caller, which is set before each run. */
typedef struct PointerPatch {
    void **pointer;
    int32_t buffer;
    int64_t bytes; /* from the buffer's beginning */
} PointerPatch;

/* KeptBlock: what the first steps of a program (n_prepared) made of the params. Executors of the
 * program whose buffers have the same places in the block share it. */
typedef struct KeptBlock {
    const TfcProgram *program;
    uint64_t layout; /* a hash of where buffers lie in it */
    int64_t bytes;
    char *memory;
    _Atomic int64_t prepared; /* the store's version that it was made of; 0: none */
    const StoreSource *found; /* whose `find` returned memory; NULL: it is allocated */
    const StoreSource *keeps; /* the source that gets `memory` when the block ends; or NULL */
    int32_t users;            /* executors */
    struct KeptBlock *next;   /* in the store */
} KeptBlock;

/* The store's block of that layout, as another executor has prepared it, as the source has it, or
 * new. NULL: memory ran out. Given back by store_drop_kept, which ends it with its last user. */
KeptBlock *store_take_kept(Store *store, const TfcProgram *program, uint64_t layout, int64_t bytes);
void store_drop_kept(Store *store, KeptBlock *kept);
/* The source, if it keeps what executors prepare; or NULL. */
const StoreSource *store_keeper(const Store *store);
/* Calls the source's `read` for a param. */
void store_keep_param(Store *store, const StoreSource *source, const StoreTensor *tensor);

struct Exec {
    const TfcProgram *program;
    Store *store;
    Arena *arena; /* of the tables whose size the program determines, made once */
    TfcDim *dims;
    int64_t *sizes; /* of the program, for the dimensions as they were bound */
    RaggedTables *ragged;
    bool made;             /* dimensions made of others are as the others are now */
    int32_t *made_lengths; /* of one of them, while it is made */
    bool *iterated;        /* of each dimension: the program computes over its tokens */
    StoreTensor **tensors; /* of the program; NULL for a cache */
    void **caches;         /* their memory; NULL for other tensors */
    int32_t last_cache;    /* used by exec_cache alone */
    const void **inputs;
    void **addresses; /* of each buffer */
    int64_t *planned; /* bytes planned for each buffer; 0: in neither slab nor kept */
    bool *read;       /* of each buffer: slab_mark_read */
    Lent lent;
    int64_t lent_version; /* of the store when it was found; 0: not yet */
    int64_t *offsets;     /* of each buffer in slab or kept */
    char *slab;
    KeptBlock *kept;   /* NULL: not planned yet */
    SlabBlocks blocks; /* bytes of both */
    bool planned_once;
    BoundStep *steps;
    void **pointers; /* of all kernel steps, one after the other */
    int64_t *strides;
    const TfcDim **kernel_dims;
    PointerPatch *patches;
    int64_t n_patches;
    TfcDim *slices;      /* of each loop its dimension, cut to the rows of the current chunk */
    int64_t chunk_begin; /* the first row of that chunk */
    void *part;          /* sums over one chunk, before they are added */
    int64_t part_bytes;
    int32_t first_step; /* of this run */
    bool multiplies;    /* the program has products */
    bool bound;         /* the steps from bound_from on are bound to the current dimensions */
    int32_t bound_from;
    uint32_t rng[4];
    const ExecHook *hook;    /* or NULL */
    const bool *for_outputs; /* of each step: outputs alone need it; NULL: not known yet */
    bool leaves_out;         /* this run leaves those out */
};

/* Whether the step is an epilogue: the product before it does it, part by part. */
static inline bool step_is_epilogue(const TfcStep *step)
{
    return step->kind == TFC_STEP_KERNEL && step->kernel.epilogue;
}

/* The address of a planned buffer. */
static inline char *exec_place(const Exec *exec, int32_t b)
{
    return (slab_stays(exec->program, exec->read, b) ? exec->kept->memory : exec->slab) +
           exec->offsets[b];
}

/* Makes room in every planned buffer for each of n shapes: plans anew, and allocates, if one needs
 * more. False: memory ran out, and kept data is lost; or a shape is too large (sizes_fit). */
bool exec_fit(Exec *exec, const TfcDim *const *shapes, int64_t n);
/* Plans for the dimensions as they are, and evaluates the sizes, for steps that a device runs: an
 * Exec that is only measured has no memory and cannot run. False: as exec_fit. */
bool exec_measure(Exec *exec);
/* Evaluates every size, stride and task for the dimensions as they are. False: memory ran out, the
 * dimensions do not fit, or the store's source cannot read a param. */
bool exec_bind(Exec *exec);
/* The first step of the next run: steps whose results are prepared already are left out. */
int32_t exec_first_step(const Exec *exec);
/* Gives kept back to the store. */
void exec_drop_kept(Exec *exec);
/* Finds which steps only outputs need. False: memory ran out. */
bool exec_find_outputs(Exec *exec);
/* Points kernels at the inputs and caches of this run. False: one has no data. */
bool exec_point(Exec *exec);

/* ---- loops.c ---- */

/* Loops over rows (TfcLoop) inside an Exec. */

/* Allocates room for the sums over a chunk; after the steps were bound. False: memory ran out. */
bool loops_bind(Exec *exec);
/* Points the steps of loop l at the rows [begin, begin + rows). */
void loop_begin(Exec *exec, int32_t l, int64_t begin, int64_t rows);
/* After step s of a loop: adds the chunk's sums to those of the chunks before. Does nothing for the
 * first chunk, and for steps that do not sum over rows. */
void loop_sum(Exec *exec, int32_t s);

#endif
