/* Compiling a model in several ways on the same params and inputs. */
#include "check/check.h"

#include "driver/run/weights.h"

#include <string.h>

/* Sizes tried one after the other; a model takes those it has and that fit. */
static const char *const small_sizes[] = {
    "vocab=29",   "layers=2",   "encoder_layers=2", "decoder_layers=2", "n_layers=2",
    "d_model=16", "heads=4",    "kv_heads=2",       "d_ff=24",          "window=2",
    "radius=2",   "context=16", "max_length=16",    "d_model=16",       "heads=4",
};

static bool loads(const Check *check, const TextList *settings)
{
    Arena *arena = arena_new();
    Job quiet = job_quiet(check->job, arena);
    SessionOptions options = session_defaults(check->path);
    options.library = check->library;
    options.reach = check->reach;
    options.settings = *settings;
    Session session;
    bool ok = session_open(&session, &quiet, &options);
    arena_free(arena);
    return ok;
}

static bool is_set(const TextList *settings, const char *setting)
{
    size_t length = strcspn(setting, "=") + 1;
    for (size_t i = 0; i < settings->count; i++)
        if (!strncmp(settings->data[i], setting, length))
            return true;
    return false;
}

void check_reduce(Check *check)
{
    for (size_t i = 0; i < sizeof small_sizes / sizeof small_sizes[0]; i++) {
        if (is_set(&check->settings, small_sizes[i]))
            continue;
        TextList longer = {0};
        for (size_t k = 0; k < check->settings.count; k++)
            vec_push(check->job->arena, longer, check->settings.data[k]);
        vec_push(check->job->arena, longer, small_sizes[i]);
        if (loads(check, &longer))
            check->settings = longer;
    }
}

static Function *derive(Variant *v, const VariantOptions *options)
{
    Function *function = options->function ? session_function(&v->session, options->function)
                                           : derive_gradient(v->session.model->module, true);
    if (function && options->holds != 0)
        held_add_outputs(function, options->holds);
    return function;
}

bool variant_open(Check *check, Variant *v, const VariantOptions *options)
{
    Job *job = check->job;
    *v = (Variant){.store = store_new_or_end(), .binding = {.job = job}};
    SessionOptions session = session_defaults(check->path);
    session.library = check->library;
    session.reach = check->reach;
    session.settings = check->settings;
    session.float_type = options->type;
    session.opt_level = options->opt_level;
    session.scalar = options->scalar;
    if (!session_open(&v->session, job, &session))
        return false;
    Function *meaning = derive(v, options);
    if (meaning)
        meaning->name = "meaning"; /* a module has one function of a name */
    v->meaning = meaning;
    Function *function = derive(v, options);
    v->program = function ? session_compile(&v->session, function) : NULL;
    if (!v->program)
        return false;
    if (!store_add_program(v->store, v->program) || !(v->exec = exec_new(v->program, v->store)))
        return job_no_memory(job);
    return weights_initialise(job, v->session.model, v->store, check->seed);
}

bool variant_feed(Check *check, Variant *v, const SyntheticOptions *shape)
{
    v->binding = (Binding){.job = check->job};
    synthetic_inputs(&v->binding, v->session.model->module, shape);
    return tensors_bind(&v->binding, v->program, v->exec);
}

bool variant_run(Check *check, Variant *v)
{
    exec_set_rng(v->exec, check->seed, 1);
    return exec_run(v->exec) || job_no_memory(check->job);
}

/* The i-th param's tensor, if it is a state that the variant has. */
static StoreTensor *state_at(const Variant *v, size_t i)
{
    const ParamInfo *info = v->session.model->module->params.data[i];
    return info->role == PARAM_STATE ? store_find(v->store, info->name) : NULL;
}

static size_t state_bytes(const StoreTensor *state)
{
    return (size_t)state->count * element_info(state->type)->bytes;
}

const void *variant_states(const Variant *v, Arena *arena)
{
    size_t n = v->session.model->module->params.count;
    void **states = ARENA_ARRAY(arena, void *, n + 1);
    for (size_t i = 0; i < n; i++) {
        const StoreTensor *state = state_at(v, i);
        states[i] = state ? arena_copy(arena, state->data, state_bytes(state)) : NULL;
    }
    return states;
}

void variant_put_states(Variant *v, const void *states)
{
    void *const *from = states;
    for (size_t i = 0; i < v->session.model->module->params.count; i++) {
        StoreTensor *state = state_at(v, i);
        if (state && from[i])
            memcpy(state->data, from[i], state_bytes(state));
    }
    store_changed(v->store);
}

void variant_close(Variant *v)
{
    exec_free(v->exec);
    session_close(&v->session);
    store_free(v->store);
}

void check_row(Check *check, const char *name, int result, const char *detail)
{
    CheckRow row = {.name = name, .detail = detail};
    row.result = result;
    vec_push(check->job->arena, check->rows, row);
}
