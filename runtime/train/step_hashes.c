/* Hashes of gradients, whole or in ranks' parts, and of params. */
#include "runtime/train/step_hashes.h"

#include "base/xxh64.h"
#include "runtime/exec/size.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const StepHash *)a)->tensor->name, ((const StepHash *)b)->tensor->name);
}

StepHashes *step_hashes_new(Arena *arena, Store *store)
{
    StepHashes *hashes = ARENA_NEW(arena, StepHashes);
    *hashes = (StepHashes){.list = ARENA_ARRAY(arena, StepHash, store_count(store) + 1)};
    for (int64_t i = 0; i < store_count(store); i++)
        if (store_is_param(store_at(store, i)))
            hashes->list[hashes->n++] = (StepHash){.tensor = store_at(store, i)};
    qsort(hashes->list, (size_t)hashes->n, sizeof *hashes->list, compare_names);
    return hashes;
}

static size_t tensor_size(const StoreTensor *tensor)
{
    return (size_t)(tensor->count * type_bytes(tensor->type));
}

static void set_gradient(StepHash *hash, const void *data)
{
    hash->trained = data != NULL;
    if (data)
        hash->gradient = xxh64(data, tensor_size(hash->tensor), 0);
}

/* The data of the param's gradient; NULL: it has none. */
static const void *gradient_of(const StepHash *hash, Exec *outputs, Store *store)
{
    Arena *arena = arena_new();
    const char *name = arena_printf(arena, "grad.%s", hash->tensor->name);
    const StoreTensor *tensor = outputs ? NULL : store_find(store, name);
    const void *data = outputs ? exec_output(outputs, name) : tensor ? tensor->data : NULL;
    arena_free(arena);
    return data;
}

/* ---- of ranks' parts ---- */

static StepHash *hash_of(StepHashes *hashes, const char *param)
{
    for (int64_t i = 0; i < hashes->n; i++)
        if (!strcmp(hashes->list[i].tensor->name, param))
            return &hashes->list[i];
    return NULL;
}

/* A rank's elements of tensor i of the parts, in memory that has the whole tensor. */
static char *slice_at(const Split *split, int32_t i, int rank, int64_t size, void *whole,
                      int64_t *bytes)
{
    const Slice slice = parts_slice(split->parts, i, rank, rank);
    *bytes = slice.count * size;
    return (char *)whole + slice.from * size;
}

/* Tensor i of the parts: all other ranks send theirs to rank 0, which joins them in `whole`. */
static void gather_gradient(const Split *split, int32_t i, StoreTensor *mine, void *whole)
{
    const int64_t size = type_bytes(mine->type);
    const int me = ranks_mine(split->ranks);
    int64_t bytes;
    char *from = slice_at(split, i, me, size, mine->data, &bytes);
    if (me) {
        if (bytes)
            ranks_send(split->ranks, from, bytes, 0);
        return;
    }
    memcpy(slice_at(split, i, 0, size, whole, &bytes), from, (size_t)bytes);
    for (int rank = 1; rank < ranks_count(split->ranks); rank++) {
        char *to = slice_at(split, i, rank, size, whole, &bytes);
        if (bytes)
            ranks_receive(split->ranks, to, bytes, rank);
    }
}

static bool gather_all(StepHashes *hashes, const Split *split)
{
    for (int32_t i = 0; i < split->parts->n_tensors; i++) {
        StoreTensor *mine = store_find(split->store, split->parts->tensors[i].gradient);
        StepHash *hash = hash_of(hashes, split->parts->tensors[i].param);
        void *whole = malloc(tensor_size(mine) + 1);
        if (!whole)
            return false;
        gather_gradient(split, i, mine, whole);
        if (hash)
            set_gradient(hash, whole);
        free(whole);
    }
    return true;
}

bool step_hashes_gradients(StepHashes *hashes, Exec *outputs, Store *store, const Split *split)
{
    if (split && ranks_count(split->ranks) > 1)
        return gather_all(hashes, split);
    for (int64_t i = 0; i < hashes->n; i++)
        set_gradient(&hashes->list[i], gradient_of(&hashes->list[i], outputs, store));
    return true;
}

void step_hashes_params(StepHashes *hashes)
{
    for (int64_t i = 0; i < hashes->n; i++) {
        const StoreTensor *tensor = hashes->list[i].tensor;
        hashes->list[i].param = xxh64(tensor->data, tensor_size(tensor), 0);
    }
}
