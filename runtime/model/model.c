/* Loaded models: choosing the programs for this machine, params, errors. */
#include "runtime/model/state.h"

#include "base/cpu.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DETAIL_BYTES = 1024 };
static _Thread_local char detail[DETAIL_BYTES];

int tfc_model_fail(TfcStatus status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    return status;
}

const char *tfc_model_error_detail(void) { return detail; }

const char *tfc_model_error_text(int status)
{
    static const char *const texts[TFC_N_STATUS] = {
        [TFC_OK] = "done",
        [TFC_ERROR_VERSION] = "the header is not the one of this library",
        [TFC_ERROR_CPU] = "this machine cannot run any of the code inside",
        [TFC_ERROR_WEIGHTS] = "the weights are missing or do not fit",
        [TFC_ERROR_MEMORY] = "out of memory",
        [TFC_ERROR_FUNCTION] = "the library was compiled without this function",
        [TFC_ERROR_ARGUMENT] = "an argument is missing or out of range",
        [TFC_ERROR_FILE] = "the file cannot be written",
    };
    return status >= 0 && status < TFC_N_STATUS ? texts[status] : "there is no such error";
}

/* The first of the diagnostics as the detail. */
static int fail_with(TfcStatus status, const Diagnostics *diags)
{
    assert(diags->list.count);
    const Diag *first = &diags->list.data[0];
    const Source *source = first->loc.source;
    return tfc_model_fail(status, "%s%s%s", source ? source->path : "", source ? ": " : "", first->message);
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
    const TfcModel *model = context;
    for (int64_t i = 0; i < model->n_weights; i++)
        if (!strcmp(model->weights[i].name, tensor->name))
            return (void *)(uintptr_t)model->weights[i].data; /* read only: store_own comes first */
    return NULL;
}

/* Params of every function; the optimizer's state waits for the first train_step. */
static bool add_params(TfcLoaded *loaded, bool inside)
{
    bool ok = true;
    for (int f = 0; f < TFC_N_FUNCTIONS; f++) {
        const TfcProgram *program = loaded->variant->programs[f];
        bool alone = !loaded->variant->programs[TFC_FORWARD] && !loaded->variant->programs[TFC_LOSS] &&
                     !loaded->variant->programs[TFC_DECODE_STEP];
        if (program && (f != TFC_TRAIN_STEP || alone))
            ok = ok && store_add_borrowing(loaded->store, program, inside ? find_inside : NULL,
                                           (void *)(uintptr_t)loaded->model);
    }
    return ok;
}

static int start(const TfcModel *model, int64_t header, bool inside, TfcLoaded **out)
{
    *out = NULL;
    if (model->abi != TFC_MODEL_ABI || header != model->header)
        return tfc_model_fail(TFC_ERROR_VERSION, "%s: the program was compiled with another %s.h",
                          model->name, model->name);
    const TfcVariant *variant = choose_variant(model);
    if (!variant)
        return tfc_model_fail(TFC_ERROR_CPU, "%s: the code inside needs x86-64-v%d, this machine is v%d",
                          model->name, (int)model->variants[model->n_variants - 1].level,
                          cpu_level());
    TfcLoaded *loaded = calloc(1, sizeof *loaded);
    if (!loaded)
        return tfc_model_fail(TFC_ERROR_MEMORY, "%s: out of memory", model->name);
    *loaded = (TfcLoaded){.model = model, .variant = variant, .store = store_new()};
    pthread_mutex_init(&loaded->mutex, NULL);
    if (!add_params(loaded, inside)) {
        tfc_model_close(loaded);
        return tfc_model_fail(TFC_ERROR_MEMORY, "%s: out of memory", model->name);
    }
    *out = loaded;
    return TFC_OK;
}

/* Closes what cannot be given; the status. */
static int give_up(TfcLoaded **out, int status)
{
    tfc_model_close(*out);
    *out = NULL;
    return status;
}

typedef bool Load(Diagnostics *, Arena *, const char *path, Store *, TrainState *);

