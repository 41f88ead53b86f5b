/* Text in place of ids: what its calls begin with, and going on with a text as tfc generate does
 * it. */
#include "runtime/model/texts.h"

#include "base/record_cutter.h"
#include "base/text.h"
#include "runtime/decode/continue.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- what every call begins with ---- */

/* The first byte that is a NUL or not UTF-8; -1: there is none. */
static int64_t find_bad_byte(const char *utf8, int64_t length)
{
    for (int64_t at = 0; at < length;) {
        size_t n = utf8[at] ? utf8_length(utf8 + at, (size_t)(length - at)) : 0;
        if (!n)
            return at;
        at += (int64_t)n;
    }
    return -1;
}

int texts_check(const char *name, const char *utf8, const char *length_name, int64_t length)
{
    if (length < 0 || length > TOKENIZER_MOST)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "%s is %lld: from 0 to %d is allowed",
                              length_name, (long long)length, (int)TOKENIZER_MOST);
    if (!utf8 && length)
        return tfc_model_need(utf8, name);
    const int64_t at = find_bad_byte(utf8, length);
    return at < 0 ? TFC_OK
                  : tfc_model_fail(TFC_ERROR_ARGUMENT, "byte %lld of %s is 0x%02x: %s",
                                   (long long)at, name, (unsigned char)utf8[at],
                                   utf8[at] ? "that is not UTF-8" : "a text has no NUL");
}

int texts_check_bytes(const char *what, const char *utf8, size_t length)
{
    const int64_t at = find_bad_byte(utf8, (int64_t)length);
    return at < 0 ? TFC_OK
                  : tfc_model_fail(TFC_ERROR_ARGUMENT, "%s: byte %lld is 0x%02x: %s", what,
                                   (long long)at, (unsigned char)utf8[at],
                                   utf8[at] ? "that is not UTF-8" : "a text has no NUL");
}

int texts_check_cell(const char *what, const char *utf8, Line *cell)
{
    if (!utf8)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "%s is NULL", what);
    *cell = (Line){utf8, strlen(utf8)};
    if (cell->length > TOKENIZER_MOST)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "%s has %zu bytes: from 0 to %d are allowed",
                              what, cell->length, (int)TOKENIZER_MOST);
    return texts_check_bytes(what, utf8, cell->length);
}

static Tokenizer *open_vocabulary(const TfcVocabulary *vocabulary)
{
    return vocabulary->open(vocabulary->bytes, (size_t)vocabulary->size, NULL);
}

/* Those of columns. False: memory ran out. */
static bool open_own(TfcLoaded *loaded)
{
    const TfcModel *model = loaded->model;
    bool ok = true;
    for (int64_t c = 0; ok && c < model->n_columns && c < MOST_COLUMNS; c++) {
        const TfcVocabulary *own = model->columns[c].own;
        if (own && !loaded->own[c])
            loaded->own[c] = open_vocabulary(own);
        ok = !own || loaded->own[c];
    }
    return ok;
}

/* Compiling has read the same bytes, so they are good: what is missing is memory. */
int texts_open(TfcLoaded *loaded)
{
    const TfcText *text = loaded->model->text;
    if (!text)
        return tfc_model_fail(TFC_ERROR_FUNCTION, "%s was compiled without a vocabulary inside",
                              loaded->model->name);
    pthread_mutex_lock(&loaded->mutex);
    if (!loaded->target)
        loaded->target = open_vocabulary(&text->target);
    if (!loaded->source)
        loaded->source = text->source.bytes ? open_vocabulary(&text->source) : loaded->target;
    bool ok = loaded->target && loaded->source && open_own(loaded);
    pthread_mutex_unlock(&loaded->mutex);
    return ok ? TFC_OK : tfc_model_no_memory();
}

int texts_begin(TfcSession *session, const TfcGeneration *given, bool encodes,
                DecodeSettings *settings)
{
    int status = texts_open(session->loaded);
    if (status)
        return status;
    assert(encodes == loaded_encodes(session->loaded)); /* interface.def: GENERATES_TEXT */
    status = session_settings(session, given, settings);
    if (!status && given && (given->prefix_lengths || given->prefixes))
        status = tfc_model_fail(TFC_ERROR_ARGUMENT, "prefixes are for ids: texts have prefix_text");
    if (!status)
        status = session_prepare_decode(session);
    session->n_slots = -1; /* what decode_step had begun is over */
    session->text.length = 0;
    session->unknown = (UnknownCount){0};
    return status;
}

