/* Loaded models: choosing the programs for this machine, params, errors. */
#include "runtime/model/state.h"

#include "base/cpu.h"
#include "base/float_state.h"
#include "base/limits.h"
#include "base/team.h"
#include "runtime/exec/per_thread.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DETAIL_BYTES = 1024 };

static void *make_detail(void) { return calloc(1, DETAIL_BYTES); }

/* The calling thread's; NULL: out of memory. */
static char *detail_here(void)
{
    static PerThread details = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    return per_thread(&details, make_detail);
}

int tfc_model_fail(TfcStatus status, const char *format, ...)
{
    char *detail = detail_here();
    va_list args;
    va_start(args, format);
    if (detail)
        vsnprintf(detail, DETAIL_BYTES, format, args);
    va_end(args);
    return status;
}

int tfc_model_no_memory(void) { return tfc_model_fail(TFC_ERROR_MEMORY, "out of memory"); }

int tfc_model_need(const void *argument, const char *name)
{
    return argument ? TFC_OK : tfc_model_fail(TFC_ERROR_ARGUMENT, "%s is NULL", name);
}

const char *tfc_model_error_detail(void)
{
    const char *detail = detail_here();
    return detail ? detail : "memory ran out, so the error has no description";
}

const char *tfc_model_error_text(int status)
{
    static const char *const texts[TFC_N_STATUS] = {
#define API_STATUS(name, text, ...) text,
#include "runtime/model/statuses.def"
    };
    return status >= 0 && status < TFC_N_STATUS ? texts[status] : "there is no such error";
}

/* The first of the diagnostics as the detail. */
static int fail_with(TfcStatus status, const Diagnostics *diags)
{
    if (diags->out_of_memory || arena_failed(diags->arena) || !diags->list.count)
        return tfc_model_no_memory();
    const Diag *first = &diags->list.data[0];
    const Source *source = first->loc.source;
    return tfc_model_fail(status, "%s%s%s", source ? source->path : "", source ? ": " : "",
                          first->message);
}

/* ---- this machine ---- */

/* TFC_CPU_LEVEL=N takes no code above x86-64-vN: for tests and comparisons. */
static const TfcVariant *choose_variant(const TfcModel *model)
{
    int64_t level = cpu_level();
    const char *limit = getenv("TFC_CPU_LEVEL");
    if (limit && atoi(limit) < level)
        level = atoi(limit);
    for (int64_t i = 0; i < model->n_variants; i++)
        if (model->variants[i].level <= level)
            return &model->variants[i];
    return NULL;
}

/* ---- opening ---- */

static void *find_inside(void *context, const TfcTensor *tensor)
{
    const TfcMember *member = context;
    for (int64_t i = 0; i < member->n; i++)
        if (!strcmp(member->weights[i].name, tensor->name))
            return (void *)(uintptr_t)member->weights[i]
                .data; /* read only: store_own comes first */
    return NULL;
}

/* ---- params inside as panels ---- */

/* From panels of f32 rather than from rounded ones. */
static bool fill_from_panels(void *context, StoreTensor *tensor)
{
    const TfcMember *member = context;
    const TfcPanels *found = NULL;
    for (int64_t i = 0; i < member->n_panels; i++)
        if (!strcmp(member->panels[i].name, tensor->name) &&
            (!found || found->product != TFC_PRODUCT_F32))
            found = &member->panels[i];
    if (found)
        panels_read(found, tensor->data);
    return found != NULL;
}

static const void *panels_inside(void *context, const TfcPanels *wanted)
{
    const TfcMember *member = context;
    for (int64_t i = 0; i < member->n_panels; i++)
        if (panels_agree(&member->panels[i], wanted))
            return member->panels[i].data;
    return NULL;
}

/* Tensors that are added to the store from now on have no data until they are needed: then it is
 * written from the member's panels. */
static void use_panels(Store *store, const TfcMember *member, StoreSource *source)
{
    *source = (StoreSource){
        .context = (void *)(uintptr_t)member, .fill = fill_from_panels, .panels = panels_inside};
    store_defer(store);
    store_set_source(store, source);
}

/* Params of every function, those of the member inside; the optimizer's state waits for the first
 * train_step. */
static bool add_params(const TfcVariant *variant, const TfcMember *member, Store *store,
                       StoreSource *source)
{
    bool ok = store != NULL;
    if (ok && member && member->n_panels)
        use_panels(store, member, source);
    for (int f = 0; f < TFC_N_FUNCTIONS; f++)
        if (variant->programs[f])
            ok = ok && store_add_params(store, variant->programs[f], member ? find_inside : NULL,
                                        (void *)(uintptr_t)member);
    return ok;
}