/* Fills a started model from a file; closes it after errors. */
static int fill(TfcLoaded **out, Load *load, const char *path, TrainState *state)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    int status = TFC_OK;
    if (!load(&diags, arena, path, (*out)->store, state))
        status = give_up(out, fail_with(TFC_ERROR_WEIGHTS, &diags));
    arena_free(arena);
    return status;
}

int tfc_model_open(const TfcModel *model, int64_t header, const char *weights, TfcLoaded **out)
{
    int status = start(model, header, !weights, out);
    if (status || (!weights && model->n_weights))
        return status;
    if (!weights)
        return give_up(out, tfc_model_fail(TFC_ERROR_WEIGHTS,
                                       "%s: no weights are inside: name a safetensors file",
                                       model->name));
    return fill(out, checkpoint_load_params, weights, NULL);
}

int tfc_model_open_new(const TfcModel *model, int64_t header, uint64_t seed, TfcLoaded **out)
{
    int status = start(model, header, false, out);
    if (status)
        return status;
    for (int64_t i = 0; i < store_count((*out)->store); i++) {
        const StoreTensor *tensor = store_at((*out)->store, i);
        if (tensor->init == TFC_INIT_FILE)
            return give_up(out, tfc_model_fail(TFC_ERROR_WEIGHTS,
                                           "the initial values of '%s' are those of the file %s",
                                           tensor->name, tensor->file));
    }
    store_initialise((*out)->store, seed);
    return TFC_OK;
}

int tfc_model_open_checkpoint(const TfcModel *model, int64_t header, const char *path, TfcLoaded **out)
{
    *out = NULL;
    if (!path)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "no path");
    int status = start(model, header, false, out);
    if (status)
        return status;
    if (!tfc_model_start_training(*out, (*out)->variant->programs[TFC_TRAIN_STEP]))
        return give_up(out, tfc_model_fail(TFC_ERROR_MEMORY, "%s: out of memory", model->name));
    return fill(out, checkpoint_load, path, &(*out)->training);
}

void tfc_model_close(TfcLoaded *loaded)
{
    if (!loaded)
        return;
    store_free(loaded->store);
    pthread_mutex_destroy(&loaded->mutex);
    free(loaded);
}

/* ---- params ---- */

static bool is_param(const StoreTensor *tensor)
{
    return tensor->role != TFC_SLOT && tensor->role != TFC_GRADIENT && tensor->data;
}

static void describe(const StoreTensor *tensor, TfcParameter *out)
{
    *out = (TfcParameter){.name = tensor->name,
                          .type = tensor->type,
                          .rank = tensor->rank,
                          .count = tensor->count,
                          .data = tensor->data};
    memcpy(out->dims, tensor->dims, sizeof out->dims);
}

int64_t tfc_model_parameter_count(TfcLoaded *loaded)
{
    int64_t n = 0;
    for (int64_t i = 0; i < store_count(loaded->store); i++)
        n += is_param(store_at(loaded->store, i));
    return n;
}

int tfc_model_parameter(TfcLoaded *loaded, int64_t index, TfcParameter *out)
{
    for (int64_t i = 0, n = 0; i < store_count(loaded->store); i++)
        if (is_param(store_at(loaded->store, i)) && n++ == index) {
            describe(store_at(loaded->store, i), out);
            return TFC_OK;
        }
    return tfc_model_fail(TFC_ERROR_ARGUMENT, "there is no parameter number %lld", (long long)index);
}

int tfc_model_parameter_named(TfcLoaded *loaded, const char *name, TfcParameter *out)
{
    const StoreTensor *tensor = name ? store_find(loaded->store, name) : NULL;
    if (!tensor || !is_param(tensor))
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "there is no parameter '%s'", name ? name : "");
    describe(tensor, out);
    return TFC_OK;
}

int tfc_model_save(TfcLoaded *loaded, const char *path)
{
    if (!path)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "no path");
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    int status = TFC_OK;
    if (!checkpoint_save(&diags, arena, path, loaded->store, &loaded->training))
        status = fail_with(TFC_ERROR_FILE, &diags);
    arena_free(arena);
    return status;
}

int64_t tfc_model_steps(TfcLoaded *loaded) { return loaded->training.step; }

void tfc_model_set_threads(int n) { exec_set_threads(n); }
