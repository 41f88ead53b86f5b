/* Sessions, and the functions that go from tensors to tensors. */
#include "runtime/model/state.h"

#include "base/functions.h"
#include "runtime/exec/size.h"

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
}

void session_free(TfcSession *session)
{
    drop_executors(session);
    arena_free(session->results);
    free(session->is_fed);
    free(session->next);
    free(session);
}

static int make_session(TfcLoaded *loaded, TfcSessionHandle **out)
{
    TfcSession *session = calloc(1, sizeof *session);
    if (!session)
        return tfc_model_no_memory();
    session->n_slots = -1;
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
    status = make_session(loaded, out);
    model_leave(loaded, USE_NONE);
    return status;
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
    const TfcProgram *program = session->loaded->variant->programs[function];
    if (!program)
        tfc_model_fail(TFC_ERROR_FUNCTION, "%s was compiled without the function '%s'",
                       session->loaded->model->name, function_names()[function]);
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

static const TfcPort *find_port(const TfcProgram *program, const char *name)
{
    for (int32_t i = 0; name && i < program->n_inputs; i++)
        if (!strcmp(program->inputs[i].name, name))
            return &program->inputs[i];
    return NULL;
}

static bool is_ragged(const TfcProgram *program, int32_t dim)
{
    return program->dims[dim].batch >= 0;
}

enum { MOST_DIMS = 64, MOST_INPUTS = 64 };

static int check_lengths(const TfcProgram *program, int32_t d, const int32_t *lengths, int64_t rows,
                         TfcDim *dim)
{
    const char *name = program->dims[d].name;
    *dim = (TfcDim){0};
    if (!lengths && rows)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "%s_lengths is NULL", name);
    for (int64_t b = 0; b < rows; b++) {
        dim->extent = lengths[b] > dim->extent ? lengths[b] : dim->extent;
        if (lengths[b] < 0 || (dim->total += lengths[b]) > INT32_MAX)
            return tfc_model_fail(TFC_ERROR_ARGUMENT, "%s_lengths[%lld] is %d%s", name,
                                  (long long)b, lengths[b],
                                  lengths[b] < 0 ? "" : ": all of them together pass 2^31 - 1");
    }
    return TFC_OK;
}

/* The dimensions, without tables of tokens. */
static int read_dims(const TfcProgram *program, const TfcWord *words, TfcDim *dims)
{
    for (int32_t d = 0; d < program->n_dims; d++) {
        int64_t extent = words[d].extent;
        if (is_ragged(program, d))
            continue;
        if (extent < 0 || extent > INT32_MAX)
            return tfc_model_fail(TFC_ERROR_ARGUMENT, "the dimension %s is %lld",
                                  program->dims[d].name, (long long)extent);
        dims[d] = (TfcDim){.extent = extent, .total = extent};
    }
    int status = TFC_OK;
    for (int32_t d = 0; !status && d < program->n_dims; d++)
        if (is_ragged(program, d))
            status = check_lengths(program, d, words[d].data, dims[program->dims[d].batch].extent,
                                   &dims[d]);
    return status ? status : sizes_fit(program, dims) ? TFC_OK : tfc_model_no_memory();
}

static void set_dims(const TfcProgram *program, Exec *exec, const TfcWord *words)
{
    for (int32_t d = 0; d < program->n_dims; d++)
        if (is_ragged(program, d))
            exec_set_ragged(exec, d, words[program->dims[d].batch].extent, words[d].data, NULL);
        else
            exec_set_dim(exec, d, words[d].extent);
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
            session->next[at + i] =
                i + 1 < lengths[b] ? target[at + i + 1] : (int32_t)session->loaded->model->eos;
    return session->next;
}

