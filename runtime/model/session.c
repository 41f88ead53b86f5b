/* Sessions, and their functions that go from tensors to tensors. */
#include "runtime/model/state.h"

#include "base/functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void drop_executors(TfcSession *session)
{
    for (int f = 0; f < TFC_N_FUNCTIONS; f++)
        exec_free(session->execs[f]);
    memset(session->execs, 0, sizeof session->execs);
    if (session->has_stepper)
        session->stepper.free(session->stepper.self);
    session->has_stepper = false;
    session->n_slots = -1;
    store_free(session->store);
    session->store = NULL;
    for (int64_t i = 0; session->others && i < session->loaded->n_others; i++)
        store_free(session->others[i]);
    free(session->others);
    session->others = NULL;
    free(session->sources);
    session->sources = NULL;
}

void session_free(TfcSession *session)
{
    drop_executors(session);
    arena_free(session->results);
    arena_free(session->predicted);
    arena_free(session->searching);
    token_text_free(&session->text);
    free(session->is_fed);
    free(session->next);
    free(session);
}

TfcSession *session_make(void)
{
    TfcSession *session = calloc(1, sizeof *session);
    if (session)
        session->n_slots = -1;
    return session;
}

void session_forget(TfcSession *session)
{
    arena_free(session->searching);
    session->searching = NULL;
    session->labels = (CtcBeam){0};
    session->n_slots = -1;
    session->text.length = 0;
    session->unknown = (UnknownCount){0};
}

static int open_session(TfcLoaded *loaded, TfcSessionHandle **out)
{
    TfcSession *session = session_make();
    if (!session)
        return tfc_model_no_memory();
    *out = session_handle(session, loaded);
    if (*out)
        return TFC_OK;
    session_free(session);
    return tfc_model_no_memory();
}

int tfc_model_session_new(TfcModelHandle *handle, TfcSessionHandle **out)
{
    int status = tfc_model_need(out, "session");
    if (status)
        return status;
    *out = NULL;
    TfcLoaded *loaded = model_enter(handle, USE_NONE, &status);
    if (!loaded)
        return status;
    status = open_session(loaded, out);
    model_leave(loaded, USE_NONE);
    return status;
}

/* ---- the model's params, shared ---- */

static void *lend_shared(void *context, const StoreTensor *tensor)
{
    StoreTensor *shared = store_find(context, tensor->name);
    return shared && store_need(context, shared) ? shared->data : NULL;
}

static const void *panels_shared(void *context, const TfcPanels *wanted)
{
    return store_panels(context, wanted);
}

static Store *new_store(Store *shared, StoreSource *source)
{
    Store *store = store_new();
    if (!store)
        return NULL;
    *source = (StoreSource){.context = shared, .lend = lend_shared, .panels = panels_shared};
    store_defer(store);
    store_set_source(store, source);
    store_share_pages(store, shared);
    return store;
}

static bool new_stores(TfcSession *session)
{
    const TfcLoaded *loaded = session->loaded;
    const size_t n = (size_t)loaded->n_others;
    session->others = calloc(n + 1, sizeof *session->others);
    session->sources = calloc(n + 1, sizeof *session->sources);
    bool ok = session->others && session->sources &&
              (session->store = new_store(loaded->store, &session->sources[n]));
    for (size_t i = 0; ok && i < n; i++)
        ok = (session->others[i] = new_store(loaded->others[i], &session->sources[i])) != NULL;
    return ok;
}

bool session_refresh(TfcSession *session)
{
    pthread_mutex_lock(&session->loaded->mutex);
    const int64_t generation = session->loaded->generation, step = session->loaded->training.step;
    pthread_mutex_unlock(&session->loaded->mutex);
    if (session->store && session->generation == generation) {
        if (session->step != step)
            store_changed(session->store); /* another session has trained: no ensemble does */
        session->step = step;
        return true;
    }
    drop_executors(session);
    session->generation = generation;
    session->step = step;
    if (new_stores(session))
        return true;
    drop_executors(session); /* to be made again by the next call */
    return false;
}

const TfcProgram *session_program(TfcSession *session, TfcFunction function)
{
    const TfcProgram *program = session->loaded->variant->programs[function];
    if (!program)
        tfc_model_fail(TFC_ERROR_FUNCTION, "%s was compiled without the function '%s'",
                       session->loaded->model->name, function_names()[function]);
    return program;
}

/* Slots of the optimizer; params are lent when they are needed. */
static void *find_shared(void *context, const TfcTensor *tensor)
{
    const StoreTensor *found = store_find(context, tensor->name);
    return found && !store_is_param(found) ? found->data : NULL;
}

bool session_add(TfcSession *session, Store *to, const TfcProgram *program, Store *params)
{
    pthread_mutex_lock(&session->loaded->mutex);
    bool ok = store_add_borrowing(to, program, find_shared, params);
    pthread_mutex_unlock(&session->loaded->mutex);
    return ok;
}

static Exec *executor(TfcSession *session, TfcFunction function, const TfcProgram *program)
{
    Exec **exec = &session->execs[function];
    if (!*exec && session_add(session, session->store, program, session->loaded->store))
        *exec = exec_new(program, session->store);
    return *exec;
}

