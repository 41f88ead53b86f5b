/* Split: an update that ranks share. Each rank updates its part of the params (parts.h), has only
 * the optimizer's slots of this part, and receives the other ranks' params.
 *
 * A param that is only read as bf16 (parts.h) is sent as bf16 and stored as f32. So a rank's store
 * has its own part of this param exactly, and the others' parts rounded. Computing gradients reads
 * the same bits on all ranks; for every other use, such as a validation, rank 0 first fetches the
 * exact parts.
 *
 * While rank 0 reports, validates and saves, the others wait, send it params and write their parts
 * of checkpoints when it asks for them (serve.c). */
#ifndef RUNTIME_TRAIN_PARALLEL_SPLIT_H
#define RUNTIME_TRAIN_PARALLEL_SPLIT_H

#include "runtime/ranks/ranks.h"
#include "runtime/train/checkpoint.h"
#include "runtime/train/parallel/gradient_sum.h"

/* SplitSlot: a slot of the optimizer. */
typedef struct SplitSlot {
    const char *name;
    int32_t tensor; /* number of its param in the parts */
} SplitSlot;

typedef struct Split {
    const Ranks *ranks; /* NULL: one process, which has all parts */
    const Parts *parts; /* one a rank */
    Store *store;       /* params and gradients */

    /* this rank's part of both, as vectors in the store's memory, and its slots */
    Store *own;
    const SplitSlot *slots;
    int64_t n_slots;
    /* for each tensor of the parts that is sent as bf16: room for this rank's part of it */
    uint16_t **halves;
} Split;

/* Allocates room for messages, in the arena; false: out of memory. */
bool split_open(Split *split, Arena *arena);
int64_t split_bytes(const Split *split); /* of this room */

/* The tensors that this rank writes of a checkpoint, and those that it reads in addition to the
 * store's. In the arena; NULL: out of memory. */
const CheckpointParts *split_checkpoint(const Split *split, Arena *arena);
/* Bytes of an element of a tensor of the parts in messages to other ranks. */
int64_t split_sent_size(const Split *split, int32_t tensor);
bool split_rounds(const Split *split); /* whether any tensor is sent as bf16 */
/* After the update, called by all ranks: gives every rank the params of these gradients. */
void split_share_params(const Split *split, Gradients of);
/* After split_share_params, called by all ranks: gives rank 0 the exact values of the other ranks'
 * parts. */
void split_gather_params(const Split *split);

/* ---- after a step (serve.c) ---- */

/* Called by all ranks before the first step: checks that they can write PATH together. False: a
 * rank cannot, and has an error. */
bool split_try(const Split *split, Diagnostics *diags, const char *path);
/* Called by ranks other than 0 after each step: does what rank 0 asks for, until split_end_serving.
 * False after an error of any rank, which that rank has reported. */
bool split_serve(const Split *split, Diagnostics *diags);
/* Called by rank 0: split_fetch_params runs split_gather_params on all ranks; split_save writes a
 * checkpoint with all ranks; split_end_serving ends their split_serve. False after an error of any
 * rank, which that rank has reported; PATH is then not changed. */
void split_fetch_params(const Split *split);
bool split_save(const Split *split, Diagnostics *diags, const char *path, const TrainState *state);
void split_end_serving(const Split *split);

#endif