/* Where the caller left `next` out: it follows from the target. *no_memory: it would have. */
static const void *input_data(TfcSession *session, const TfcProgram *program, const TfcWord *dims,
                              const TfcPort *port, const TfcWord *inputs, const TfcWord *given,
                              bool *no_memory)
{
    const TfcModel *model = session->loaded->model;
    const TfcPort *target = find_port(program, model->target);
    bool is_next = model->next && !strcmp(port->name, model->next);
    if (given->data || !is_next || !target || model->eos < 0)
        return given->data;
    const int32_t *ids = inputs[target - program->inputs].data;
    int32_t dim = port->shape.dims[1].dim;
    const int32_t *next =
        ids ? make_next(session, dims[program->dims[dim].batch].extent, dims[dim].data, ids) : NULL;
    *no_memory = ids && !next;
    return next;
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

/* A scalar is given as a double, whatever its type. */
static int check_scalar(const TfcPort *port, double value)
{
    bool ok;
    const char *expected;
    switch (port->type) {
    case TFC_BOOL:
        ok = value == 0 || value == 1;
        expected = "0 or 1";
        break;
    case TFC_I32:
        ok = value >= INT32_MIN && value <= INT32_MAX && value == trunc(value);
        expected = "a whole number of 32 bits";
        break;
    default:
        ok = isfinite(value);
        expected = "finite";
    }
    return ok ? TFC_OK
              : tfc_model_fail(TFC_ERROR_ARGUMENT, "'%s' is %g, which is not %s", port->name, value,
                               expected);
}

/* n elements of the caller's: there, and with ids and truth values that mean something. */
static int check_data(const TfcModel *model, const TfcPort *port, const void *data, int64_t n)
{
    if (!data && n)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "'%s' is NULL", port->name);
    for (int64_t i = 0; port->type == TFC_BOOL && i < n; i++)
        if (((const uint8_t *)data)[i] > 1)
            return tfc_model_fail(TFC_ERROR_ARGUMENT,
                                  "element %lld of '%s' is %d, which is not 0 or 1", (long long)i,
                                  port->name, ((const uint8_t *)data)[i]);
    return port->type == TFC_I32 ? tfc_model_check_ids(model, port->name, data, n) : TFC_OK;
}

/* Input i from its word, for these dimensions; a scalar is put into *scalar, which outlives
 * the run. */
static int set_input(TfcSession *session, const TfcProgram *program, Exec *exec, const TfcDim *dims,
                     const TfcWord *words, int32_t i, Scalar *scalar)
{
    const TfcPort *port = &program->inputs[i];
    const TfcWord *inputs = words + program->n_dims;
    const void *data = scalar;
    bool no_memory = false;
    int status;
    if (port->shape.rank == 0) {
        status = check_scalar(port, inputs[i].value);
        if (!status)
            *scalar = scalar_of(port->type, inputs[i].value);
    } else {
        data = input_data(session, program, words, port, inputs, &inputs[i], &no_memory);
        status = no_memory
                     ? tfc_model_no_memory()
                     : check_data(session->loaded->model, port, data,
                                  program_size(program, program->buffers[port->buffer].size, dims));
    }
    exec_input(exec, port->name, data);
    return status;
}

static void get_outputs(const TfcProgram *program, Exec *exec, TfcWord *out)
{
    for (int32_t i = 0; i < program->n_outputs; i++) {
        const TfcPort *port = &program->outputs[i];
        const void *data = exec_output(exec, port->name);
        if (port->shape.rank == 0)
            out[i].value = scalar_value(port->type, data);
        else
            out[i].data = data;
    }
}

/* Everything is checked before anything is changed. */
static int run(TfcSession *session, const TfcProgram *program, Exec *exec, const TfcWord *in,
               TfcWord *out)
{
    Scalar scalars[MOST_INPUTS];
    TfcDim dims[MOST_DIMS];
    int status = program->n_inputs > MOST_INPUTS || program->n_dims > MOST_DIMS
                     ? tfc_model_fail(TFC_ERROR_ARGUMENT, "too many inputs")
                     : read_dims(program, in, dims);
    for (int32_t i = 0; !status && i < program->n_inputs; i++)
        status = set_input(session, program, exec, dims, in, i, &scalars[i]);
    if (status)
        return status;
    set_dims(program, exec, in);
    if (!exec_run(exec))
        return tfc_model_no_memory();
    get_outputs(program, exec, out);
    return TFC_OK;
}

