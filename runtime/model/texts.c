/* Text in place of ids: what its calls begin with, and going on with a text as tfc generate does
 * it. */
#include "runtime/model/texts.h"

#include "base/text.h"

#include <string.h>

/* ---- what every call begins with ---- */

int texts_check(const char *name, const char *utf8, int64_t length)
{
    if (length < 0 || length > TOKENIZER_MOST)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "%s is %lld: from 0 to %d is allowed",
                              name ? "prefix_length" : "length", (long long)length, (int)TOKENIZER_MOST);
    if (!utf8 && length)
        return tfc_model_need(utf8, name ? name : "utf8");
    for (int64_t at = 0; at < length;) {
        size_t n = utf8[at] ? utf8_length(utf8 + at, (size_t)(length - at)) : 0;
        if (!n)
            return tfc_model_fail(TFC_ERROR_ARGUMENT, "byte %lld of %s is 0x%02x: %s",
                                  (long long)at, name ? name : "utf8", (unsigned char)utf8[at],
                                  utf8[at] ? "that is not UTF-8" : "a text has no NUL");
        at += (int64_t)n;
    }
    return TFC_OK;
}

static Tokenizer *open_vocabulary(const TfcVocabulary *vocabulary)
{
    return vocabulary->open(vocabulary->bytes, (size_t)vocabulary->size, NULL);
}

/* Compiling has read the same bytes, so they are good: what is missing is memory. */
static int open_tokenizers(TfcLoaded *loaded)
{
    const TfcText *text = loaded->model->text;
    pthread_mutex_lock(&loaded->mutex);
    if (!loaded->target)
        loaded->target = open_vocabulary(&text->target);
    if (!loaded->source)
        loaded->source = text->source.bytes ? open_vocabulary(&text->source) : loaded->target;
    bool ok = loaded->target && loaded->source;
    pthread_mutex_unlock(&loaded->mutex);
    return ok ? TFC_OK : tfc_model_no_memory();
}

int texts_begin(TfcSession *session, const TfcGeneration *given, bool encodes,
                DecodeSettings *settings)
{
    const TfcModel *model = session->loaded->model;
    if (!model->text)
        return tfc_model_fail(TFC_ERROR_FUNCTION, "%s was compiled without a vocabulary inside",
                              model->name);
    if (encodes != (session->loaded->variant->programs[TFC_ENCODE] != NULL))
        return tfc_model_fail(TFC_ERROR_FUNCTION, "%s %s", model->name,
                              encodes ? "goes on with texts: generate_text does so"
                                      : "translates: translate_text does so");
    int status = session_settings(session, given, settings);
    if (!status && given && (given->prefix_lengths || given->prefixes))
        status = tfc_model_fail(TFC_ERROR_ARGUMENT, "prefixes are for ids: texts have prefix_text");
    if (!status)
        status = session_prepare_decode(session);
    if (!status)
        status = open_tokenizers(session->loaded);
    session->n_slots = -1; /* what decode_step had begun is over */
    session->text.length = 0;
    session->unknown = (UnknownCount){0};
    return status;
}

bool texts_encode(TfcSession *session, const Tokenizer *tokenizer, const char *text, size_t length,
                  TokenIds *ids)
{
    size_t before = ids->count;
    if (!tokenizer_encode(tokenizer, text, length, ids))
        return false;
    if (ids->count > before)
        unknown_add(&session->unknown, ids->data + before, ids->count - before,
                    tokenizer_special(tokenizer).unk);
    return true;
}

int texts_need_one(const DecodeSettings *settings)
{
    bool is_one = session_places(settings) == 1;
    return is_one ? TFC_OK
                  : tfc_model_fail(TFC_ERROR_ARGUMENT, "%s is %d: a text is answered by one",
                                   settings->alternatives ? "alternatives" : "nbest",
                                   session_places(settings));
}

bool texts_push_special(TokenIds *ids, int64_t id)
{
    return id < 0 || token_ids_push(ids, (int32_t)id);
}

