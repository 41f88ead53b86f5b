/* Predictions of a text: its tokens feed the function predict, as tfc predict feeds it with a
 * line. */
#include "runtime/model/texts.h"

#include "runtime/decode/ctc.h"

#include <math.h>
#include <string.h>

/* ---- what is predicted ---- */

/* NULL, after tfc_model_fail: nothing is predicted. */
static const TfcPredictions *predictions_of(const TfcModel *model)
{
    if (!model->predictions)
        tfc_model_fail(TFC_ERROR_FUNCTION, "%s was compiled without the function 'predict'",
                       model->name);
    return model->predictions;
}

int64_t tfc_model_prediction_count(TfcModelHandle *handle)
{
    int status;
    TfcLoaded *loaded = model_enter(handle, USE_NONE, &status);
    if (!loaded)
        return -1;
    const TfcPredictions *predictions = predictions_of(loaded->model);
    const int64_t n = predictions ? predictions->n : -1;
    model_leave(loaded, USE_NONE);
    return n;
}

static int describe_prediction(const TfcModel *model, int64_t index, TfcPrediction *out)
{
    const TfcPredictions *predictions = predictions_of(model);
    if (!predictions)
        return TFC_ERROR_FUNCTION;
    if (index < 0 || index >= predictions->n)
        return tfc_model_fail(TFC_ERROR_ARGUMENT,
                              "there is no prediction number %lld: they go from 0 to %lld",
                              (long long)index, (long long)predictions->n - 1);
    *out = predictions->all[index];
    return TFC_OK;
}

int tfc_model_prediction(TfcModelHandle *handle, int64_t index, TfcPrediction *out)
{
    int status = tfc_model_need(out, "info");
    TfcLoaded *loaded = status ? NULL : model_enter(handle, USE_NONE, &status);
    if (!loaded)
        return status;
    status = describe_prediction(loaded->model, index, out);
    model_leave(loaded, USE_NONE);
    return status;
}

/* ---- the tokens of a text ---- */

/* TextRow: what is fed of a text.
 *   ids     its tokens and those around them; behind the last that is fed may be the one after it
 *   length  how many are fed
 *   cut     how many are not, since the model takes no more */
typedef struct TextRow {
    TokenIds ids;
    int32_t length;
    int64_t cut;
} TextRow;

static int encode_tokens(TfcSession *session, const TfcTextInput *input, const char *utf8,
                         size_t length, TokenIds *ids)
{
    const TfcLoaded *loaded = session->loaded;
    const Tokenizer *tokenizer = input->of_source ? loaded->source : loaded->target;
    const size_t before = ids->count;
    if (!texts_encode(session, tokenizer, utf8, length, ids)) {
        const char *problem = tokenizer_problem();
        return problem ? tfc_model_fail(TFC_ERROR_ARGUMENT, "the text: %s", problem)
                       : tfc_model_no_memory();
    }
    token_ids_join(ids, before, (int32_t)input->blank, (int32_t)input->mask);
    const bool is_alone =
        ids->count == before && input->begin < 0 && (input->end < 0 || input->is_target);
    return texts_push_special(ids, is_alone ? input->alone : input->end) ? TFC_OK
                                                                         : tfc_model_no_memory();
}

/* A target's last token only follows another; one that is alone has none behind it. */
static bool end_target(TextRow *row)
{
    if (row->ids.count > 1)
        return true;
    return !row->ids.count || token_ids_push(&row->ids, -1);
}

static void cut_text(const TfcModel *model, const TfcTextInput *input, TextRow *row)
{
    const int64_t n = (int64_t)row->ids.count - input->is_target, most = model->max_length;
    row->cut = most > 0 && n > most ? n - most : 0;
    row->length = (int32_t)(n - row->cut);
    if (row->cut && input->end >= 0 && !input->is_target)
        row->ids.data[row->length - 1] = (int32_t)input->end;
}

static int encode_row(TfcSession *session, const TfcTextInput *input, const char *utf8,
                      size_t length, TextRow *row)
{
    if (!texts_push_special(&row->ids, input->begin))
        return tfc_model_no_memory();
    int status = encode_tokens(session, input, utf8, length, &row->ids);
    if (!status && input->is_target && !end_target(row))
        status = tfc_model_no_memory();
    if (!status && row->ids.count)
        cut_text(session->loaded->model, input, row);
    return status;
}

/* ---- predicting ---- */

static const TfcPort *text_port(const TfcProgram *program, const TfcTextInput *input)
{
    for (int32_t i = 0; i < program->n_inputs; i++)
        if (!strcmp(program->inputs[i].name, input->input))
            return &program->inputs[i];
    return NULL;
}

/* A batch of one row. */
static int run_row(TfcSession *session, const TfcTextInput *input, const TextRow *row, TfcWord *out)
{
    TfcWord in[MOST_DIMS + MOST_INPUTS] = {{0}};
    const TfcProgram *program = session_program(session, TFC_PREDICT);
    if (!program)
        return TFC_ERROR_FUNCTION;
    const TfcPort *port = text_port(program, input);
    if (!port || program->n_dims > MOST_DIMS || program->n_inputs > MOST_INPUTS)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "too many inputs");
    for (int32_t d = 0; d < program->n_given; d++)
        in[d] =
            d == port->shape.dims[1].dim ? (TfcWord){.data = &row->length} : (TfcWord){.extent = 1};
    for (int32_t i = 0; i < program->n_inputs; i++)
        in[program->n_given + i].data =
            &program->inputs[i] == port ? row->ids.data : row->ids.data + 1;
    return session_run_function(session, TFC_PREDICT, in, out);
}

