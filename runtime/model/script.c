/* What scripts call of a model compiled for a page or a package: a request as JSON in, the answer
 * as JSON out, with a model and a session that stay.
 *
 *   {"text": "Ein Hund.", "beam": 4, "nbest": 2}
 *   {"answers": [{"line": 0, "text": "A dog.", "score": -0.31, "log_probability": -0.42}, …],
 *    "tokens": 3, "unknown": 0}
 *   {"error": "line 1 has 900 tokens, the model takes 128 at most"}
 *
 * A model of columns takes "records", lines of JSON (columns.h), in place of "text".
 * tokens, unknown: how many the text has, and how many of them the vocabulary does not know; if
 * these are many there is a "note" that tells so (tfc_model_unknown). With "attention": true each
 * answer has what its tokens were made from (script_attention.c). A model that predicts takes
 * "top", of CTC also "beam", "lexicon" and "separator", and has one answer to a text
 * (script_predict.c). */
#include "runtime/model/script.h"

#include "base/json_read.h"
#include "base/json_write.h"
#include "base/limits.h"

#include <string.h>

enum { DIGITS = 7 };

static Text last_answer; /* of the last request */

static const char *script_fail(const char *what)
{
    JsonWriter json = {.out = &last_answer};
    last_answer.length = 0;
    json_open(&json, NULL, '{');
    json_put_text(&json, "error", what);
    json_close(&json, '}');
    return last_answer.data;
}

/* What a request asks for. */
typedef struct Wanted {
    const char *text; /* NULL: records */
    const char *records;
    TfcGeneration settings;
    int64_t top; /* of predictions: the classes that are given; 0: nobody said */
    TfcLabelSearch search;
    bool attention;
} Wanted;

/* NULL, or what is wrong with it. */
static const char *take_setting(const char *name, const JsonValue *value, Arena *arena,
                                TfcGeneration *out)
{
    const DecodeSetting *setting = setting_rows, *end = setting_rows + SETTINGS;
    char range[RANGE_TEXT];
    while (setting < end && strcmp(setting->name, name))
        setting++;
    if (setting == end)
        return arena_printf(arena, "there is no setting '%s'", name);
    bool is_number =
        value->kind == JV_INTEGER || (value->kind == JV_NUMBER && setting->kind == SETTING_NUMBER);
    if (is_number && setting_fits(setting, value->number)) {
        setting_put(setting, out, value->integer, value->number);
        return NULL;
    }
    setting_range(setting, range);
    return arena_printf(arena, "%s: expected %s", name, range);
}

/* NULL, or what is wrong with the request. `translates`: so does the model. */
static const char *take_settings(const JsonValue *request, bool translates, Arena *arena,
                                 Wanted *wanted)
{
    const char *mistake = NULL;
    for (size_t i = 0; !mistake && i < request->n; i++) {
        const JsonValue *value = &request->items[i];
        const char *name = request->keys[i];
        if (!strcmp(name, "attention") && translates) {
            wanted->attention = value->kind == JV_TRUE;
            if (value->kind != JV_TRUE && value->kind != JV_FALSE)
                mistake = "attention: expected true or false";
        } else if (strcmp(name, wanted->text ? "text" : "records"))
            mistake = take_setting(name, value, arena, &wanted->settings);
    }
    if (!json_member(request, "beam"))
        wanted->settings.beam = settings_beam(wanted->settings.beam, wanted->settings.nbest);
    return mistake;
}

static const char *take_count(const char *name, const JsonValue *value, Arena *arena, int64_t *out)
{
    *out = value->integer;
    return value->kind == JV_INTEGER && value->integer >= 1
               ? NULL
               : arena_printf(arena, "%s: expected a whole number of at least 1", name);
}

static const char *take_string(const char *name, const JsonValue *value, Arena *arena,
                               const char **out)
{
    *out = value->kind == JV_STRING ? value->text : NULL;
    return *out ? NULL : arena_printf(arena, "%s: expected a text", name);
}

/* The same of a model that predicts; `labels`: of CTC. */
static const char *take_search(const JsonValue *request, bool labels, Arena *arena, Wanted *wanted)
{
    const char *mistake = NULL;
    for (size_t i = 0; !mistake && i < request->n; i++) {
        const JsonValue *value = &request->items[i];
        const char *name = request->keys[i];
        if (!strcmp(name, "text"))
            continue;
        if (!strcmp(name, "top"))
            mistake = take_count(name, value, arena, &wanted->top);
        else if (labels && !strcmp(name, "beam"))
            mistake = take_count(name, value, arena, &wanted->search.beam);
        else if (labels && !strcmp(name, "lexicon"))
            mistake = take_string(name, value, arena, &wanted->search.lexicon);
        else if (labels && !strcmp(name, "separator"))
            mistake = take_string(name, value, arena, &wanted->search.separator);
        else
            mistake = arena_printf(arena, "there is no setting '%s'", name);
    }
    return mistake;
}