static void count_unknown(TfcSession *session, const Tokenizer *tokenizer, const int32_t *ids,
                          size_t n)
{
    if (n)
        unknown_add(&session->unknown, ids, n, tokenizer_special(tokenizer).unk);
}

bool texts_encode(TfcSession *session, const Tokenizer *tokenizer, const TextFrame *frame,
                  const Line *text, TokenIds *ids, size_t *own, RowFault *fault)
{
    const size_t first = ids->count + (frame->begin >= 0);
    if (!text_frame_encode(frame, tokenizer, text, ids, own, fault))
        return false;
    if (*own) /* without any there may be no memory of ids */
        count_unknown(session, tokenizer, ids->data + first, *own);
    return true;
}

int texts_fail(const char *what, const RowFault *fault)
{
    char place[40] = "";
    if (fault->at)
        snprintf(place, sizeof place, " byte %zu:", fault->at);
    return fault->text[0] ? tfc_model_fail(TFC_ERROR_ARGUMENT, "%s:%s %s", what, place, fault->text)
                          : tfc_model_no_memory();
}

int texts_need_one(const DecodeSettings *settings)
{
    bool is_one = session_places(settings) == 1;
    return is_one ? TFC_OK
                  : tfc_model_fail(TFC_ERROR_ARGUMENT, "%s is %d: a text is answered by one",
                                   settings->alternatives ? "alternatives" : "nbest",
                                   session_places(settings));
}

bool texts_next_line(TextLines *lines)
{
    if (lines->at >= lines->length)
        return false;
    lines->line = lines->text + lines->at;
    const char *next = record_line(lines->line, lines->text + lines->length, &lines->size);
    lines->ends = next[-1] == '\n';
    lines->at = (size_t)(next - lines->text);
    return true;
}

static bool put_answer(TfcSession *session, const char *bytes, size_t length)
{
    return token_text_put(&session->text, bytes, length);
}

/* ---- going on with a text ---- */

static int encode_prompt(TfcSession *session, const char *utf8, size_t length, TokenIds *ids)
{
    const TfcLoaded *loaded = session->loaded;
    size_t before = ids->count;
    if (!continue_encode(loaded->target, &loaded->model->rule, utf8, length, ids)) {
        const char *problem = tokenizer_problem();
        return problem ? tfc_model_fail(TFC_ERROR_ARGUMENT, "the prompt: %s", problem)
                       : tfc_model_no_memory();
    }
    if (ids->count > before)
        count_unknown(session, loaded->target, ids->data + before, ids->count - before);
    return tfc_model_check_ids(loaded->model, loaded->model->target, ids->data,
                               (int64_t)ids->count);
}

/* Continues texts, whose prompts are there, until each has ended or has as many tokens as the
 * settings want. */
static int go_on(TfcSession *session, const DecodeSettings *settings, Continuation *texts, int n,
                 bool refuses)
{
    const TextRule *rule = &session->loaded->model->rule;
    const int64_t longest = tfc_model_longest(session->loaded->model);
    for (int i = 0; i < n; i++) {
        Continuation *text = &texts[i];
        double most = settings->length_factor * (double)text->ids.count + settings->length_extra;
        text->left = most < INT32_MAX ? (int64_t)most : INT32_MAX;
        if (refuses && text->left > 0 &&
            continue_part(rule, settings, &text->ids, text->left, longest).is_cut)
            return tfc_model_fail(TFC_ERROR_ARGUMENT,
                                  "the prompt has %lld tokens, the model takes %lld",
                                  (long long)text->ids.count, (long long)longest);
    }
    int rows = 1;
    for (int64_t part = 0; rows > 0; part++)
        rows = continue_texts(&session->stepper, rule, longest, settings, part, texts, n);
    return !rows ? TFC_OK
           : rows == CONTINUE_NO_NUMBERS
               ? tfc_model_fail(TFC_ERROR_NUMBER, "the model gives no numbers")
               : tfc_model_no_memory();
}

