/* Sessions, and the functions that go from tensors to tensors. */
#include "runtime/model/state.h"

#include <stdlib.h>
#include <string.h>

int tfc_model_session_new(TfcLoaded *loaded, TfcSession **out)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return tfc_model_fail(TFC_ERROR_MEMORY, "out of memory");
    **out = (TfcSession){.loaded = loaded, .n_slots = -1};
    return TFC_OK;
}

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
}

void tfc_model_session_free(TfcSession *session)
{
    if (!session)
        return;
    drop_executors(session);
    arena_free(session->results);
    free(session->next);
    free(session);
}

bool session_refresh(TfcSession *session)
{
    pthread_mutex_lock(&session->loaded->mutex);
    int64_t generation = session->loaded->generation;
    pthread_mutex_unlock(&session->loaded->mutex);
    if (session->store && session->generation == generation)
        return true;
    drop_executors(session);
    session->generation = generation;
    session->store = store_new();
    return session->store != NULL;
}

const TfcProgram *session_program(TfcSession *session, TfcFunction function)
{
    static const char *const names[] = {"forward", "loss", "train_step", "encode", "decode_step"};
    const TfcProgram *program = session->loaded->variant->programs[function];
    if (!program)
        tfc_model_fail(TFC_ERROR_FUNCTION, "%s was compiled without the function '%s'",
                   session->loaded->model->name, names[function]);
    return program;
}

static void *find_shared(void *context, const TfcTensor *tensor)
{
    const StoreTensor *found = store_find(context, tensor->name);
    return found ? found->data : NULL;
}

bool session_add(TfcSession *session, const TfcProgram *program)
{
    pthread_mutex_lock(&session->loaded->mutex);
    bool ok = store_add_borrowing(session->store, program, find_shared, session->loaded->store);
    pthread_mutex_unlock(&session->loaded->mutex);
    return ok;
}

static Exec *executor(TfcSession *session, TfcFunction function, const TfcProgram *program)
{
    Exec **exec = &session->execs[function];
    if (!*exec && session_add(session, program))
        *exec = exec_new(program, session->store);
    return *exec;
}

/* ---- arguments ---- */

static bool is_ragged(const TfcProgram *program, int32_t dim)
{
    return program->dims[dim].batch >= 0;
}

static const TfcWord *find_input(const TfcProgram *program, const TfcWord *inputs, const char *name)
{
    for (int32_t i = 0; name && i < program->n_inputs; i++)
        if (!strcmp(program->inputs[i].name, name))
            return &inputs[i];
    return NULL;
}

static int set_dims(const TfcProgram *program, Exec *exec, const TfcWord *words)
{
    for (int32_t d = 0; d < program->n_dims; d++) {
        const TfcWord *batch = is_ragged(program, d) ? &words[program->dims[d].batch] : &words[d];
        if (batch->extent < 0 || batch->extent > INT32_MAX)
            return tfc_model_fail(TFC_ERROR_ARGUMENT, "the dimension %s is %lld", program->dims[d].name,
                              (long long)batch->extent);
        if (!is_ragged(program, d)) {
            exec_set_dim(exec, d, words[d].extent);
            continue;
        }
        const int32_t *lengths = words[d].data;
        int64_t total = 0;
        if (!lengths && batch->extent)
            return tfc_model_fail(TFC_ERROR_ARGUMENT, "no lengths of %s", program->dims[d].name);
        for (int64_t b = 0; b < batch->extent; b++) {
            if (lengths[b] < 0 || (total += lengths[b]) > INT32_MAX)
                return tfc_model_fail(TFC_ERROR_ARGUMENT, "length %lld of %s is %d", (long long)b,
                                  program->dims[d].name, lengths[b]);
        }
        exec_set_ragged(exec, d, batch->extent, lengths, NULL);
    }
    return TFC_OK;
}

/* What follows each target token: the next one, eos at the end. */
static const int32_t *make_next(TfcSession *session, int64_t rows, const int32_t *lengths,
                                const int32_t *target)
{
    int64_t total = 0, at = 0;
    for (int64_t b = 0; b < rows; b++)
        total += lengths[b];
    if (total > session->next_room || !session->next) {
        int32_t *grown = realloc(session->next, sizeof *grown * (size_t)(total + 1));
        if (!grown)
            return NULL;
        session->next = grown;
        session->next_room = total;
    }
    for (int64_t b = 0; b < rows; at += lengths[b++])
        for (int32_t i = 0; i < lengths[b]; i++)
            session->next[at + i] = i + 1 < lengths[b] ? target[at + i + 1]
                                                       : (int32_t)session->loaded->model->eos;
    return session->next;
}

static const void *input_data(TfcSession *session, const TfcProgram *program, const TfcWord *dims,
                              const TfcPort *port, const TfcWord *inputs, const TfcWord *given)
{
    const TfcModel *model = session->loaded->model;
    const TfcWord *target = find_input(program, inputs, model->target);
    bool is_next = model->next && !strcmp(port->name, model->next);
    if (given->data || !is_next || !target || !target->data || model->eos < 0)
        return given->data;
    int32_t dim = port->shape.dims[1].dim;
    return make_next(session, dims[program->dims[dim].batch].extent, dims[dim].data, target->data);
}

