/* The store: params by name, kept between runs and shared by executors. */
#include "runtime/exec/exec.h"
#include "runtime/exec/memory.h"
#include "runtime/exec/size.h"
#include "runtime/exec/state.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct Store {
    Arena *arena; /* names and the tensors' headers; data is allocated one by one */
    Map by_name;
    VEC(StoreTensor *) tensors;
    int64_t version;
    bool defers;
    const StoreSource *source;
    int64_t source_version;        /* whose params are the source's */
    const char *pages, *pages_end; /* of a file, in which borrowed data lies; NULL: none */
    pthread_mutex_t mutex;         /* of blocks, of data of tensors, and of calls of the source */
    KeptBlock *blocks;
};

Store *store_new(void)
{
    Arena *arena = arena_try_new();
    Store *store = arena ? ARENA_NEW(arena, Store) : NULL;
    if (!store) {
        arena_free(arena);
        return NULL;
    }
    store->arena = arena;
    store->version = 1;
    pthread_mutex_init(&store->mutex, NULL);
    map_init(&store->by_name, arena);
    return store;
}

Store *store_new_or_end(void)
{
    Store *store = store_new();
    memory_need(store != NULL);
    return store;
}

void store_free(Store *store)
{
    if (!store)
        return;
    for (size_t i = 0; i < store->tensors.count; i++)
        if (!store->tensors.data[i]->borrowed)
            free(store->tensors.data[i]->data);
    assert(!store->blocks); /* executors are freed before */
    pthread_mutex_destroy(&store->mutex);
    arena_free(store->arena);
}

/* For an assertion. */
__attribute__((unused)) static bool agrees(const StoreTensor *have, const TfcTensor *want)
{
    bool same = have->type == want->type && have->rank == want->shape.rank;
    for (int i = 0; same && i < have->rank; i++)
        same = have->dims[i] == want->shape.dims[i].size;
    return same;
}

/* Puts it into both lists or none. */
static bool enlist(Store *store, StoreTensor *tensor)
{
    vec_push(store->arena, store->tensors, tensor);
    map_set(&store->by_name, tensor->name, tensor);
    if (!arena_failed(store->arena))
        return true;
    if (store->tensors.count && vec_last(store->tensors) == tensor)
        store->tensors.count--;
    return false;
}

static bool add_tensor(Store *store, const TfcTensor *from, void *borrowed)
{
    StoreTensor *tensor = ARENA_NEW(store->arena, StoreTensor);
    if (!tensor)
        return false;
    *tensor = (StoreTensor){
        .name = arena_strdup(store->arena, from->name),
        .type = from->type,
        .role = from->role,
        .init = from->init,
        .a = from->a,
        .b = from->b,
        .file = from->file ? arena_strdup(store->arena, from->file) : NULL,
        .tensor = from->tensor ? arena_strdup(store->arena, from->tensor) : NULL,
        .rank = from->shape.rank,
        .count = 1,
    };
    for (int i = 0; i < tensor->rank; i++) {
        tensor->dims[i] = from->shape.dims[i].size;
        tensor->count *= tensor->dims[i];
    }
    tensor->borrowed = borrowed != NULL;
    if (arena_failed(store->arena))
        return false;
    if (borrowed) {
        tensor->data = borrowed;
    } else if (!store->defers) {
        tensor->data = memory_new(tensor->count * type_bytes(tensor->type));
        if (!tensor->data)
            return false;
    }
    if (enlist(store, tensor))
        return true;
    if (!borrowed)
        free(tensor->data);
    return false;
}

static bool is_param(TfcRole role) { return role != TFC_SLOT && role != TFC_GRADIENT; }

static bool add_tensors(Store *store, const TfcProgram *program, bool params_alone, StoreFind find,
                        void *context)
{
    if (!store)
        return false;
    arena_recover(store->arena);
    for (int32_t i = 0; i < program->n_tensors; i++) {
        const TfcTensor *tensor = &program->tensors[i];
        if (tensor_is_cache(tensor) || (params_alone && !is_param(tensor->role)))
            continue;
        const StoreTensor *have = store_find(store, tensor->name);
        assert(!have || agrees(have, tensor));
        if (!have && !add_tensor(store, tensor, find ? find(context, tensor) : NULL))
            return false;
    }
    return true;
}

/* A param of fewer bytes is not worth looking for. */
enum { LEAST_BYTES = 1 << 20 };

void store_find_pages(Store *store)
{
    for (size_t i = 0; i < store->tensors.count; i++) {
        const StoreTensor *tensor = store->tensors.data[i];
        if (tensor->borrowed && tensor->count * type_bytes(tensor->type) >= LEAST_BYTES &&
            memory_find_file(tensor->data, &store->pages, &store->pages_end))
            return;
    }
}

void store_share_pages(Store *store, const Store *from)
{
    store->pages = from->pages;
    store->pages_end = from->pages_end;
}

void store_leave(const Store *store, const StoreTensor *tensor)
{
    const char *data = tensor->data;
    const int64_t bytes = tensor->count * type_bytes(tensor->type);
    if (store->pages && tensor->borrowed && data >= store->pages &&
        data + bytes <= store->pages_end)
        memory_leave_file(data, bytes);
}

bool store_add_borrowing(Store *store, const TfcProgram *program, StoreFind find, void *context)
{
    return add_tensors(store, program, false, find, context);
}

bool store_add_params(Store *store, const TfcProgram *program, StoreFind find, void *context)
{
    return add_tensors(store, program, true, find, context);
}

bool store_add_program(Store *store, const TfcProgram *program)
{
    return store_add_borrowing(store, program, NULL, NULL);
}

