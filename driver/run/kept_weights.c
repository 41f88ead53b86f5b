/* Prepared weights in the user's cache; see kept_weights.h. */
#define _DEFAULT_SOURCE
#include "driver/run/kept_weights.h"

#include "base/element.h"
#include "base/xxh64.h"
#include "codegen/cache.h"
#include "driver/run/weights.h"

#include <string.h>
#include <sys/stat.h>

/* Less is prepared faster than a file is found. */
enum { LEAST_BYTES = 4 << 20, SAMPLES = 64, SAMPLE_BYTES = 4096 };

static const char checked[] = "checked";

typedef struct LentParam {
    void *memory;
    int64_t bytes;
} LentParam;

struct KeptWeights {
    Session *session;
    WeightsFile file;
    Cache *cache;
    ProgramKey identity;
    bool is_checked;
    StoreSource source;
    VEC(LentParam) lent;
};

/* ---- which checkpoint ---- */

static uint64_t sample_of(const StMap *file)
{
    uint64_t hash = file->bytes, bytes = file->bytes, n = bytes / SAMPLE_BYTES;
    n = n < SAMPLES ? n : SAMPLES;
    for (uint64_t i = 0; i < n; i++)
        hash = xxh64((const char *)file->map + (bytes - SAMPLE_BYTES) / n * i, SAMPLE_BYTES, hash);
    return n ? hash : xxh64(file->map, bytes, hash);
}

static bool put_map(const StMap *file, Text *out)
{
    struct stat info;
    if (stat(file->path, &info) || !file->map)
        return false;
    text_add(out, "%llu %lld.%09ld %lld.%09ld %llu %llu %llx\n", (unsigned long long)info.st_size,
             (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec, (long long)info.st_ctim.tv_sec,
             info.st_ctim.tv_nsec, (unsigned long long)info.st_dev, (unsigned long long)info.st_ino,
             (unsigned long long)sample_of(file));
    return true;
}

static bool put_file(const StFile *file, Text *out)
{
    bool ok = put_map(&(StMap){file->path, file->map, file->map_bytes}, out);
    for (int64_t i = 0; ok && i < file->n_more; i++)
        ok = put_map(&file->more[i], out);
    return ok;
}

static bool identify(KeptWeights *kept)
{
    Text text = {0};
    const Model *model = kept->session->model;
    bool ok = true;
    for (size_t i = 0; ok && i < kept->file.shards->files.count; i++)
        ok = put_file(kept->file.shards->files.data[i], &text);
    for (int i = 0; i < kept->file.shards->n_items; i++)
        text_string(&text, kept->file.names.own[i] ? "own names\n" : "published names\n");
    for (size_t i = 0; i < model->files.count; i++)
        text_add(
            &text, "%llx\n",
            (unsigned long long)xxh64(model->files.data[i]->text, model->files.data[i]->length, 0));
    for (size_t i = 0; i < kept->session->options.settings.count; i++)
        text_add(&text, "%s\n", kept->session->options.settings.data[i]);
    if (ok)
        kept->identity = key_of_text(text.data, NULL);
    text_free(&text);
    return ok;
}

/* ---- blocks ---- */

static bool find_key(const KeptWeights *kept, const TfcProgram *program, uint64_t layout,
                     int64_t bytes, ProgramKey *key)
{
    const ProgramKey *of = jit_key_of(kept->session->jit, program);
    struct {
        ProgramKey identity;
        uint64_t layout;
        int64_t bytes;
    } what = {kept->identity, layout, bytes};
    if (of)
        *key = key_of_made(of, &what, sizeof what);
    return of && bytes >= LEAST_BYTES;
}

static void *find_block(void *context, const TfcProgram *program, uint64_t layout, int64_t bytes)
{
    KeptWeights *kept = context;
    ProgramKey key;
    return find_key(kept, program, layout, bytes, &key) ? cache_map(kept->cache, &key, bytes)
                                                        : NULL;
}

static void keep_block(void *context, const TfcProgram *program, uint64_t layout,
                       const void *memory, int64_t bytes)
{
    KeptWeights *kept = context;
    ProgramKey key;
    if (find_key(kept, program, layout, bytes, &key))
        cache_put_block(kept->cache, &key, memory, bytes);
}

/* A large param that steps look rows up in: of a mapping none but these are read. */
static ProgramKey key_of_param(const KeptWeights *kept, const StoreTensor *tensor)
{
    return key_of_made(&kept->identity, tensor->name, strlen(tensor->name) + 1);
}

static int64_t param_bytes(const StoreTensor *tensor)
{
    return tensor->count * (int64_t)element_info(tensor->type)->bytes;
}

static void *lend_param(void *context, const StoreTensor *tensor)
{
    KeptWeights *kept = context;
    const int64_t bytes = param_bytes(tensor);
    const ProgramKey key = key_of_param(kept, tensor);
    void *memory = bytes < LEAST_BYTES ? NULL : cache_map(kept->cache, &key, bytes);
    if (memory)
        vec_push(kept->session->job->arena, kept->lent, ((LentParam){memory, bytes}));
    return memory;
}

static void keep_param(void *context, const StoreTensor *tensor)
{
    KeptWeights *kept = context;
    const ProgramKey key = key_of_param(kept, tensor);
    if (store_is_param(tensor) && !tensor->borrowed && param_bytes(tensor) >= LEAST_BYTES)
        cache_put_block(kept->cache, &key, tensor->data, param_bytes(tensor));
}

static bool fill_param(void *context, StoreTensor *tensor)
{
    return weights_read(&((KeptWeights *)context)->file, tensor);
}

/* ---- the whole ---- */

KeptWeights *kept_weights_open(Job *job, Session *session, const char *checkpoint)
{
    KeptWeights *kept = ARENA_NEW(job->arena, KeptWeights);
    *kept = (KeptWeights){.session = session, .cache = cache_open(job->arena, NULL, CACHE_BYTES)};
    if (!kept->cache)
        return NULL;
    if (cache_note(kept->cache) || !weights_open(job, session->model, checkpoint, &kept->file) ||
        !identify(kept)) {
        kept_weights_close(kept);
        return NULL;
    }
    const char *text = cache_get_text(kept->cache, &kept->identity, job->arena);
    kept->is_checked = text && !strcmp(text, checked);
    return kept;
}

bool kept_weights_checked(const KeptWeights *kept) { return kept && kept->is_checked; }

void kept_weights_use(KeptWeights *kept, Store *store)
{
    if (!kept)
        return;
    if (!kept->is_checked)
        cache_put_text(kept->cache, &kept->identity, checked);
    kept->source = (StoreSource){.context = kept,
                                 .fill = fill_param,
                                 .lend = lend_param,
                                 .read = keep_param,
                                 .find = find_block,
                                 .keep = keep_block,
                                 .release = cache_unmap};
    store_set_source(store, &kept->source);
}

void kept_weights_close(KeptWeights *kept)
{
    if (!kept)
        return;
    for (size_t i = 0; i < kept->lent.count; i++)
        cache_unmap(kept->lent.data[i].memory, kept->lent.data[i].bytes);
    weights_close(&kept->file);
    cache_close(kept->cache);
}
