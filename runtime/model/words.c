/* The words of a call (model.h): what they hold is checked, bound to the program's dimensions
 * and inputs, and results come back as words. */
#include "runtime/model/state.h"

#include "runtime/exec/made.h"
#include "runtime/exec/size.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const TfcPort *port_named(const TfcProgram *program, const char *name)
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
            return tfc_model_fail(
                TFC_ERROR_ARGUMENT, "%s_lengths[%lld] is %d%s", name, (long long)b, lengths[b],
                lengths[b] < 0 ? "; expected 0 or more" : ": all of them together pass 2^31 - 1");
    }
    return TFC_OK;
}

/* The dimensions that are given, without tables of tokens. */
static int read_given(const TfcProgram *program, const TfcWord *words, TfcDim *dims)
{
    for (int32_t d = 0; d < program->n_given; d++) {
        int64_t extent = words[d].extent;
        if (is_ragged(program, d))
            continue;
        if (extent < 0 || extent > INT32_MAX)
            return tfc_model_fail(TFC_ERROR_ARGUMENT,
                                  "the dimension %s is %lld; expected 0 to 2^31 - 1",
                                  program->dims[d].name, (long long)extent);
        dims[d] = (TfcDim){.extent = extent, .total = extent};
    }
    int status = TFC_OK;
    for (int32_t d = 0; !status && d < program->n_given; d++)
        if (is_ragged(program, d))
            status = check_lengths(program, d, words[d].data, dims[program->dims[d].batch].extent,
                                   &dims[d]);
    return status;
}

/* Words of a call, of one row. */
typedef struct WordsRow {
    const TfcProgram *program;
    const TfcWord *words;
    int64_t row;
} WordsRow;

static int64_t length_in_words(const void *of, int32_t d)
{
    const WordsRow *at = of;
    if (dim_is_made(at->program, d))
        return dim_formula_length(&at->program->dims[d].formula, length_in_words, at);
    return is_ragged(at->program, d) ? ((const int32_t *)at->words[d].data)[at->row]
                                     : at->words[d].extent;
}

static int make_dim(const TfcProgram *program, const TfcWord *words, int32_t d, TfcDim *dims)
{
    int32_t batch = program->dims[d].batch;
    dims[d] = (TfcDim){0};
    for (int64_t b = 0; b < (batch < 0 ? 1 : dims[batch].extent); b++) {
        const int64_t length = length_in_words(&(WordsRow){program, words, b}, d);
        dims[d].extent = length > dims[d].extent ? length : dims[d].extent;
        dims[d].total += length;
        if (dims[d].total > INT32_MAX)
            return tfc_model_fail(TFC_ERROR_ARGUMENT,
                                  "the dimension %s would be longer than 2^31 - 1",
                                  program->dims[d].name);
    }
    return TFC_OK;
}

/* The dimensions, without tables of tokens. */
static int read_dims(const TfcProgram *program, const TfcWord *words, TfcDim *dims)
{
    int status = read_given(program, words, dims);
    for (int32_t d = program->n_given; !status && d < program->n_dims; d++)
        status = make_dim(program, words, d, dims);
    return status ? status : sizes_fit(program, dims) ? TFC_OK : tfc_model_no_memory();
}

/* Against the model's tables of positions. */
static int check_positions(const TfcModel *model, const TfcProgram *program, const TfcDim *dims)
{
    for (int32_t d = 0; d < program->n_dims; d++)
        for (int64_t i = 0; i < model->n_lengths; i++)
            if (!strcmp(model->lengths[i].dim, program->dims[d].name) &&
                dims[d].extent > model->lengths[i].most)
                return tfc_model_fail(
                    TFC_ERROR_ARGUMENT,
                    "the dimension %s is %lld long, but the model has %lld positions",
                    program->dims[d].name, (long long)dims[d].extent,
                    (long long)model->lengths[i].most);
    return TFC_OK;
}

static void set_dims(const TfcProgram *program, Exec *exec, const TfcWord *words)
{
    for (int32_t d = 0; d < program->n_given; d++)
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
    const TfcPort *target = port_named(program, model->target);
    bool is_next = model->next && !strcmp(port->name, model->next);
    if (given->data || !is_next || !target || model->eos < 0)
        return given->data;
    const int32_t *ids = inputs[target - program->inputs].data;
    int32_t dim = port->shape.dims[1].dim;
    if (dim >= program->n_given) /* no word has its lengths */
        return NULL;
    const int32_t *next =
        ids ? make_next(session, dims[program->dims[dim].batch].extent, dims[dim].data, ids) : NULL;
    *no_memory = ids && !next;
    return next;
}

static WordScalar scalar_of(TfcType type, double value)
{
    switch (type) {
    case TFC_F64: return (WordScalar){.f64 = value};
    case TFC_I32: return (WordScalar){.i32 = (int32_t)value};
    case TFC_BOOL: return (WordScalar){.boolean = value != 0};
    default: return (WordScalar){.f32 = (float)value};
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
    case TFC_F32:
        ok = isfinite((float)value);
        expected = "finite as f32";
        break;
    default: ok = isfinite(value); expected = "finite";
    }
    return ok ? TFC_OK
              : tfc_model_fail(TFC_ERROR_ARGUMENT, "'%s' is %g, which is not %s", port->name, value,
                               expected);
}

/* InputWords: the words of a call, and their dimensions. */
typedef struct InputWords {
    const TfcModel *model;
    const TfcProgram *program;
    const TfcWord *words;
    const TfcDim *dims;
} InputWords;