bool store_own(Store *store)
{
    for (size_t i = 0; i < store->tensors.count; i++) {
        StoreTensor *tensor = store->tensors.data[i];
        if (!tensor->borrowed)
            continue;
        int64_t bytes = tensor->count * type_bytes(tensor->type);
        void *data = memory_new(bytes);
        if (!data)
            return false;
        memcpy(data, tensor->data, (size_t)bytes);
        tensor->data = data;
        tensor->borrowed = false;
    }
    return true;
}

void store_defer(Store *store)
{
    assert(!store->tensors.count);
    store->defers = true;
}

void store_set_source(Store *store, const StoreSource *source)
{
    store->source = source;
    store->source_version = store->version;
}

const StoreSource *store_source(const Store *store)
{
    return store->source_version == store->version ? store->source : NULL;
}

/* New data; the source fills it before anybody sees it. */
static void *make_data(const StoreSource *source, const StoreTensor *tensor)
{
    const int64_t bytes = tensor->count * type_bytes(tensor->type);
    StoreTensor filled = *tensor;
    filled.data = source ? memory_raw(bytes) : memory_new(bytes);
    if (!filled.data || !source || source->fill(source->context, &filled))
        return filled.data;
    free(filled.data);
    return NULL;
}

static bool give_data(const Store *store, StoreTensor *tensor)
{
    const StoreSource *source = store_is_param(tensor) ? store->source : NULL;
    void *data = source && source->lend ? source->lend(source->context, tensor) : NULL;
    tensor->borrowed = data != NULL;
    if (!data && (!source || source->fill))
        data = make_data(source, tensor);
    tensor->data = data;
    return data != NULL;
}

bool store_need(Store *store, StoreTensor *tensor)
{
    pthread_mutex_lock(&store->mutex);
    bool ok = tensor->data || give_data(store, tensor);
    pthread_mutex_unlock(&store->mutex);
    return ok;
}

bool store_need_all(Store *store)
{
    bool ok = true;
    for (size_t i = 0; ok && i < store->tensors.count; i++)
        ok = store_need(store, store->tensors.data[i]);
    return ok;
}

void store_changed(Store *store) { store->version++; }

int64_t store_version(const Store *store) { return store->version; }

int64_t store_count(const Store *store) { return (int64_t)store->tensors.count; }

StoreTensor *store_at(Store *store, int64_t i) { return store->tensors.data[i]; }

StoreTensor *store_find(Store *store, const char *name) { return map_get(&store->by_name, name); }

bool store_is_param(const StoreTensor *tensor) { return is_param(tensor->role); }

static int64_t count_bytes(const Store *store, bool borrowed)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < store->tensors.count; i++) {
        const StoreTensor *tensor = store->tensors.data[i];
        if (borrowed || !tensor->borrowed)
            bytes += tensor->count * type_bytes(tensor->type);
    }
    return bytes;
}

int64_t store_bytes(const Store *store) { return count_bytes(store, true); }

int64_t store_own_bytes(const Store *store) { return count_bytes(store, false); }

/* ---- what executors prepare ---- */

const StoreSource *store_keeper(const Store *store)
{
    const StoreSource *source = store_source(store);
    return source && source->find ? source : NULL;
}

/* As another process has prepared it, where the source has that; else memory to prepare it in. */
static KeptBlock *new_kept(Store *store, const TfcProgram *program, uint64_t layout, int64_t bytes)
{
    const StoreSource *source = store_keeper(store);
    KeptBlock *kept = calloc(1, sizeof *kept);
    if (!kept)
        return NULL;
    *kept = (KeptBlock){.program = program, .layout = layout, .bytes = bytes};
    if (source && program->n_prepared)
        kept->memory = source->find(source->context, program, layout, bytes);
    if (kept->memory) {
        kept->found = source;
        kept->prepared = store->version;
    } else
        kept->memory = memory_reserve(bytes);
    if (!kept->memory) {
        free(kept);
        return NULL;
    }
    kept->next = store->blocks;
    return store->blocks = kept;
}

const void *store_panels(Store *store, const TfcPanels *wanted)
{
    const StoreSource *source = store_source(store);
    if (!source || !source->panels)
        return NULL;
    pthread_mutex_lock(&store->mutex);
    const void *panels = source->panels(source->context, wanted);
    pthread_mutex_unlock(&store->mutex);
    return panels;
}

KeptBlock *store_take_kept(Store *store, const TfcProgram *program, uint64_t layout, int64_t bytes)
{
    pthread_mutex_lock(&store->mutex);
    KeptBlock *kept = store->blocks;
    while (kept && (kept->program != program || kept->layout != layout || kept->bytes != bytes ||
                    kept->prepared != store->version))
        kept = kept->next;
    if (!kept)
        kept = new_kept(store, program, layout, bytes);
    if (kept)
        kept->users++;
    pthread_mutex_unlock(&store->mutex);
    return kept;
}

static void end_kept(Store *store, KeptBlock *kept)
{
    KeptBlock **at = &store->blocks;
    while (*at != kept)
        at = &(*at)->next;
    *at = kept->next;
    if (kept->keeps)
        kept->keeps->keep(kept->keeps->context, kept->program, kept->layout, kept->memory,
                          kept->bytes);
    if (kept->found)
        kept->found->release(kept->memory, kept->bytes);
    else
        free(kept->memory);
    free(kept);
}

void store_keep_param(Store *store, const StoreSource *source, const StoreTensor *tensor)
{
    pthread_mutex_lock(&store->mutex);
    source->read(source->context, tensor);
    pthread_mutex_unlock(&store->mutex);
}

void store_drop_kept(Store *store, KeptBlock *kept)
{
    pthread_mutex_lock(&store->mutex);
    if (!--kept->users)
        end_kept(store, kept);
    pthread_mutex_unlock(&store->mutex);
}