/* A copy of n values as floats: the program's own may be gone with the next call of any function.
 * NULL: out of memory. */
static const float *copy_floats(const TfcPort *port, const void *data, int64_t n, Arena *arena)
{
    float *values = ARENA_ARRAY(arena, float, n + 1);
    for (int64_t i = 0; values && i < n; i++)
        values[i] = port->type == TFC_F32   ? ((const float *)data)[i]
                    : port->type == TFC_F64 ? (float)((const double *)data)[i]
                    : port->type == TFC_I32 ? (float)((const int32_t *)data)[i]
                                            : (float)((const uint8_t *)data)[i];
    return values;
}

static bool any_is_nan(const float *values, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (isnan(values[i]))
            return true;
    return false;
}

/* CTC's best path. */
static int find_path(const TfcPrediction *prediction, Arena *arena, TfcPredicted *out)
{
    const int64_t n = out->positions * prediction->width;
    float *logs = ARENA_ARRAY(arena, float, n + 1);
    int32_t *path = ARENA_ARRAY(arena, int32_t, out->positions + 1), n_path;
    const CtcFrames frames = {logs, (int32_t)out->positions, (int32_t)prediction->width,
                              CTC_LOSS_BLANK};
    if (!logs || !path)
        return tfc_model_no_memory();
    for (int64_t i = 0; i < n; i++)
        logs[i] = logf(out->values[i]);
    if (ctc_best_path(&frames, path, &n_path, &out->log_probability) != CTC_OK)
        return tfc_model_fail(TFC_ERROR_NUMBER, "the prediction %s is not a number",
                              prediction->name);
    out->path = path;
    out->n_path = n_path;
    return TFC_OK;
}

static const int32_t *copy_ids(const TextRow *row, Arena *arena)
{
    int32_t *ids = ARENA_ARRAY(arena, int32_t, row->length);
    if (ids)
        memcpy(ids, row->ids.data, (size_t)row->length * sizeof *ids);
    return ids;
}

static int put_predicted(TfcSession *session, const TextRow *row, const TfcWord *words,
                         Arena *arena, TfcPredicted *list)
{
    const TfcPredictions *predictions = session->loaded->model->predictions;
    const TfcProgram *program = session_program(session, TFC_PREDICT);
    const int32_t *ids = copy_ids(row, arena);
    int status = ids ? TFC_OK : tfc_model_no_memory();
    for (int64_t i = 0; !status && i < predictions->n; i++) {
        const TfcPrediction *prediction = &predictions->all[i];
        const int64_t positions = prediction->positions ? row->length : 1;
        list[i] = (TfcPredicted){.values = copy_floats(&program->outputs[i], words[i].data,
                                                       positions * prediction->width, arena),
                                 .positions = positions,
                                 .ids = prediction->positions ? ids : NULL};
        if (!list[i].values)
            status = tfc_model_no_memory();
        else if (any_is_nan(list[i].values, positions * prediction->width))
            status = tfc_model_fail(TFC_ERROR_NUMBER, "the prediction %s is not a number",
                                    prediction->name);
        else if (prediction->ctc)
            status = find_path(prediction, arena, &list[i]);
    }
    return status;
}

static int predict_row(TfcSession *session, const TfcTextInput *input, const TextRow *row,
                       const TfcPredicted **list)
{
    const int64_t n = session->loaded->model->predictions->n;
    arena_free(session->predicted);
    session->predicted = arena_try_new();
    if (!session->predicted)
        return tfc_model_no_memory();
    TfcWord *words = ARENA_ARRAY(session->predicted, TfcWord, n);
    TfcPredicted *found = ARENA_ARRAY(session->predicted, TfcPredicted, n);
    if (!words || !found)
        return tfc_model_no_memory();
    int status = run_row(session, input, row, words);
    if (!status)
        status = put_predicted(session, row, words, session->predicted, found);
    *list = status ? NULL : found;
    return status;
}

static int predict_text(TfcSession *session, const char *utf8, int64_t length, TextRow *row,
                        const TfcPredicted **list)
{
    const TfcModel *model = session->loaded->model;
    const TfcPredictions *predictions = predictions_of(model);
    if (!predictions)
        return TFC_ERROR_FUNCTION;
    if (!predictions->text)
        return tfc_model_fail(TFC_ERROR_FUNCTION,
                              "the predictions of %s read other inputs than a "
                              "text: predict takes them",
                              model->name);
    session->unknown = (UnknownCount){0};
    int status = texts_check(NULL, utf8, length);
    if (!status)
        status = texts_open(session->loaded);
    if (!status)
        status = encode_row(session, predictions->text, utf8, (size_t)length, row);
    return status || !row->length ? status : predict_row(session, predictions->text, row, list);
}

int tfc_model_predict_text(TfcSessionHandle *handle, const char *utf8, int64_t length,
                           const TfcPredicted **list, int64_t *n, int64_t *cut)
{
    if (list)
        *list = NULL;
    if (n)
        *n = 0;
    if (cut)
        *cut = 0;
    int status = tfc_model_need(list, "list");
    if (!status)
        status = tfc_model_need(n, "n");
    TfcSession *session = status ? NULL : session_enter(handle, USE_READ, &status);
    if (!session)
        return status;
    TextRow row = {0};
    status = predict_text(session, utf8, length, &row, list);
    if (!status) {
        *n = row.length ? session->loaded->model->predictions->n : 0;
        if (cut)
            *cut = row.cut;
    }
    token_ids_free(&row.ids);
    session_leave(session, USE_READ);
    return status;
}