typedef union Scalar {
    float f32;
    double f64;
    int32_t i32;
    bool boolean;
} Scalar;

static Scalar scalar_of(TfcType type, double value)
{
    switch (type) {
    case TFC_F64: return (Scalar){.f64 = value};
    case TFC_I32: return (Scalar){.i32 = (int32_t)value};
    case TFC_BOOL: return (Scalar){.boolean = value != 0};
    default: return (Scalar){.f32 = (float)value};
    }
}

static double scalar_value(TfcType type, const void *data)
{
    switch (type) {
    case TFC_F64: return *(const double *)data;
    case TFC_I32: return *(const int32_t *)data;
    case TFC_BOOL: return *(const bool *)data;
    default: return *(const float *)data;
    }
}

static int run(TfcSession *session, const TfcProgram *program, Exec *exec, const TfcWord *in,
               TfcWord *out)
{
    enum { MOST_INPUTS = 64 };
    Scalar scalars[MOST_INPUTS];
    const TfcWord *inputs = in + program->n_dims;
    int status = program->n_inputs > MOST_INPUTS ? tfc_model_fail(TFC_ERROR_ARGUMENT, "too many inputs")
                                                 : set_dims(program, exec, in);
    for (int32_t i = 0; !status && i < program->n_inputs; i++) {
        const TfcPort *port = &program->inputs[i];
        const void *data = &scalars[i];
        if (port->shape.rank == 0)
            scalars[i] = scalar_of(port->type, inputs[i].value);
        else
            data = input_data(session, program, in, port, inputs, &inputs[i]);
        if (!data)
            return tfc_model_fail(TFC_ERROR_ARGUMENT, "the input '%s' is NULL", port->name);
        exec_input(exec, port->name, data);
    }
    if (!status && !exec_run(exec))
        status = tfc_model_fail(TFC_ERROR_MEMORY, "out of memory");
    for (int32_t i = 0; !status && i < program->n_outputs; i++) {
        const TfcPort *port = &program->outputs[i];
        const void *data = exec_output(exec, port->name);
        if (port->shape.rank == 0)
            out[i].value = scalar_value(port->type, data);
        else
            out[i].data = data;
    }
    return status;
}

static int run_function(TfcSession *session, TfcFunction function, const TfcWord *in, TfcWord *out)
{
    const TfcProgram *program = session_program(session, function);
    if (!program)
        return TFC_ERROR_FUNCTION;
    Exec *exec = session_refresh(session) ? executor(session, function, program) : NULL;
    return exec ? run(session, program, exec, in, out)
                : tfc_model_fail(TFC_ERROR_MEMORY, "out of memory");
}

int tfc_model_forward(TfcSession *session, const TfcWord *in, TfcWord *out)
{
    return run_function(session, TFC_FORWARD, in, out);
}

int tfc_model_loss(TfcSession *session, const TfcWord *in, TfcWord *out)
{
    return run_function(session, TFC_LOSS, in, out);
}

/* ---- training ---- */

bool tfc_model_start_training(TfcLoaded *loaded, const TfcProgram *program)
{
    pthread_mutex_lock(&loaded->mutex);
    bool ok = loaded->trains;
    if (!ok && store_own(loaded->store) && store_add_program(loaded->store, program)) {
        loaded->generation++;
        ok = loaded->trains = true;
    }
    pthread_mutex_unlock(&loaded->mutex);
    return ok;
}

int tfc_model_train_step(TfcSession *session, const TfcWord *in, TfcWord *out)
{
    TfcLoaded *loaded = session->loaded;
    const TfcProgram *program = session_program(session, TFC_TRAIN_STEP);
    if (!program)
        return TFC_ERROR_FUNCTION;
    if (!tfc_model_start_training(loaded, program) || !session_refresh(session))
        return tfc_model_fail(TFC_ERROR_MEMORY, "out of memory");
    Exec *exec = executor(session, TFC_TRAIN_STEP, program);
    if (!exec)
        return tfc_model_fail(TFC_ERROR_MEMORY, "out of memory");
    const int64_t step = loaded->training.step + 1;
    exec_set_rng(exec, in[0].seed, (uint64_t)step);
    /* The step's number is not the caller's: his arguments are those of the header. */
    TfcWord words[2 * TFC_MAX_LOOPS + 96];
    int32_t n = program->n_dims + program->n_inputs, from = 1;
    if (n > (int32_t)(sizeof words / sizeof words[0]))
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "too many inputs");
    for (int32_t i = 0; i < n; i++) {
        bool is_step = i >= program->n_dims && !strcmp(program->inputs[i - program->n_dims].name, "step");
        words[i] = is_step ? (TfcWord){.value = (double)step} : in[from++];
    }
    int status = run(session, program, exec, words, out);
    if (!status) {
        loaded->training.step = step;
        loaded->training.seed = in[0].seed;
    }
    return status;
}
