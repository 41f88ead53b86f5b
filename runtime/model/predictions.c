/* Predictions of texts: their tokens feed the function predict, as tfc predict feeds it with
 * lines. */
#include "runtime/model/texts.h"
#include "runtime/model/predicted_values.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
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

static int describe_set(const TfcLoaded *loaded, int64_t index, TfcLabelSet *out)
{
    TfcPrediction prediction;
    const int status = describe_prediction(loaded->model, index, &prediction);
    if (!status)
        *out = model_label_sets(loaded)[index];
    return status;
}

int tfc_model_prediction_set(TfcModelHandle *handle, int64_t index, TfcLabelSet *out)
{
    int status = tfc_model_need(out, "set");
    TfcLoaded *loaded = status ? NULL : model_enter(handle, USE_NONE, &status);
    if (!loaded)
        return status;
    status = describe_set(loaded, index, out);
    model_leave(loaded, USE_NONE);
    return status;
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
 *   cut     how many are not, since the model takes no more
 *   firsts  which of those that are fed are the first of a word, if predictions are of words */
typedef struct TextRow {
    TokenIds ids, firsts;
    int32_t length;
    int64_t cut;
} TextRow;

/* A target's last token only follows another; one that is alone has none behind it. */
static bool end_target(TextRow *row)
{
    if (row->ids.count > 1)
        return true;
    return !row->ids.count || token_ids_push(&row->ids, -1);
}

static void cut_text(const TfcModel *model, const TextFrame *frame, TextRow *row)
{
    const int64_t n = (int64_t)row->ids.count - frame->is_target, most = model->max_length;
    row->cut = most > 0 && n > most ? n - most : 0;
    row->length = (int32_t)(n - row->cut);
    if (row->cut && !frame->is_target)
        text_frame_cut(frame, row->ids.data, row->length);
    text_frame_cut_words(frame, row->length, 0, &row->firsts);
}

static int encode_row(TfcSession *session, const TfcColumn *input, const Line *text, TextRow *row)
{
    const TextFrame *frame = &input->row.frame;
    const Tokenizer *tokenizer =
        input->of_source ? session->loaded->source : session->loaded->target;
    RowFault fault;
    size_t own;
    bool ok = texts_encode(session, tokenizer, frame, text, &row->ids, &own, &fault);
    if (ok && input->by_words)
        ok = text_frame_words(frame, tokenizer, text, row->ids.data, (int64_t)row->ids.count,
                              &row->firsts, &fault);
    if (!ok)
        return texts_fail("the text", &fault);
    if (frame->is_target && !end_target(row))
        return tfc_model_no_memory();
    if (row->ids.count)
        cut_text(session->loaded->model, frame, row);
    return TFC_OK;
}

/* ---- predicting ---- */

static const TfcPort *text_port(const TfcProgram *program, const TfcColumn *input)
{
    for (int32_t i = 0; i < program->n_inputs; i++)
        if (!strcmp(program->inputs[i].name, input->row.input))
            return &program->inputs[i];
    return NULL;
}

/* The most tokens that are computed at once, unless one text has more. */
enum { PREDICTED_TOKENS = 2048 };

/* TextBatch: rows that are computed together, one behind the other; all in the arena of the
 * results.
 *   place     which of the texts each row is; that is texts[place]
 *   lengths   tokens of each row, `total` together
 *   fed       their tokens; `next`: the token after each */
typedef struct TextBatch {
    const TextRow *texts;
    int32_t n;
    int64_t total;
    int64_t *place;
    int32_t *lengths, *fed, *next;
} TextBatch;

/* The texts from `first` on whose tokens fit; those without tokens are in no batch. *end: the text
 * behind the last. */
static int fill_batch(const TextRow *rows, int64_t n, int64_t first, Arena *arena, TextBatch *batch,
                      int64_t *end)
{
    *batch = (TextBatch){.texts = rows};
    int64_t stop = first;
    for (; stop < n; stop++) {
        if (batch->total && batch->total + rows[stop].length > PREDICTED_TOKENS)
            break;
        batch->total += rows[stop].length;
    }
    *end = stop;
    batch->place = ARENA_ARRAY(arena, int64_t, stop - first + 1);
    batch->lengths = ARENA_ARRAY(arena, int32_t, stop - first + 1);
    batch->fed = ARENA_ARRAY(arena, int32_t, batch->total + 1);
    batch->next = ARENA_ARRAY(arena, int32_t, batch->total + 1);
    if (arena_failed(arena))
        return tfc_model_no_memory();
    int64_t at = 0;
    for (int64_t i = first; i < stop; i++) {
        const TextRow *row = &rows[i];
        const size_t behind =
            row->ids.count > (size_t)row->length ? (size_t)row->length : row->ids.count - 1;
        if (!row->length)
            continue;
        batch->place[batch->n] = i;
        batch->lengths[batch->n++] = row->length;
        memcpy(batch->fed + at, row->ids.data, (size_t)row->length * sizeof *batch->fed);
        memcpy(batch->next + at, row->ids.data + 1, behind * sizeof *batch->next);
        at += row->length;
    }
    return TFC_OK;
}

static int run_batch(TfcSession *session, const TfcColumn *input, const TextBatch *batch,
                     TfcWord *out)
{
    TfcWord in[MOST_DIMS + MOST_INPUTS] = {{0}};
    const TfcProgram *program = session_program(session, TFC_PREDICT);
    if (!program)
        return TFC_ERROR_FUNCTION;
    const TfcPort *port = text_port(program, input);
    int status = words_check_number(program);
    if (status)
        return status;
    for (int32_t d = 0; d < program->n_given; d++)
        in[d] = d == port->shape.dims[1].dim ? (TfcWord){.data = batch->lengths}
                                             : (TfcWord){.extent = batch->n};
    for (int32_t i = 0; i < program->n_inputs; i++)
        in[program->n_given + i].data = &program->inputs[i] == port ? batch->fed : batch->next;
    return session_run_function(session, TFC_PREDICT, in, out);
}

static bool any_is_nan(const float *values, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (isnan(values[i]))
            return true;
    return false;
}

/* The ids of a row's positions, or of its words' first tokens. NULL: memory ran out. */
static const int32_t *position_ids(const int32_t *fed, const TokenIds *words, Arena *arena)
{
    int32_t *ids = words ? ARENA_ARRAY(arena, int32_t, (int64_t)words->count + 1) : NULL;
    for (size_t i = 0; ids && i < words->count; i++)
        ids[i] = fed[words->data[i]];
    return words ? ids : fed;
}

/* What a prediction gives of row `row` of a batch, whose tokens begin at `at`. The values are a
 * copy: the program's own may be gone with the next call of any function. */
static int put_predicted(TfcSession *session, int64_t number, const TextBatch *batch, int64_t row,
                         int64_t at, const void *data, Arena *arena, TfcPredicted *out)
{
    const TfcPredictions *predictions = session->loaded->model->predictions;
    const TfcPrediction *prediction = &predictions->all[number];
    const TfcPort *port = &session_program(session, TFC_PREDICT)->outputs[number];
    const bool by_words = predictions->text->by_words && prediction->positions && !prediction->ctc;
    const TokenIds *words = by_words ? &batch->texts[batch->place[row]].firsts : NULL;
    const int64_t n = words                   ? (int64_t)words->count
                      : prediction->positions ? batch->lengths[row]
                                              : 1,
                  first = (prediction->positions ? at : row) * prediction->width;
    float *values = ARENA_ARRAY(arena, float, n * prediction->width + 1);
    *out = (TfcPredicted){.values = values, .positions = n};
    if (prediction->positions)
        out->ids = position_ids(batch->fed + at, words, arena);
    if (arena_failed(arena))
        return tfc_model_no_memory();
    predicted_take(port, data, first, prediction->width, words ? words->data : NULL, n, values);
    if (any_is_nan(values, n * prediction->width))
        return tfc_model_fail(TFC_ERROR_NUMBER, "the prediction %s is not a number",
                              prediction->name);
    return prediction->ctc ? predicted_labels(session, prediction, arena, out) : TFC_OK;
}

static int predict_batch(TfcSession *session, const TfcColumn *input, const TextBatch *batch,
                         Arena *arena, TfcPredicted *list)
{
    const int64_t n = session->loaded->model->predictions->n;
    TfcWord *words = ARENA_ARRAY(arena, TfcWord, n);
    int status = !words      ? tfc_model_no_memory()
                 : !batch->n ? TFC_OK
                             : run_batch(session, input, batch, words);
    int64_t at = 0;
    for (int64_t row = 0; !status && row < batch->n; row++) {
        for (int64_t i = 0; !status && i < n; i++)
            status = put_predicted(session, i, batch, row, at, words[i].data, arena,
                                   &list[batch->place[row] * n + i]);
        at += batch->lengths[row];
    }
    return status;
}

static int predict_rows(TfcSession *session, const TfcColumn *input, const TextRow *rows,
                        int64_t n_rows, const TfcPredicted **list)
{
    const int64_t n = session->loaded->model->predictions->n;
    arena_free(session->predicted);
    session->predicted = arena_try_new();
    TfcPredicted *found = session->predicted && n_rows <= INT64_MAX / n
                              ? ARENA_ARRAY(session->predicted, TfcPredicted, n_rows * n)
                              : NULL;
    int status = found ? TFC_OK : tfc_model_no_memory();
    for (int64_t first = 0; !status && first < n_rows;) {
        TextBatch batch;
        status = fill_batch(rows, n_rows, first, session->predicted, &batch, &first);
        if (!status)
            status = predict_batch(session, input, &batch, session->predicted, found);
    }
    *list = status ? NULL : found;
    return status;
}

/* ---- texts ---- */

static int encode_rows(TfcSession *session, const TfcColumn *input, int64_t n,
                       const char *const *texts, const int64_t *lengths, TextRow *rows)
{
    int status = texts_open(session->loaded);
    for (int64_t i = 0; !status && i < n; i++) {
        if (!lengths && !texts[i])
            return tfc_model_fail(TFC_ERROR_ARGUMENT, "texts[%lld] is NULL", (long long)i);
        const int64_t length = lengths ? lengths[i] : (int64_t)strlen(texts[i]);
        status = texts_check("utf8", texts[i], "length", length);
        if (!status)
            status = encode_row(session, input, &(Line){texts[i], (size_t)length}, &rows[i]);
    }
    return status;
}

static int predict_texts(TfcSession *session, int64_t n_texts, const char *const *texts,
                         const int64_t *lengths, TextRow *rows, const TfcPredicted **list)
{
    const TfcPredictions *predictions = session->loaded->model->predictions;
    assert(predictions && predictions->text); /* interface.def: PREDICTS_TEXT */
    session->unknown = (UnknownCount){0};
    int status = encode_rows(session, predictions->text, n_texts, texts, lengths, rows);
    return status ? status : predict_rows(session, predictions->text, rows, n_texts, list);
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
    status = predict_texts(session, 1, &utf8, &length, &row, list);
    if (!status && row.length)
        *n = session->loaded->model->predictions->n;
    if (!status && !row.length)
        *list = NULL;
    if (!status && cut)
        *cut = row.cut;
    token_ids_free(&row.ids);
    token_ids_free(&row.firsts);
    return session_leave(session, USE_READ, status);
}

static int predict_many(TfcSession *session, int64_t n_texts, const char *const *texts,
                        const int64_t *lengths, const TfcPredicted **list, int64_t *cut)
{
    TextRow *rows = n_texts < INT32_MAX ? calloc((size_t)n_texts + 1, sizeof *rows) : NULL;
    int status =
        rows ? predict_texts(session, n_texts, texts, lengths, rows, list) : tfc_model_no_memory();
    for (int64_t i = 0; rows && i < n_texts; i++) {
        if (cut)
            cut[i] = status ? 0 : rows[i].cut;
        token_ids_free(&rows[i].ids);
        token_ids_free(&rows[i].firsts);
    }
    free(rows);
    return status;
}

int tfc_model_predict_texts(TfcSessionHandle *handle, int64_t n_texts, const char *const *texts,
                            const int64_t *lengths, const TfcPredicted **list, int64_t *n,
                            int64_t *cut)
{
    if (list)
        *list = NULL;
    if (n)
        *n = 0;
    int status = tfc_model_need(list, "list");
    if (!status)
        status = tfc_model_need(n, "n");
    if (!status && n_texts < 0)
        status = tfc_model_fail(TFC_ERROR_ARGUMENT, "n_texts is %lld; expected 0 or more",
                                (long long)n_texts);
    if (!status && n_texts)
        status = tfc_model_need(texts, "texts");
    TfcSession *session = status ? NULL : session_enter(handle, USE_READ, &status);
    if (!session)
        return status;
    status = predict_many(session, n_texts, texts, lengths, list, cut);
    if (!status)
        *n = session->loaded->model->predictions->n;
    return session_leave(session, USE_READ, status);
}
