/* Fuzz target: any bytes as a checkpoint, read into a store with params of several types,
 * a moment and a scalar. What is refused is refused with a message; what is accepted is
 * saved, read again, and is the same. */
#define _GNU_SOURCE
#include "runtime/train/checkpoint.h"
#include "tests/fuzz/budget.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static TfcTensor tensor(const char *name, TfcType type, TfcRole role, int rank, int64_t rows,
                        int64_t columns)
{
    TfcTensor t = {.name = name, .type = type, .role = role, .init = TFC_INIT_ZEROS};
    t.shape.rank = rank;
    t.shape.dims[0].size = rows;
    t.shape.dims[1].size = columns;
    t.shape.dims[0].dim = t.shape.dims[1].dim = -1;
    return t;
}

static Store *new_store(void)
{
    TfcTensor tensors[] = {
        tensor("w", TFC_F32, TFC_TRAINED, 2, 2, 3), tensor("m.w", TFC_F32, TFC_SLOT, 2, 2, 3),
        tensor("table", TFC_F64, TFC_FROZEN, 1, 4, 0), tensor("mean", TFC_F32, TFC_STATE, 0, 0, 0)};
    TfcProgram program = {
        .name = "train_step", .n_tensors = sizeof tensors / sizeof *tensors, .tensors = tensors};
    Store *store = store_new();
    if (!store || !store_add_program(store, &program) || !store_initialise(store, 1))
        abort();
    return store;
}

/* A file in memory, by its path. */
static int new_file(char path[64])
{
    int fd = memfd_create("checkpoint", 0);
    if (fd < 0)
        abort();
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

static bool same(Store *a, Store *b)
{
    for (int64_t i = 0; i < store_count(a); i++) {
        const StoreTensor *x = store_at(a, i), *y = store_at(b, i);
        size_t bytes = (size_t)x->count * (x->type == TFC_F64 ? 8 : 4);
        if (memcmp(x->data, y->data, bytes))
            return false;
    }
    return true;
}

/* Saving renames, which a file in memory does not know: beside the program's own. */
static void save_and_load(Arena *arena, Store *store, const TrainState *state)
{
    Diagnostics diags;
    char path[64];
    TrainState again;
    Store *copy = new_store();
    diag_init(&diags, arena);
    snprintf(path, sizeof path, "/tmp/fuzz-checkpoint-%ld", (long)getpid());
    if (!checkpoint_save(&diags, arena, path, false, store, state) ||
        !checkpoint_load(&diags, arena, path, copy, NULL, &again, NULL) || !same(store, copy) ||
        again.step != state->step || again.seed != state->seed)
        abort();
    unlink(path);
    store_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = new_file(path);
    if (write(fd, data, size) != (ssize_t)size)
        abort();
    Store *store = new_store();
    TrainState state;
    for (int all = 0; all < 2; all++) {
        Arena *arena = arena_new();
        Diagnostics diags;
        diag_init(&diags, arena);
        bool ok = all ? checkpoint_load(&diags, arena, path, store, NULL, &state, NULL)
                      : checkpoint_load_params(&diags, arena, path, store, &state);
        if (ok ? diags.errors != 0 : diags.errors == 0)
            abort();
        need_budget(arena, BUDGET_BINARY, size);
        if (ok && all)
            save_and_load(arena, store, &state);
        arena_free(arena);
    }
    store_free(store);
    close(fd);
    return 0;
}