static bool put_answer(TfcSession *session, const char *bytes, size_t length)
{
    return token_text_put(&session->text, bytes, length);
}

/* ---- going on with a text ---- */

/* A stream has no end: what would be one is not chosen, and lines follow each other. */
static void set_stream(const TfcModel *model, DecodeSettings *settings)
{
    const int32_t line_end = (int32_t)model->text->line_end;
    const int64_t others[] = {model->bos, model->eos};
    settings->bos = line_end;
    settings->until_eos = false;
    for (int k = 0; k < 2; k++) {
        int place = -1;
        bool there = others[k] < 0 || others[k] == line_end;
        for (int i = 0; i < 4; i++) {
            there = there || settings->forbidden[i] == others[k];
            if (settings->forbidden[i] == line_end)
                settings->forbidden[i] = -1;
            if (settings->forbidden[i] < 0)
                place = i;
        }
        if (!there && place >= 0)
            settings->forbidden[place] = (int32_t)others[k];
    }
}

static int encode_prompt(TfcSession *session, const char *utf8, size_t length, TokenIds *ids)
{
    const TfcLoaded *loaded = session->loaded;
    for (size_t at = 0; at < length;) {
        const char *newline = memchr(utf8 + at, '\n', length - at);
        size_t size = newline ? (size_t)(newline - utf8) - at : length - at;
        if (!texts_encode(session, loaded->target, utf8 + at, size, ids) ||
            (newline && !texts_push_special(ids, loaded->model->text->line_end)))
            return tfc_model_no_memory();
        at += size + (newline != NULL);
    }
    return tfc_model_check_ids(loaded->model, loaded->model->target, ids->data,
                               (int64_t)ids->count);
}

/* Adds what follows the last half of what the model sees at once, at most *left tokens. */
static int go_on_once(TfcSession *session, DecodeSettings *settings, int64_t number, TokenIds *ids,
                      int64_t *left, Arena *arena)
{
    int64_t window = tfc_model_longest(session->loaded->model) - 1;
    int64_t seen = (int64_t)ids->count < window / 2 ? (int64_t)ids->count : window / 2;
    int32_t limit = (int32_t)(*left < window - seen ? *left : window - seen);
    Tokens prompt = {ids->data ? ids->data + ids->count - seen : NULL, (int32_t)seen};
    Decoded decoded;
    settings->limits = &limit;
    if (limit < 1)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "the model takes too few tokens to go on");
    if (!decode_batch(&session->stepper, settings, NULL, &prompt, &number, 1, arena, &decoded))
        return tfc_model_no_memory();
    if (!decoded.n)
        return tfc_model_fail(TFC_ERROR_NUMBER, "the model gives no numbers");
    for (int32_t i = 0; i < decoded.best[0].n; i++)
        if (!token_ids_push(ids, decoded.best[0].ids[i]))
            return tfc_model_no_memory();
    *left = settings->until_eos || decoded.best[0].is_stuck ? 0 : *left - decoded.best[0].n;
    return TFC_OK;
}

static int go_on(TfcSession *session, DecodeSettings *settings, int64_t number, TokenIds *ids)
{
    double most = settings->length_factor * (double)ids->count + settings->length_extra;
    int64_t left = most < INT32_MAX ? (int64_t)most : INT32_MAX;
    int status = TFC_OK;
    for (int64_t piece = 0; !status && left > 0; piece++) {
        Arena *arena = arena_try_new();
        status = arena ? go_on_once(session, settings, number << 32 | piece, ids, &left, arena)
                       : tfc_model_no_memory();
        arena_free(arena);
    }
    return status;
}

static int put_lines(TfcSession *session, const TokenIds *ids, const char *line_break)
{
    const TfcLoaded *loaded = session->loaded;
    bool ok = true;
    for (size_t from = 0, to; ok && from < ids->count; from = to + 1) {
        for (to = from; to < ids->count && ids->data[to] != loaded->model->text->line_end;)
            to++;
        ok = tokenizer_decode_text(loaded->target, ids->data + from, to - from, &session->text) &&
             (to == ids->count || put_answer(session, line_break, strlen(line_break)));
    }
    return ok ? TFC_OK : tfc_model_no_memory();
}