/* Where element `at` of n stands: its row and, along a ragged dimension, its position there; "" for
 * an input of one number a row. */
enum { PLACE_TEXT = 80 };
static const char *place_of_element(const InputWords *in, const TfcPort *port, int64_t at,
                                    int64_t n, char out[PLACE_TEXT])
{
    int32_t ragged = -1;
    const int32_t batch = port->shape.dims[0].dim;
    for (int i = 0; i < port->shape.rank && ragged < 0; i++)
        if (port->shape.dims[i].dim >= 0 && is_ragged(in->program, port->shape.dims[i].dim))
            ragged = port->shape.dims[i].dim;
    out[0] = 0;
    if (ragged >= 0) {
        int64_t position = at / (n / in->dims[ragged].total), row = 0, length;
        for (; position >=
               (length = length_in_words(&(WordsRow){in->program, in->words, row}, ragged));
             row++)
            position -= length;
        snprintf(out, PLACE_TEXT, " (row %lld, position %lld)", (long long)row,
                 (long long)position);
    } else if (port->shape.rank > 1 && batch >= 0) {
        snprintf(out, PLACE_TEXT, " (row %lld)", (long long)(at / (n / in->dims[batch].extent)));
    }
    return out;
}

/* n elements of the caller's: there, and with ids and truth values that mean something. */
static int check_data(const InputWords *in, const TfcPort *port, const void *data)
{
    const int64_t n = program_size(in->program, in->program->buffers[port->buffer].size, in->dims);
    if (!data && n)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "'%s' is NULL", port->name);
    for (int64_t i = 0; port->type == TFC_BOOL && i < n; i++)
        if (((const uint8_t *)data)[i] > 1)
            return tfc_model_fail(TFC_ERROR_ARGUMENT,
                                  "element %lld of '%s' is %d, which is not 0 or 1", (long long)i,
                                  port->name, ((const uint8_t *)data)[i]);
    if (port->type != TFC_I32)
        return TFC_OK;
    char place[PLACE_TEXT];
    int64_t at = n;
    const IdRange *broken = tfc_model_find_wrong_id(in->model, port->name, data, &at);
    return broken ? tfc_model_fail_id(broken, port->name, at, ((const int32_t *)data)[at],
                                      place_of_element(in, port, at, n, place))
                  : TFC_OK;
}

/* Input i from its word, for these dimensions; a scalar is put into *scalar, which outlives
 * the run. */
static int set_input(TfcSession *session, const TfcProgram *program, Exec *exec, const TfcDim *dims,
                     const TfcWord *words, int32_t i, WordScalar *scalar)
{
    const TfcPort *port = &program->inputs[i];
    const TfcWord *inputs = words + program->n_given;
    const void *data = scalar;
    bool no_memory = false;
    int status;
    if (port->shape.rank == 0) {
        status = check_scalar(port, inputs[i].value);
        if (!status)
            *scalar = scalar_of(port->type, inputs[i].value);
    } else {
        data = input_data(session, program, words, port, inputs, &inputs[i], &no_memory);
        status = no_memory ? tfc_model_no_memory()
                           : check_data(&(InputWords){session->loaded->model, program, words, dims},
                                        port, data);
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
            out[i].value = element_value(port->type, data, 0);
        else
            out[i].data = data;
    }
}

int words_check_number(const TfcProgram *program)
{
    return program->n_inputs <= MOST_INPUTS && program->n_dims <= MOST_DIMS
               ? TFC_OK
               : tfc_model_fail(TFC_ERROR_ARGUMENT,
                                "the function has %d inputs and %d dimensions, and a call of a "
                                "library takes %d and %d at most: tfc run computes it",
                                program->n_inputs, program->n_dims, MOST_INPUTS, MOST_DIMS);
}

/* The dimensions of a call, without tables of tokens. */
static int check_dims(const TfcModel *model, const TfcProgram *program, const TfcWord *in,
                      TfcDim *dims)
{
    int status = words_check_number(program);
    if (!status)
        status = read_dims(program, in, dims);
    return status ? status : check_positions(model, program, dims);
}

int words_check(const TfcModel *model, const TfcProgram *program, const TfcWord *in)
{
    TfcDim dims[MOST_DIMS];
    int status = check_dims(model, program, in, dims);
    const InputWords words = {model, program, in, dims};
    for (int32_t i = 0; !status && i < program->n_inputs; i++)
        status = check_data(&words, &program->inputs[i], in[program->n_given + i].data);
    return status;
}

const int32_t *words_lengths(const TfcProgram *program, const TfcWord *in, int32_t dim,
                             int64_t rows, Arena *arena)
{
    if (dim < program->n_given)
        return in[dim].data;
    int32_t *lengths = ARENA_ARRAY(arena, int32_t, rows + 1);
    for (int64_t b = 0; lengths && b < rows; b++)
        lengths[b] = (int32_t)length_in_words(&(WordsRow){program, in, b}, dim);
    return lengths;
}

int session_run(TfcSession *session, const TfcProgram *program, Exec *exec, const TfcWord *in,
                TfcWord *out)
{
    TfcDim dims[MOST_DIMS];
    int status = check_dims(session->loaded->model, program, in, dims);
    for (int32_t i = 0; !status && i < program->n_inputs; i++)
        status = set_input(session, program, exec, dims, in, i, &session->scalars[i]);
    if (status)
        return status;
    set_dims(program, exec, in);
    if (!exec_run(exec))
        return tfc_model_no_memory();
    get_outputs(program, exec, out);
    return TFC_OK;
}
