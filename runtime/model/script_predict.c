/* What a text is predicted to be, for scripts:
 *
 *   {"text": "Wo ist er?", "top": 2}
 *   {"predictions": {"class": [["German", 0.99], ["English", 0.01]]},
 *    "tokens": ["▁Wo", "▁ist", "▁er", "?", "</s>"], "cut": 0}
 *
 * predictions: as tfc predict --json has them. tokens: those that predictions of positions are of;
 * without such predictions there are none. cut: how many tokens at the end of the text were left
 * out. note: why labels of CTC are no words of the lexicon; there only if they are none. */
#include "runtime/model/predicted_text.h"
#include "runtime/model/script.h"
#include "runtime/model/state.h"

#include <string.h>

bool script_put_tokens(const Tokenizer *tokenizer, const char *key, const int32_t *ids, int64_t n,
                       Arena *arena, JsonWriter *json)
{
    bool ok = true;
    json_open(json, key, '[');
    for (int64_t i = 0; ok && i < n; i++) {
        size_t length;
        const char *piece = tokenizer_piece(tokenizer, ids[i], &length),
                   *token = arena_strndup(arena, piece, length);
        ok = token != NULL;
        if (ok)
            json_put_text(json, NULL, token);
    }
    json_close(json, ']');
    return ok;
}

/* The first prediction of positions; NULL: there is none. */
static const TfcPredicted *with_positions(const TfcPredicted *list, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (list[i].ids)
            return &list[i];
    return NULL;
}

/* The first prediction with a note; NULL: there is none. */
static const TfcPredicted *with_note(const TfcPredicted *list, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (list[i].note)
            return &list[i];
    return NULL;
}

static int put_tokens_of(TfcSessionHandle *handle, const TfcPredicted *found, JsonWriter *json)
{
    int status;
    TfcSession *session = session_enter(handle, USE_NONE, &status);
    if (!session)
        return status;
    const TfcLoaded *loaded = session->loaded; /* which the session keeps */
    session_leave(session, USE_NONE, TFC_OK);
    const bool of_source = loaded->model->predictions->text->of_source;
    Arena *arena = arena_try_new();
    bool ok = arena && script_put_tokens(of_source ? loaded->source : loaded->target, "tokens",
                                         found->ids, found->positions, arena, json);
    arena_free(arena);
    return ok ? TFC_OK : tfc_model_no_memory();
}

bool script_predicts(const TfcModel *model)
{
    return model->text && model->predictions && model->predictions->text &&
           !model->variants[0].programs[TFC_DECODE_STEP];
}

/* Of CTC one result, unless a number is given. */
static int set_request_search(TfcSessionHandle *session, int64_t top, const TfcLabelSearch *given)
{
    TfcLabelSearch search = *given;
    search.nbest = top ? top : 1;
    search.lexicon_length = search.lexicon ? (int64_t)strlen(search.lexicon) : 0;
    return tfc_model_set_label_search(session, &search);
}

int script_put_predictions(TfcSessionHandle *session, const TfcModel *model, const char *text,
                           int64_t top, const TfcLabelSearch *search, JsonWriter *json)
{
    const TfcPredicted *list;
    int64_t n, cut;
    int status = model_finds_labels(model) ? set_request_search(session, top, search) : TFC_OK;
    if (!status)
        status = tfc_model_predict_text(session, text, (int64_t)strlen(text), &list, &n, &cut);
    if (status)
        return status;
    const TfcPredicted *tokens = with_positions(list, n), *noted = with_note(list, n);
    json_open(json, NULL, '{');
    json_open(json, "predictions", '{');
    for (int64_t i = 0; i < n; i++)
        predicted_put_json(&model->predictions->all[i], &model->predictions->sets[i], &list[i],
                           predicted_top(&model->predictions->sets[i], top, INT64_MAX), json);
    json_close(json, '}');
    if (tokens)
        status = put_tokens_of(session, tokens, json);
    json_put_integer(json, "cut", cut);
    if (noted)
        json_put_text(json, "note", noted->note);
    json_close(json, '}');
    return status;
}