static int generate_lines(TfcSession *session, const TfcGeneration *given, int64_t number,
                    const char *utf8, size_t length, const char *line_break)
{
    TokenIds ids = {0};
    DecodeSettings settings;
    int status = texts_begin(session, given, false, &settings);
    if (!status)
        status = texts_need_one(&settings);
    if (!status && given && given->prefix_text)
        status = tfc_model_fail(TFC_ERROR_ARGUMENT, "prefix_text is for translations");
    if (!status && session->loaded->model->text->is_stream)
        set_stream(session->loaded->model, &settings);
    if (!status)
        status = encode_prompt(session, utf8, length, &ids);
    if (!status)
        status = go_on(session, &settings, number, &ids);
    if (!status)
        status = put_lines(session, &ids, line_break);
    token_ids_free(&ids);
    return status;
}

/* ---- calls ---- */

typedef enum TextWay { TRANSLATE, GENERATE, ANSWER } TextWay;

static int answer_text(TfcSession *session, const TfcGeneration *settings, TextWay way, int64_t number,
                  const char *utf8, int64_t length)
{
    int status = texts_check(NULL, utf8, length);
    bool encodes = session->loaded->variant->programs[TFC_ENCODE] != NULL;
    if (!status && (way == TRANSLATE || (way == ANSWER && encodes)))
        status = texts_translate(session, settings, number, utf8, (size_t)length, NULL, NULL);
    else if (!status)
        status = generate_lines(session, settings, number, utf8, (size_t)length,
                          way == ANSWER ? "\\n" : "\n");
    return status || put_answer(session, "", 1) ? status : tfc_model_no_memory();
}

static int call_text(TfcSessionHandle *handle, const TfcGeneration *settings, TextWay way, int64_t number,
                const char *utf8, int64_t length, const char **text, int64_t *text_length)
{
    int status = tfc_model_need(text, "text");
    if (status)
        return status;
    *text = NULL;
    if (text_length)
        *text_length = 0;
    TfcSession *session = session_enter(handle, USE_READ, &status);
    if (!session)
        return status;
    status = answer_text(session, settings, way, number, utf8, length);
    if (!status) {
        *text = session->text.data;
        if (text_length)
            *text_length = (int64_t)session->text.length - 1;
    }
    session_leave(session, USE_READ);
    return status;
}

int tfc_model_translate_text(TfcSessionHandle *session, const TfcGeneration *settings,
                             const char *utf8, int64_t length, const char **text,
                             int64_t *text_length)
{
    return call_text(session, settings, TRANSLATE, 0, utf8, length, text, text_length);
}

int tfc_model_generate_text(TfcSessionHandle *session, const TfcGeneration *settings,
                            const char *utf8, int64_t length, const char **text,
                            int64_t *text_length)
{
    return call_text(session, settings, GENERATE, 0, utf8, length, text, text_length);
}

int tfc_model_answer_line(TfcSessionHandle *session, const TfcGeneration *settings, int64_t number,
                          const char *line, int64_t length, const char **text,
                          int64_t *text_length)
{
    return call_text(session, settings, ANSWER, number, line, length, text, text_length);
}

int tfc_model_unknown(TfcSessionHandle *handle, int64_t *tokens, int64_t *unknown, const char **note)
{
    int status;
    TfcSession *session = session_enter(handle, USE_NONE, &status);
    const UnknownCount count = session ? session->unknown : (UnknownCount){0};
    bool is_told = session && unknown_is_above(&count, UNKNOWN_TOLD);
    if (is_told)
        unknown_note(&count, "the text's tokens", session->unknown_note);
    if (tokens)
        *tokens = count.tokens;
    if (unknown)
        *unknown = count.unknown;
    if (note)
        *note = is_told ? session->unknown_note : NULL;
    if (!session)
        return status;
    session_leave(session, USE_NONE);
    return TFC_OK;
}