/* The store of each model; `inside`: their weights. */
static bool fill_stores(TfcLoaded *loaded, bool inside)
{
    const TfcModel *model = loaded->model;
    int64_t n = model->n_members > 1 ? model->n_members - 1 : 0;
    loaded->store = store_new();
    loaded->others = calloc((size_t)n + 1, sizeof(Store *));
    loaded->sources = calloc((size_t)n + 1, sizeof(StoreSource));
    bool ok = loaded->others && loaded->sources &&
              add_params(loaded->variant, inside && model->n_members ? &model->members[0] : NULL,
                         loaded->store, &loaded->sources[0]);
    if (ok)
        store_find_pages(loaded->store);
    for (; ok && loaded->n_others < n; loaded->n_others++) {
        Store *store = loaded->others[loaded->n_others] = store_new();
        ok = add_params(loaded->variant, &model->members[loaded->n_others + 1], store,
                        &loaded->sources[loaded->n_others + 1]);
        if (ok)
            store_share_pages(store, loaded->store);
    }
    return ok;
}

void model_free(TfcLoaded *loaded)
{
    store_free(loaded->store);
    for (int64_t i = 0; loaded->others && i < loaded->model->n_members; i++)
        store_free(loaded->others[i]);
    free(loaded->others);
    free(loaded->sources);
    free(loaded->sets);
    free(loaded->thresholds);
    if (loaded->source != loaded->target)
        tokenizer_free(loaded->source);
    tokenizer_free(loaded->target);
    for (int c = 0; c < MOST_COLUMNS; c++)
        tokenizer_free(loaded->own[c]);
    pthread_mutex_destroy(&loaded->mutex);
    pthread_cond_destroy(&loaded->pool.changed);
    free(loaded);
}

static bool is_ensemble(const TfcModel *model) { return model->n_members > 1; }

static int refuse_ensemble(const TfcModel *model)
{
    return tfc_model_fail(
        TFC_ERROR_WEIGHTS,
        "%s: %lld models are inside, whose mean is taken: it has no other weights, and "
        "is not saved",
        model->name, (long long)model->n_members);
}

/* A model that nobody has a handle of yet, its params not filled unless they are inside. */
static int start(const TfcModel *model, int64_t header, bool inside, TfcLoaded **out)
{
    *out = NULL;
    if (model->abi != TFC_MODEL_ABI || header != model->header)
        return tfc_model_fail(TFC_ERROR_VERSION, "%s: the program was compiled with another %s.h",
                              model->name, model->name);
    int status = model_refuse_namesake(model);
    if (status)
        return status;
    if (!inside && is_ensemble(model))
        return refuse_ensemble(model);
    const TfcVariant *variant = choose_variant(model);
    if (!variant)
        return tfc_model_fail(
            TFC_ERROR_CPU, "%s: the code inside needs x86-64-v%d, this machine is v%d", model->name,
            (int)model->variants[model->n_variants - 1].level, cpu_level());
    TfcLoaded *loaded = calloc(1, sizeof *loaded);
    if (!loaded)
        return tfc_model_no_memory();
    *loaded = (TfcLoaded){.model = model, .variant = variant};
    pthread_mutex_init(&loaded->mutex, NULL);
    pthread_cond_init(&loaded->pool.changed, NULL);
    loaded->pool.most = team_processors();
    if (!fill_stores(loaded, inside) || (!inside && !model_own_label_sets(loaded))) {
        model_free(loaded);
        return tfc_model_no_memory();
    }
    *out = loaded;
    return TFC_OK;
}

/* The handle of a model that is ready; one that is not, or for which there is no handle,
 * is freed. Gives the status. */
static int finish_opening(TfcLoaded *loaded, int status, TfcModelHandle **out)
{
    float_state_leave();
    if (!status && !(*out = model_handle(loaded)))
        status = tfc_model_no_memory();
    if (status && loaded)
        model_free(loaded);
    return status;
}

typedef bool Load(Diagnostics *, Arena *, const char *path, Store *, TrainState *);

static bool load_all(Diagnostics *diags, Arena *arena, const char *path, Store *store,
                     TrainState *state)
{
    return checkpoint_load(diags, arena, path, store, NULL, state, NULL);
}