static int put_translation(const TfcTranslation *t, TfcSessionHandle *session, const Wanted *wanted,
                           JsonWriter *json)
{
    json_open(json, NULL, '{');
    json_put_integer(json, "line", t->line);
    json_put_text(json, "text", t->text);
    json_put_number(json, "score", t->result.score, DIGITS);
    json_put_number(json, "log_probability", t->result.log_probability, DIGITS);
    int status = wanted->attention ? script_put_attention(session, wanted->text, t, json) : TFC_OK;
    json_close(json, '}');
    return status;
}

static int put_translations(TfcSessionHandle *session, const Wanted *wanted, JsonWriter *json)
{
    const TfcTranslation *list;
    int64_t n;
    const char *text = wanted->records ? wanted->records : wanted->text;
    int status = (wanted->records ? tfc_model_json_translations : tfc_model_line_translations)(
        session, &wanted->settings, 0, text, (int64_t)strlen(text), &list, &n);
    for (int64_t i = 0; !status && i < n; i++)
        status = put_translation(&list[i], session, wanted, json);
    return status;
}

static int put_generated(TfcSessionHandle *session, const Wanted *wanted, JsonWriter *json)
{
    const char *text;
    int status = tfc_model_generate_text(session, &wanted->settings, wanted->text,
                                         (int64_t)strlen(wanted->text), &text, NULL);
    if (status)
        return status;
    json_open(json, NULL, '{');
    json_put_text(json, "text", text);
    json_close(json, '}');
    return TFC_OK;
}

static void put_unknown_count(TfcSessionHandle *session, JsonWriter *json)
{
    int64_t tokens, unknown;
    const char *note;
    if (tfc_model_unknown(session, &tokens, &unknown, &note))
        return;
    json_put_integer(json, "tokens", tokens);
    json_put_integer(json, "unknown", unknown);
    if (note)
        json_put_text(json, "note", note);
}

static const char *put_request_answer(const TfcModel *model, TfcSessionHandle *session,
                                      const Wanted *wanted)
{
    JsonWriter json = {.out = &last_answer};
    last_answer.length = 0;
    json_open(&json, NULL, '{');
    json_open(&json, "answers", '[');
    int status = script_predicts(model)
                     ? script_put_predictions(session, model, wanted->text, wanted->top,
                                              &wanted->search, &json)
                     : (model->source || model->n_columns ? put_translations
                                                          : put_generated)(session, wanted, &json);
    json_close(&json, ']');
    put_unknown_count(session, &json);
    json_close(&json, '}');
    return status ? script_fail(tfc_model_error_detail()) : last_answer.data;
}

static const char *answer_request(const TfcModel *model, TfcSessionHandle *session, Wanted *wanted,
                                  const JsonValue *request, Arena *arena)
{
    const char *member = model->n_columns ? "records" : "text";
    const char **given = model->n_columns ? &wanted->records : &wanted->text;
    *given = json_member_text(request, member);
    if (!*given)
        return script_fail(
            arena_printf(arena, "a request is an object with a text \"%s\"", member));
    const char *mistake =
        script_predicts(model)
            ? take_search(request, model_finds_labels(model), arena, wanted)
            : take_settings(request, model->source && !model->n_columns, arena, wanted);
    return mistake ? script_fail(mistake) : put_request_answer(model, session, wanted);
}

const char *tfc_model_script(const TfcModel *model, const char *request, int64_t length)
{
    static TfcModelHandle *loaded;
    static TfcSessionHandle *session;
    Wanted wanted = {0};
    if ((!loaded && tfc_model_open(model, model->header, NULL, &loaded)) ||
        (!session && tfc_model_session_new(loaded, &session)) ||
        (!script_predicts(model) && tfc_model_generation_defaults(loaded, &wanted.settings)))
        return script_fail(tfc_model_error_detail());
    Arena *arena = arena_try_new();
    if (!arena || !request || length < 0) {
        arena_free(arena);
        return script_fail(arena ? "there is no request" : "out of memory");
    }
    const char *problem = NULL;
    const JsonValue *value = json_read(arena, request, (size_t)length, &problem);
    const char *result = value ? answer_request(model, session, &wanted, value, arena)
                               : script_fail(problem ? problem : "out of memory");
    arena_free(arena);
    return result;
}
