/* Sharing params and slots among ranks. */
#include "runtime/train/parallel/split.h"

#include "base/bf16.h"
#include "runtime/exec/size.h"

#include <string.h>

_Static_assert(PART_BLOCK * 4 % ST_BLOCK == 0,
               "cuts lie between blocks of a checkpoint's checksums");

static StoreTensor *param_of(const Split *split, int32_t tensor)
{
    return store_find(split->store, split->parts->tensors[tensor].param);
}

/* ---- params as bf16 ---- */

static bool goes_rounded(const Split *split, int32_t tensor)
{
    return split->parts->tensors[tensor].rounded;
}

static int64_t element_size(const Split *split, int32_t tensor)
{
    return type_bytes(param_of(split, tensor)->type);
}

int64_t split_sent_size(const Split *split, int32_t tensor)
{
    return goes_rounded(split, tensor) ? (int64_t)sizeof(uint16_t) : element_size(split, tensor);
}

bool split_rounds(const Split *split)
{
    bool any = false;
    for (int32_t t = 0; t < split->parts->n_tensors; t++)
        any |= goes_rounded(split, t);
    return any;
}

/* This rank's part of a tensor as bf16: how many elements. */
static int64_t halves_of(const Split *split, int32_t tensor)
{
    int me = ranks_mine(split->ranks);
    return goes_rounded(split, tensor) ? parts_slice(split->parts, tensor, me, me).count : 0;
}

bool split_open(Split *split, Arena *arena)
{
    int32_t n = split->parts->n_tensors;
    split->halves = ARENA_ARRAY(arena, uint16_t *, (int64_t)n + 1);
    bool ok = split->halves != NULL;
    for (int32_t t = 0; ok && t < n; t++)
        if (goes_rounded(split, t))
            ok = (split->halves[t] = ARENA_ARRAY(arena, uint16_t, halves_of(split, t) + 1)) != NULL;
    return ok;
}

int64_t split_bytes(const Split *split)
{
    int64_t n = 0;
    for (int32_t t = 0; t < split->parts->n_tensors; t++)
        n += halves_of(split, t);
    return n * (int64_t)sizeof **split->halves;
}

static char *elements_at(const Split *split, const Slice *slice)
{
    return (char *)param_of(split, slice->tensor)->data +
           slice->from * element_size(split, slice->tensor);
}

/* Where a slice of this rank's part is as bf16. */
static uint16_t *halves_at(const Split *split, const Slice *slice)
{
    int me = ranks_mine(split->ranks);
    return split->halves[slice->tensor] + slice->from -
           parts_slice(split->parts, slice->tensor, me, me).from;
}

/* bf16 comes into the second half of where it is to be f32. */
static char *arrives_at(const Split *split, const Slice *slice)
{
    return elements_at(split, slice) + slice->count * split_sent_size(split, slice->tensor);
}

static void round_slice(const Split *split, const Slice *slice)
{
    const float *in = (const float *)elements_at(split, slice);
    uint16_t *out = halves_at(split, slice);
    for (int64_t i = 0; i < slice->count; i++)
        out[i] = bf16_from_float(in[i]);
}

/* From the first on: what is written never reaches what is still to be read. */
static void widen_slice(const Split *split, const Slice *slice)
{
    enum { SOME = 512 };
    uint16_t some[SOME];
    float *out = (float *)elements_at(split, slice);
    const char *in = arrives_at(split, slice);
    for (int64_t i = 0; i < slice->count; i += SOME) {
        int64_t n = slice->count - i < SOME ? slice->count - i : SOME;
        memcpy(some, in + i * (int64_t)sizeof *some, (size_t)n * sizeof *some);
        for (int64_t k = 0; k < n; k++)
            out[i + k] = bf16_to_float(some[k]);
    }
}

/* ---- params ---- */

static Slice piece_of(const Split *split, Gradients of, int32_t i, int rank)
{
    return parts_piece(split->parts, of.numbers[i], rank, of.piece, of.pieces);
}