static int run_function(TfcSession *session, TfcFunction function, const TfcWord *in, TfcWord *out)
{
    const TfcProgram *program = session_program(session, function);
    if (!program)
        return TFC_ERROR_FUNCTION;
    Exec *exec = session_refresh(session) ? executor(session, function, program) : NULL;
    return exec ? run(session, program, exec, in, out) : tfc_model_no_memory();
}

/* What all three begin and end with. */
typedef int Call(TfcSession *session, TfcFunction function, const TfcWord *in, TfcWord *out);

static int call(TfcSessionHandle *handle, TfcFunction function, Use use, const TfcWord *in,
                TfcWord *out, Call *run_it)
{
    int status = tfc_model_need(in, "in");
    if (!status)
        status = tfc_model_need(out, "out");
    TfcSession *session = status ? NULL : session_enter(handle, use, &status);
    if (!session)
        return status;
    status = run_it(session, function, in, out);
    session_leave(session, use);
    return status;
}

int tfc_model_forward(TfcSessionHandle *handle, const TfcWord *in, TfcWord *out)
{
    return call(handle, TFC_FORWARD, USE_READ, in, out, run_function);
}

int tfc_model_loss(TfcSessionHandle *handle, const TfcWord *in, TfcWord *out)
{
    return call(handle, TFC_LOSS, USE_READ, in, out, run_function);
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

/* The step's number is not the caller's: his arguments are those of the header, which
 * begin with the seed. */
static void put_step(const TfcProgram *program, const TfcWord *in, int64_t step, TfcWord *words)
{
    int32_t from = 1;
    for (int32_t i = 0; i < program->n_dims + program->n_inputs; i++) {
        bool is_step =
            i >= program->n_dims && !strcmp(program->inputs[i - program->n_dims].name, "step");
        words[i] = is_step ? (TfcWord){.value = (double)step} : in[from++];
    }
}

/* A step whose loss or gradient is not finite has changed nothing (passes/optimizer.c): which
 * operation made the first NaN is found by running it again. */
static int check_numbers(const TfcProgram *program, Exec *exec, const TfcWord *out, int64_t step)
{
    for (int32_t i = 0; i < program->n_outputs; i++) {
        const TfcPort *port = &program->outputs[i];
        if (port->shape.rank || isfinite(out[i].value))
            continue;
        double value = out[i].value;
        int at;
        const char *name = exec_find_nan(exec, &at);
        return tfc_model_fail(TFC_ERROR_NUMBER, "step %lld: %s is %s%s%s%s", (long long)step,
                              port->name, isnan(value) ? "not a number" : "infinite",
                              name ? "; the first NaN was made by '" : "", name ? name : "",
                              name ? "'" : "");
    }
    return TFC_OK;
}

static int run_train_step(TfcSession *session, TfcFunction function, const TfcWord *in,
                          TfcWord *out)
{
    enum { MOST_WORDS = MOST_DIMS + MOST_INPUTS };
    TfcLoaded *loaded = session->loaded;
    const TfcProgram *program = session_program(session, function);
    if (!program)
        return TFC_ERROR_FUNCTION;
    if (program->n_dims + program->n_inputs > MOST_WORDS)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "too many inputs");
    Exec *exec = tfc_model_start_training(loaded, program) && session_refresh(session)
                     ? executor(session, function, program)
                     : NULL;
    if (!exec)
        return tfc_model_no_memory();
    const int64_t step = loaded->training.step + 1;
    TfcWord words[MOST_WORDS];
    put_step(program, in, step, words);
    exec_set_rng(exec, in[0].seed, (uint64_t)step);
    int status = run(session, program, exec, words, out);
    if (!status)
        status = check_numbers(program, exec, out, step);
    if (status)
        return status;
    pthread_mutex_lock(&loaded->mutex);
    loaded->training.step = step;
    loaded->training.seed = in[0].seed;
    pthread_mutex_unlock(&loaded->mutex);
    return TFC_OK;
}

int tfc_model_train_step(TfcSessionHandle *handle, const TfcWord *in, TfcWord *out)
{
    return call(handle, TFC_TRAIN_STEP, USE_WRITE, in, out, run_train_step);
}