/* ---- functions ---- */

int session_run_function(TfcSession *session, TfcFunction function, const TfcWord *in, TfcWord *out)
{
    const TfcProgram *program = session_program(session, function);
    if (!program)
        return TFC_ERROR_FUNCTION;
    Exec *exec = session_refresh(session) ? executor(session, function, program) : NULL;
    return exec ? session_run(session, program, exec, in, out) : tfc_model_no_memory();
}

/* What all of them begin and end with. */
typedef int Call(TfcSession *session, TfcFunction function, const TfcWord *in, TfcWord *out);

static int call(TfcSessionHandle *handle, TfcFunction function, ModelUse use, const TfcWord *in,
                TfcWord *out, Call *run_it)
{
    int status = tfc_model_need(in, "in");
    if (!status)
        status = tfc_model_need(out, "out");
    TfcSession *session = status ? NULL : session_enter(handle, use, &status);
    return session ? session_leave(session, use, run_it(session, function, in, out)) : status;
}

int tfc_model_forward(TfcSessionHandle *handle, const TfcWord *in, TfcWord *out)
{
    return call(handle, TFC_FORWARD, USE_READ, in, out, session_run_function);
}

int tfc_model_loss(TfcSessionHandle *handle, const TfcWord *in, TfcWord *out)
{
    return call(handle, TFC_LOSS, USE_READ, in, out, session_run_function);
}

int tfc_model_predict(TfcSessionHandle *handle, const TfcWord *in, TfcWord *out)
{
    return call(handle, TFC_PREDICT, USE_READ, in, out, session_run_function);
}

/* ---- training ---- */

bool tfc_model_start_training(TfcLoaded *loaded, const TfcProgram *program)
{
    pthread_mutex_lock(&loaded->mutex);
    bool ok = loaded->trains;
    if (!ok && store_need_all(loaded->store) && store_own(loaded->store) &&
        store_add_program(loaded->store, program) && store_need_all(loaded->store)) {
        store_changed(loaded->store); /* panels inside are not lent any more */
        loaded->generation++;
        ok = loaded->trains = true;
    }
    pthread_mutex_unlock(&loaded->mutex);
    return ok;
}

/* The step's number is not the caller's: his arguments are those of the header, which
 * begin with the seed. */
static void put_step(const TfcProgram *program, const TfcWord *in, int64_t step, TfcWord *words)
{
    int32_t from = 1;
    for (int32_t i = 0; i < program->n_given + program->n_inputs; i++) {
        bool is_step =
            i >= program->n_given && !strcmp(program->inputs[i - program->n_given].name, "step");
        words[i] = is_step ? (TfcWord){.value = (double)step} : in[from++];
    }
}

/* A step whose loss, gradient or update is not finite has changed nothing (passes/optimizer.c):
 * which operation made the first NaN is found by running it again. */
static int check_numbers(const TfcProgram *program, Exec *exec, const TfcWord *out, int64_t step)
{
    for (int32_t i = 0; i < program->n_outputs; i++) {
        const TfcPort *port = &program->outputs[i];
        if (port->shape.rank || isfinite(out[i].value))
            continue;
        double value = out[i].value;
        int at;
        const char *name;
        exec_find_nan(exec, &name, &at);
        return tfc_model_fail(TFC_ERROR_NUMBER, "step %lld: %s is %s%s%s%s", (long long)step,
                              port->name, isnan(value) ? "not a number" : "infinite",
                              name ? "; the first NaN was made by '"
                                   : "; the update would leave f32's range",
                              name ? name : "", name ? "'" : "");
    }
    return TFC_OK;
}

static int run_train_step(TfcSession *session, TfcFunction function, const TfcWord *in,
                          TfcWord *out)
{
    TfcLoaded *loaded = session->loaded;
    const TfcProgram *program = session_program(session, function);
    if (!program)
        return TFC_ERROR_FUNCTION;
    int status = words_check_number(program);
    if (status)
        return status;
    Exec *exec = tfc_model_start_training(loaded, program) && session_refresh(session)
                     ? executor(session, function, program)
                     : NULL;
    if (!exec)
        return tfc_model_no_memory();
    const int64_t step = loaded->training.step + 1;
    TfcWord words[MOST_DIMS + MOST_INPUTS];
    put_step(program, in, step, words);
    exec_set_rng(exec, in[0].seed, (uint64_t)step);
    status = session_run(session, program, exec, words, out);
    if (!status)
        status = check_numbers(program, exec, out, step);
    if (status)
        return status;
    pthread_mutex_lock(&loaded->mutex);
    loaded->training.step = session->step = step;
    loaded->training.seed = in[0].seed;
    pthread_mutex_unlock(&loaded->mutex);
    return TFC_OK;
}

int tfc_model_train_step(TfcSessionHandle *handle, const TfcWord *in, TfcWord *out)
{
    return call(handle, TFC_TRAIN_STEP, USE_WRITE, in, out, run_train_step);
}
