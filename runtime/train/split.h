/* Split: an update that ranks share. Each updates its part of the params (parts.h), has the optimizer's
 * slots of this part alone, and gets the others' params.
 *
 * A param that is read as bf16 alone (parts.h) goes to the others as bf16, which they keep as f32. So a rank's
 * store has this rank's part of it exactly, and others' parts rounded. They are read to the same bits where
 * gradients are computed, and nowhere else: rank 0 asks for them as they are before it validates and saves.
 *
 * While rank 0 tells, validates and saves, the others wait and give it params and slots as it asks for them. */
#ifndef RUNTIME_TRAIN_SPLIT_H
#define RUNTIME_TRAIN_SPLIT_H

#include "runtime/ranks/ranks.h"
#include "runtime/train/checkpoint.h"
#include "runtime/train/gradient_sum.h"

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

/* Every slot as a checkpoint has it, saving and loading; in the arena, NULL: out of memory. */
const CheckpointParts *split_checkpoint(const Split *split, Arena *arena);
/* Bytes of an element of a tensor of the parts as it goes to the others. */
int64_t split_sent_size(const Split *split, int32_t tensor);
bool split_rounds(const Split *split); /* whether a tensor goes as bf16 */
/* After the update: the params of these gradients, on all ranks. */
void split_share_params(const Split *split, Gradients of);
/* Of rank 0, when it has what split_share_params gives: the others' parts as they are. */
void split_fetch_params(const Split *split);
/* Of ranks other than 0, after each step: gives what rank 0 asks for, until it says that this is all.
 * False: a slot of a rank is not finite, which that rank has told. */
bool split_serve(const Split *split, Diagnostics *diags);
/* Of rank 0: whether the others' slots are finite, before it saves; and that it asks no more. */
bool split_ask_check(const Split *split);
void split_end_serving(const Split *split);

#endif
