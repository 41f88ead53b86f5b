/* Split: an update that ranks share. Each updates its part of the params (parts.h), has the optimizer's
 * slots of this part alone, and gets the others' params.
 *
 * A param that is read as bf16 alone (parts.h) goes to the others as bf16, which they keep as f32. So a rank's
 * store has this rank's part of it exactly, and others' parts rounded. They are read to the same bits where
 * gradients are computed, and nowhere else: rank 0 asks for them as they are before it validates.
 *
 * While rank 0 tells, validates and saves, the others wait, give it params and write their parts of checkpoints as
 * it asks them to (serve.c). */
#ifndef RUNTIME_TRAIN_PARALLEL_SPLIT_H
#define RUNTIME_TRAIN_PARALLEL_SPLIT_H

#include "runtime/ranks/ranks.h"
#include "runtime/train/checkpoint.h"
#include "runtime/train/parallel/gradient_sum.h"

/* SplitSlot: a slot of the optimizer, of a param. */
typedef struct SplitSlot {
    const char *name;
    int32_t tensor; /* of the parts */
} SplitSlot;

typedef struct Split {
    const Ranks *ranks; /* NULL: one process, which has all */
    const Parts *parts; /* one a rank */
    Store *store;       /* params and gradients */
    Store *own;         /* rows of elements: this rank's part of both, which lies in the store, and slots */
    const SplitSlot *slots;
    int64_t n_slots;
    uint16_t **halves; /* of each tensor of the parts that goes as bf16: room for this rank's part of it */
} Split;

/* Room for what is sent; in the arena, false: out of memory. */
bool split_open(Split *split, Arena *arena);
int64_t split_bytes(const Split *split); /* of this room */

/* What this rank writes of a checkpoint, and what it reads besides the store; in the arena, NULL: out of memory. */
const CheckpointParts *split_checkpoint(const Split *split, Arena *arena);
/* Bytes of an element of a tensor of the parts as it goes to the others. */
int64_t split_sent_size(const Split *split, int32_t tensor);
bool split_rounds(const Split *split); /* whether a tensor goes as bf16 */
/* After the update: the params of these gradients, on all ranks. */
void split_share_params(const Split *split, Gradients of);
/* Of all ranks, when rank 0 has what split_share_params gives: the others' parts as they are, at rank 0. */
void split_gather_params(const Split *split);

/* ---- after a step (serve.c) ---- */

/* Of all ranks, before the first step: whether they can write PATH together. False: a rank cannot, which has
 * told. */
bool split_try(const Split *split, Diagnostics *diags, const char *path);
/* Of ranks other than 0, after each step: does what rank 0 asks for, until it says that this is all. False
 * after an error of some rank, which has told. */
bool split_serve(const Split *split, Diagnostics *diags);
/* Of rank 0: split_gather_params on all ranks; a checkpoint, which all ranks write; and that it asks no more.
 * False after an error of some rank, which has told: PATH is then as it was. */
void split_fetch_params(const Split *split);
bool split_save(const Split *split, Diagnostics *diags, const char *path, const TrainState *state);
void split_end_serving(const Split *split);

#endif