static int put_continuation(TfcSession *session, const Continuation *text)
{
    const TfcLoaded *loaded = session->loaded;
    return continue_put(loaded->target, &loaded->model->rule, text->ids.data, text->ids.count,
                        &session->text)
               ? TFC_OK
               : tfc_model_no_memory();
}

static int begin_generating(TfcSession *session, const TfcGeneration *given,
                            DecodeSettings *settings)
{
    int status = texts_begin(session, given, false, settings);
    if (!status)
        status = texts_need_one(settings);
    return !status && given && given->prefix_text
               ? tfc_model_fail(TFC_ERROR_ARGUMENT, "prefix_text is for translations")
               : status;
}

/* The whole text is one prompt. */
static int generate_text(TfcSession *session, const TfcGeneration *given, const char *utf8,
                         size_t length)
{
    DecodeSettings settings;
    Continuation text = {0};
    int status = begin_generating(session, given, &settings);
    if (!status)
        status = encode_prompt(session, utf8, length, &text.ids);
    if (!status)
        status = go_on(session, &settings, &text, 1, given && given->refuse_long);
    if (!status)
        status = put_continuation(session, &text);
    token_ids_free(&text.ids);
    return status;
}

/* One line for each prompt. */
static int put_lines(TfcSession *session, const Continuation *texts, const bool *ends, int n)
{
    int status = TFC_OK;
    for (int i = 0; !status && i < n; i++) {
        const size_t from = session->text.length;
        status = put_continuation(session, &texts[i]);
        if (!status && (!token_text_one_line(&session->text, from) ||
                        (ends[i] && !put_answer(session, "\n", 1))))
            status = tfc_model_no_memory();
    }
    return status;
}

/* Each line of the text is a prompt. */
static int answer_prompts(TfcSession *session, const TfcGeneration *given, int64_t number,
                          const char *utf8, size_t length)
{
    DecodeSettings settings;
    TextLines lines = {.text = utf8, .length = length};
    int status = begin_generating(session, given, &settings);
    for (int n = 1; !status && n > 0;) {
        Continuation texts[CONTINUE_ROWS] = {{0}};
        bool ends[CONTINUE_ROWS];
        for (n = 0; !status && n < CONTINUE_ROWS && texts_next_line(&lines); n++) {
            texts[n].number = number++;
            ends[n] = lines.ends;
            status = encode_prompt(session, lines.line, lines.size, &texts[n].ids);
        }
        if (!status)
            status = go_on(session, &settings, texts, n, given && given->refuse_long);
        if (!status)
            status = put_lines(session, texts, ends, n);
        for (int i = 0; i < n; i++)
            token_ids_free(&texts[i].ids);
    }
    return status;
}

/* ---- calls ---- */

typedef enum TextWay { TRANSLATE, GENERATE, ANSWER } TextWay;

static int answer_text(TfcSession *session, const TfcGeneration *settings, TextWay way,
                       int64_t number, const char *utf8, int64_t length)
{
    int status = texts_check("utf8", utf8, "length", length);
    bool encodes = loaded_encodes(session->loaded);
    if (!status && (way == TRANSLATE || (way == ANSWER && encodes)))
        status = texts_translate(session, settings, number, utf8, (size_t)length, NULL, NULL);
    else if (!status && way == ANSWER)
        status = answer_prompts(session, settings, number, utf8, (size_t)length);
    else if (!status)
        status = generate_text(session, settings, utf8, (size_t)length);
    return status || put_answer(session, "", 1) ? status : tfc_model_no_memory();
}

static int call_text(TfcSessionHandle *handle, const TfcGeneration *settings, TextWay way,
                     int64_t number, const char *utf8, int64_t length, const char **text,
                     int64_t *text_length)
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
    return session_leave(session, USE_READ, status);
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

int tfc_model_answer_lines(TfcSessionHandle *handle, const TfcGeneration *settings, int64_t number,
                           const char *lines, int64_t length, const char **text,
                           int64_t *text_length)
{
    return call_text(handle, settings, ANSWER, number, lines, length, text, text_length);
}

int tfc_model_unknown(TfcSessionHandle *handle, int64_t *tokens, int64_t *unknown,
                      const char **note)
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
    session_leave(session, USE_NONE, TFC_OK);
    return TFC_OK;
}