static int fill_params(TfcLoaded *loaded, Load *load, const char *path, TrainState *state)
{
    Arena *arena = arena_try_new();
    if (!arena)
        return tfc_model_no_memory();
    Diagnostics diags;
    diag_init(&diags, arena);
    int status = TFC_OK;
    if (!load(&diags, arena, path, loaded->store, state) ||
        !model_read_label_sets(loaded, path, &diags))
        status = fail_with(TFC_ERROR_WEIGHTS, &diags);
    if (state)
        state->thresholds = NULL; /* the file's memory: model_thresholds_text has them */
    arena_free(arena);
    return status;
}

/* Where a new handle goes: NULL until there is one. Until finish_opening arithmetic is IEEE 754's
 * (base/float_state.h). */
static int begin_opening(TfcModelHandle **out)
{
    float_state_enter();
    if (out)
        *out = NULL;
    return tfc_model_need(out, "model");
}

int tfc_model_open(const TfcModel *model, int64_t header, const char *weights, TfcModelHandle **out)
{
    TfcLoaded *loaded = NULL;
    int status = begin_opening(out);
    if (!status)
        status = start(model, header, !weights, &loaded);
    if (!status && weights)
        status = fill_params(loaded, checkpoint_load_params, weights, NULL);
    else if (!status && !model->n_members)
        status = tfc_model_fail(TFC_ERROR_WEIGHTS,
                                "%s: no weights are inside: name a safetensors file", model->name);
    return finish_opening(loaded, status, out);
}

static int initialise_params(TfcLoaded *loaded, uint64_t seed)
{
    for (int64_t i = 0; i < store_count(loaded->store); i++) {
        const StoreTensor *tensor = store_at(loaded->store, i);
        if (tensor->init == TFC_INIT_FILE)
            return tfc_model_fail(TFC_ERROR_WEIGHTS,
                                  "the initial values of '%s' are those of the file %s",
                                  tensor->name, tensor->file);
    }
    return store_initialise(loaded->store, seed) ? TFC_OK : tfc_model_no_memory();
}

int tfc_model_open_new(const TfcModel *model, int64_t header, uint64_t seed, TfcModelHandle **out)
{
    TfcLoaded *loaded = NULL;
    int status = begin_opening(out);
    if (!status)
        status = start(model, header, false, &loaded);
    if (!status)
        status = initialise_params(loaded, seed);
    return finish_opening(loaded, status, out);
}

int tfc_model_open_checkpoint(const TfcModel *model, int64_t header, const char *path,
                              TfcModelHandle **out)
{
    TfcLoaded *loaded = NULL;
    int status = begin_opening(out);
    if (!status)
        status = tfc_model_need(path, "path");
    if (!status)
        status = start(model, header, false, &loaded);
    if (!status && !tfc_model_start_training(loaded, loaded->variant->programs[TFC_TRAIN_STEP]))
        status = tfc_model_no_memory();
    if (!status)
        status = fill_params(loaded, load_all, path, &loaded->training);
    return finish_opening(loaded, status, out);
}

/* ---- params ---- */

static void describe_parameter(const StoreTensor *tensor, TfcParameter *out)
{
    *out = (TfcParameter){.name = tensor->name,
                          .type = tensor->type,
                          .rank = tensor->rank,
                          .count = tensor->count,
                          .data = tensor->data};
    memcpy(out->dims, tensor->dims, sizeof out->dims);
}

static int64_t count_params(Store *store)
{
    int64_t n = 0;
    for (int64_t i = 0; i < store_count(store); i++)
        n += store_is_param(store_at(store, i));
    return n;
}

int64_t tfc_model_parameter_count(TfcModelHandle *handle)
{
    int status;
    TfcLoaded *loaded = model_enter(handle, USE_READ, &status);
    if (!loaded)
        return -1;
    int64_t n = count_params(loaded->store);
    model_leave(loaded, USE_READ);
    return n;
}

/* By name, or with NULL by number. */
static StoreTensor *find_param(Store *store, const char *name, int64_t index)
{
    if (name) {
        StoreTensor *tensor = store_find(store, name);
        return tensor && store_is_param(tensor) ? tensor : NULL;
    }
    for (int64_t i = 0, n = 0; i < store_count(store); i++)
        if (store_is_param(store_at(store, i)) && n++ == index)
            return store_at(store, i);
    return NULL;
}

