/* Hashes of params, from files and through a model. */
#include "driver/run/params_hash.h"

#include "base/sha256.h"
#include "base/xxh64.h"
#include "driver/formats/formats.h"
#include "driver/run/checkpoints.h"
#include "driver/run/model_argument.h"
#include "driver/run/weights.h"
#include "passes/optimizer.h"
#include "runtime/exec/size.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Hashed: a tensor whose elements are in memory as they are hashed. */
typedef struct Hashed {
    const char *name;
    unsigned type;
    int rank;
    const int64_t *dims;
    const void *data;
    uint64_t bytes;
} Hashed;

static const char *dims_text(Arena *arena, const Hashed *tensor)
{
    const char *text = "";
    for (int d = 0; d < tensor->rank; d++)
        text = arena_printf(arena, "%s%s%" PRId64, text, d ? "," : "", tensor->dims[d]);
    return text;
}

static void add_text(Sha256 *sha, const char *text) { sha256_add(sha, text, strlen(text) + 1); }

static void add_tensor(Job *job, ParamsHash *hash, Sha256 *sha, const Hashed *tensor)
{
    const ParamHash one = {.name = arena_strdup(job->arena, tensor->name),
                           .type = element_info(tensor->type)->name,
                           .dims = dims_text(job->arena, tensor),
                           .hash = xxh64(tensor->data, tensor->bytes, 0)};
    vec_push(job->arena, hash->list, one);
    add_text(sha, one.name);
    add_text(sha, one.type);
    add_text(sha, one.dims);
    sha256_add(sha, tensor->data, tensor->bytes);
}

static void finish(Job *job, ParamsHash *hash, Sha256 *sha, const char *of)
{
    char *text = ARENA_ARRAY(job->arena, char, 2 * SHA256_BYTES + 1);
    sha256_finish_text(sha, text);
    hash->all = text;
    hash->of = of;
}

/* ---- of a file ---- */

static int compare_stored(const void *a, const void *b)
{
    return strcmp((*(const StTensor *const *)a)->name, (*(const StTensor *const *)b)->name);
}

/* Whether the file has the elements as they are. */
static bool is_plain(const StTensor *tensor)
{
    return !tensor->view && !tensor->blocks && !tensor->scales.data;
}

/* A tensor whose elements are packed or lie in another order, as f32. */
static bool add_converted(Job *job, ParamsHash *hash, Sha256 *sha, const char *path,
                          const StTensor *tensor)
{
    float *values = malloc((size_t)tensor->count * sizeof *values + 1);
    bool ok = values ? st_to_f32(tensor, values) : job_no_memory(job);
    if (values && !ok)
        job_error(job, "%s: '%s' has elements that f32 does not hold, so it has no hash", path,
                  tensor->name);
    if (ok)
        add_tensor(job, hash, sha,
                   &(Hashed){tensor->name, ST_F32, tensor->rank, tensor->dims, values,
                             (uint64_t)tensor->count * sizeof *values});
    free(values);
    return ok;
}

static bool add_stored(Job *job, ParamsHash *hash, Sha256 *sha, const StFile *file,
                       const StTensor *tensor)
{
    if (!st_check_whole(&job->diags, file, tensor))
        return false;
    if (!is_plain(tensor))
        return add_converted(job, hash, sha, file->path, tensor);
    add_tensor(job, hash, sha,
               &(Hashed){tensor->name, tensor->type, tensor->rank, tensor->dims, tensor->data,
                         tensor->bytes});
    return true;
}

bool params_hash_file(Job *job, const char *path, ParamsHash *hash)
{
    *hash = (ParamsHash){0};
    StFile *file = format_open(&job->diags, job->arena, path);
    if (!file)
        return false;
    VEC(const StTensor *) sorted = {0};
    for (int64_t i = 0; i < file->n; i++)
        if (!file->tensors[i].is_scale && !optimizer_is_slot(file->tensors[i].name))
            vec_push(job->arena, sorted, &file->tensors[i]);
    if (sorted.count)
        qsort(sorted.data, sorted.count, sizeof *sorted.data, compare_stored);
    Sha256 sha;
    sha256_init(&sha);
    bool ok = true;
    for (size_t i = 0; ok && i < sorted.count; i++)
        ok = add_stored(job, hash, &sha, file, sorted.data[i]);
    finish(job, hash, &sha, path);
    st_close(file);
    return ok;
}

/* ---- through a model ---- */

static int compare_params(const void *a, const void *b)
{
    return strcmp((*(const StoreTensor *const *)a)->name, (*(const StoreTensor *const *)b)->name);
}

static void add_store(Job *job, ParamsHash *hash, Store *store, const char *of)
{
    VEC(const StoreTensor *) sorted = {0};
    for (int64_t i = 0; i < store_count(store); i++)
        if (store_is_param(store_at(store, i)))
            vec_push(job->arena, sorted, store_at(store, i));
    if (sorted.count)
        qsort(sorted.data, sorted.count, sizeof *sorted.data, compare_params);
    Sha256 sha;
    sha256_init(&sha);
    for (size_t i = 0; i < sorted.count; i++) {
        const StoreTensor *t = sorted.data[i];
        add_tensor(job, hash, &sha,
                   &(Hashed){t->name, t->type, t->rank, t->dims, t->data,
                             (uint64_t)(t->count * type_bytes(t->type))});
    }
    finish(job, hash, &sha, of);
}

/* Weights of another program have names and layouts of their own. */
static bool hash_weights(Job *job, const char *folder, const char *weights, ParamsHash *hash)
{
    ModelArgument model;
    Session session;
    if (!model_argument(job, folder, &(TextList){0}, &model) ||
        !session_open(&session, job, &model.options))
        return false;
    Store *store = store_new_or_end();
    const char *name = session.model->has_loss ? "loss" : "forward";
    const TfcProgram *program = session_compile(&session, session_function(&session, name));
    bool ok = program && (store_add_program(store, program) || job_no_memory(job)) &&
              weights_load(job, session.model, store, weights, NULL);
    if (ok)
        add_store(job, hash, store, weights);
    session_close(&session);
    store_free(store);
    return ok;
}

bool params_hash_run(Job *job, const char *folder, const char *checkpoint, ParamsHash *hash)
{
    *hash = (ParamsHash){0};
    const char *path = run_checkpoint(job, folder, checkpoint);
    if (!path)
        return false;
    return run_is_weights(path) || !run_is_checkpoint(job, path)
               ? hash_weights(job, folder, path, hash)
               : params_hash_file(job, path, hash);
}