/* From this rank's part to another rank, or to this one from the other's. */
static RankMessage message_of(const Split *split, const Slice *slice, int other, bool is_sent)
{
    char *data = !goes_rounded(split, slice->tensor) ? elements_at(split, slice)
                 : is_sent                           ? (char *)halves_at(split, slice)
                                                     : arrives_at(split, slice);
    return (RankMessage){data, slice->count * split_sent_size(split, slice->tensor), other,
                         is_sent};
}

static int64_t add_messages(const Split *split, Gradients of, int64_t n, int32_t i)
{
    int me = ranks_mine(split->ranks);
    Slice mine = piece_of(split, of, i, me);
    for (int rank = 0; rank < split->parts->n; rank++) {
        Slice theirs = piece_of(split, of, i, rank);
        if (rank != me && mine.count)
            of.room[n++] = message_of(split, &mine, rank, true);
        if (rank != me && theirs.count)
            of.room[n++] = message_of(split, &theirs, rank, false);
    }
    return n;
}

void split_share_params(const Split *split, Gradients of)
{
    int me = ranks_mine(split->ranks);
    int64_t n = 0;
    for (int32_t i = 0; i < of.n; i++) {
        Slice mine = piece_of(split, of, i, me);
        if (goes_rounded(split, of.numbers[i]))
            round_slice(split, &mine);
        n = add_messages(split, of, n, i);
    }
    gradients_move(split->ranks, of, n);
    for (int32_t i = 0; i < of.n; i++)
        for (int rank = 0; rank < split->parts->n; rank++) {
            Slice theirs = piece_of(split, of, i, rank);
            if (rank != me && goes_rounded(split, of.numbers[i]))
                widen_slice(split, &theirs);
        }
}

/* Every rank's part of a param as it is, at rank 0. */
static void gather_param(const Split *split, int32_t tensor)
{
    int me = ranks_mine(split->ranks);
    for (int rank = 1; rank < split->parts->n; rank++) {
        Slice slice = parts_slice(split->parts, tensor, rank, rank);
        int64_t bytes = slice.count * element_size(split, tensor);
        if (!bytes || (me && rank != me))
            continue;
        if (me)
            ranks_send(split->ranks, elements_at(split, &slice), bytes, 0);
        else
            ranks_receive(split->ranks, elements_at(split, &slice), bytes, rank);
    }
}

void split_gather_params(const Split *split)
{
    for (int32_t t = 0; t < split->parts->n_tensors; t++)
        if (goes_rounded(split, t))
            gather_param(split, t);
}

/* ---- what a checkpoint has of them ---- */

/* This rank's slice of a param or of its slot, whose elements are at data; NULL: it has none. */
static CheckpointPart part_of(const Split *split, int32_t tensor, const char *name, void *data)
{
    int me = ranks_mine(split->ranks);
    const StoreTensor *param = param_of(split, tensor);
    Slice slice = parts_slice(split->parts, tensor, me, me);
    CheckpointPart part = {.name = name,
                           .type = param->type,
                           .rank = param->rank,
                           .from = slice.from,
                           .count = slice.count,
                           .data = data};
    memcpy(part.dims, param->dims, sizeof part.dims);
    return part;
}

const CheckpointParts *split_checkpoint(const Split *split, Arena *arena)
{
    int32_t n = split->parts->n_tensors;
    int me = ranks_mine(split->ranks);
    CheckpointParts *parts = ARENA_NEW(arena, CheckpointParts);
    CheckpointPart *list = ARENA_ARRAY(arena, CheckpointPart, n + split->n_slots + 1);
    if (!parts || !list)
        return NULL;
    for (int32_t t = 0; t < n; t++) {
        Slice slice = parts_slice(split->parts, t, me, me);
        list[t] = part_of(split, t, split->parts->tensors[t].param, elements_at(split, &slice));
    }
    for (int64_t i = 0; i < split->n_slots; i++) {
        const StoreTensor *own = store_find(split->own, split->slots[i].name);
        list[n + i] =
            part_of(split, split->slots[i].tensor, split->slots[i].name, own ? own->data : NULL);
    }
    *parts = (CheckpointParts){list, n + split->n_slots, me == 0};
    return parts;
}