static int describe_param(TfcModelHandle *handle, const char *name, int64_t index,
                          TfcParameter *out)
{
    int status = tfc_model_need(out, "info");
    TfcLoaded *loaded = status ? NULL : model_enter(handle, USE_READ, &status);
    if (!loaded)
        return status;
    StoreTensor *tensor = find_param(loaded->store, name, index);
    if (tensor && !store_need(loaded->store, tensor))
        status = tfc_model_no_memory();
    else if (tensor)
        describe_parameter(tensor, out);
    else if (name)
        status = tfc_model_fail(TFC_ERROR_ARGUMENT, "there is no parameter '%s'", name);
    else
        status = tfc_model_fail(TFC_ERROR_ARGUMENT,
                                "there is no parameter number %lld: they go from 0 to %lld",
                                (long long)index, (long long)count_params(loaded->store) - 1);
    model_leave(loaded, USE_READ);
    return status;
}

int tfc_model_parameter(TfcModelHandle *handle, int64_t index, TfcParameter *out)
{
    return describe_param(handle, NULL, index, out);
}

int tfc_model_parameter_named(TfcModelHandle *handle, const char *name, TfcParameter *out)
{
    int status = tfc_model_need(name, "name");
    return status ? status : describe_param(handle, name, 0, out);
}

static int save(TfcLoaded *loaded, const char *path)
{
    Arena *arena = arena_try_new();
    if (!arena)
        return tfc_model_no_memory();
    Diagnostics diags;
    diag_init(&diags, arena);
    int status = TFC_OK;
    TrainState state = loaded->training;
    state.thresholds = model_thresholds_text(loaded, arena);
    if (!store_need_all(loaded->store) || arena_failed(arena))
        status = tfc_model_no_memory();
    else if (!checkpoint_save(&diags, arena, path, false, loaded->store, &state))
        status = fail_with(TFC_ERROR_FILE, &diags);
    arena_free(arena);
    return status;
}

int tfc_model_save(TfcModelHandle *handle, const char *path)
{
    int status = tfc_model_need(path, "path");
    TfcLoaded *loaded = status ? NULL : model_enter(handle, USE_READ, &status);
    if (!loaded)
        return status;
    status = is_ensemble(loaded->model) ? refuse_ensemble(loaded->model) : save(loaded, path);
    model_leave(loaded, USE_READ);
    return status;
}

int64_t tfc_model_steps(TfcModelHandle *handle)
{
    int status;
    TfcLoaded *loaded = model_enter(handle, USE_NONE, &status);
    if (!loaded)
        return -1;
    pthread_mutex_lock(&loaded->mutex);
    int64_t steps = loaded->training.step;
    pthread_mutex_unlock(&loaded->mutex);
    model_leave(loaded, USE_NONE);
    return steps;
}

int tfc_model_set_threads(int n)
{
    if (n < 1 || n > LIMIT_threads)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "%d threads: from 1 to %d are allowed", n,
                              LIMIT_threads);
    exec_set_threads(n);
    return TFC_OK;
}

/* ---- ids ---- */

/* The first of n ids that breaks the range; n: none does. */
static int64_t find_outside(const IdRange *range, const int32_t *ids, int64_t n)
{
    for (int64_t base = 0; base < n; base += range->period)
        for (int64_t i = base + range->from; i < base + range->to && i < n; i++)
            if (ids[i] < range->least || ids[i] >= range->below)
                return i;
    return n;
}

const IdRange *tfc_model_find_wrong_id(const TfcModel *model, const char *input, const int32_t *ids,
                                       int64_t *n)
{
    const IdRange *broken = NULL;
    for (int64_t i = 0; input && i < model->n_ids; i++) {
        if (strcmp(model->ids[i].input, input) != 0)
            continue;
        const int64_t at = find_outside(&model->ids[i].range, ids, *n);
        if (at < *n)
            broken = &model->ids[i].range;
        *n = at;
    }
    return broken;
}

int tfc_model_fail_id(const IdRange *broken, const char *input, int64_t at, int32_t id,
                      const char *place)
{
    char text[ID_RANGE_TEXT];
    return tfc_model_fail(TFC_ERROR_ARGUMENT, "%s %lld of '%s' is %d: %s%s", id_range_noun(broken),
                          (long long)at, input, id, id_range_text(broken, text), place);
}

int tfc_model_check_ids(const TfcModel *model, const char *input, const int32_t *ids, int64_t n)
{
    const IdRange *broken = tfc_model_find_wrong_id(model, input, ids, &n);
    return broken ? tfc_model_fail_id(broken, input, n, ids[n], "") : TFC_OK;
}
