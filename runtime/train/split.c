/* Sharing params and slots among ranks. */
#include "runtime/train/split.h"

#include "runtime/exec/size.h"

#include <string.h>

/* What rank 0 asks for: the slot of this number, or one of these. */
enum { ASK_END = -1, ASK_CHECK = -2 };

static bool has_others(const Split *split) { return ranks_count(split->ranks) > 1; }

static StoreTensor *param_of(const Split *split, int32_t tensor)
{
    return store_find(split->store, split->parts->tensors[tensor].param);
}

/* What a rank has of a slot. */
static Slice slice_of(const Split *split, int rank, int64_t slot)
{
    return parts_slice(split->parts, split->slots[slot].tensor, rank, rank);
}

/* ---- params ---- */

static int64_t add_message(const Split *split, Gradients of, int64_t at, int32_t tensor, int part,
                           int other, bool is_sent)
{
    Slice slice = parts_piece(split->parts, tensor, part, of.piece, of.pieces);
    const StoreTensor *param = param_of(split, tensor);
    int64_t size = type_bytes(param->type);
    of.room[at] =
        (RankMessage){(char *)param->data + slice.from * size, slice.count * size, other, is_sent};
    return slice.count > 0;
}

void split_share_params(const Split *split, Gradients of)
{
    int me = ranks_mine(split->ranks);
    int64_t n = 0;
    for (int32_t i = 0; i < of.n; i++)
        for (int rank = 0; rank < split->parts->n; rank++) {
            if (rank == me)
                continue;
            n += add_message(split, of, n, of.numbers[i], me, rank, true);
            n += add_message(split, of, n, of.numbers[i], rank, rank, false);
        }
    gradients_move(split->ranks, of, n);
}

/* ---- slots ---- */

/* Every rank's slice of a slot, at rank 0, where `out` has room for the whole; else NULL. */
static void gather_slot(const Split *split, int64_t slot, char *out)
{
    int me = ranks_mine(split->ranks);
    int64_t size = type_bytes(param_of(split, split->slots[slot].tensor)->type);
    const StoreTensor *own = store_find(split->own, split->slots[slot].name);
    for (int rank = 0; rank < split->parts->n; rank++) {
        Slice slice = slice_of(split, rank, slot);
        if (!slice.count || (me && rank != me))
            continue;
        if (me)
            ranks_send(split->ranks, own->data, slice.count * size, 0);
        else if (rank)
            ranks_receive(split->ranks, out + slice.from * size, slice.count * size, rank);
        else
            memcpy(out + slice.from * size, own->data, (size_t)(slice.count * size));
    }
}

static void ask(const Split *split, int64_t what)
{
    if (has_others(split))
        ranks_share(split->ranks, &what, sizeof what);
}

static void fetch_slot(void *context, const char *name, void *out)
{
    const Split *split = context;
    int64_t slot = 0;
    while (strcmp(split->slots[slot].name, name))
        slot++;
    ask(split, slot);
    gather_slot(split, slot, out);
}

const CheckpointParts *split_checkpoint(const Split *split, Arena *arena)
{
    CheckpointParts *parts = ARENA_NEW(arena, CheckpointParts);
    CheckpointPart *list = ARENA_ARRAY(arena, CheckpointPart, split->n_slots + 1);
    if (!parts || !list)
        return NULL;
    for (int64_t i = 0; i < split->n_slots; i++) {
        const StoreTensor *param = param_of(split, split->slots[i].tensor);
        Slice slice = slice_of(split, ranks_mine(split->ranks), i);
        list[i] = (CheckpointPart){.name = split->slots[i].name,
                                   .type = param->type,
                                   .rank = param->rank,
                                   .fetch = fetch_slot,
                                   .context = (void *)(uintptr_t)split};
        memcpy(list[i].dims, param->dims, sizeof list[i].dims);
        if (!slice.count)
            continue;
        list[i].from = slice.from;
        list[i].count = slice.count;
        list[i].data = store_find(split->own, split->slots[i].name)->data;
    }
    *parts = (CheckpointParts){list, split->n_slots};
    return parts;
}

/* ---- while rank 0 saves ---- */

static bool check_slots(const Split *split, Diagnostics *diags)
{
    Arena *arena = arena_new();
    const CheckpointParts *parts = split_checkpoint(split, arena);
    bool ok = checkpoint_check_parts(diags, "a checkpoint is not saved", parts);
    arena_free(arena);
    return ok;
}

bool split_serve(const Split *split, Diagnostics *diags)
{
    for (;;) {
        int64_t what = ASK_END;
        ranks_share(split->ranks, &what, sizeof what);
        if (what == ASK_END)
            return true;
        if (what == ASK_CHECK) {
            double bad = !check_slots(split, diags);
            ranks_sum(split->ranks, &bad, 1);
            if (bad > 0)
                return false;
        } else
            gather_slot(split, what, NULL);
    }
}

bool split_ask_check(const Split *split)
{
    double bad = 0;
    ask(split, ASK_CHECK);
    ranks_sum(split->ranks, &bad, 1);
    return bad == 0;
}

void split_end_serving(const Split *split) { ask(split, ASK_END); }
