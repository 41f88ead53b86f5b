/* Translating text: lines are cut into tokens, decoded in batches and put together again, as tfc
 * translate does it; or records take the place of lines. */
#include "runtime/model/columns.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Of a batch; results do not depend on them. */
enum { WINDOW_TOKENS = 1024, WINDOW_LINES = 256, WINDOW_ROWS = 1024 /* hypotheses */ };

/* A line's tokens, those around them included; or a record. */
typedef struct TextLine {
    size_t start;  /* of a record 0 */
    int32_t n;     /* 0: the line has no tokens of its own, or the record no positions */
    bool ends;     /* with a newline */
    size_t prefix; /* where the tokens begin that the translation begins with */
    int32_t n_prefix;
} TextLine;

typedef struct Translation {
    TfcSession *session;
    const TfcGeneration *given; /* NULL: the defaults */
    DecodeSettings settings;
    TokenIds ids, prefixes;
    const Sources *records; /* NULL: the lines are text, and ids has their tokens */
    TextLine *lines;
    int64_t n, first;     /* lines; the number of the first */
    TfcTranslation *list; /* the results, with room for all; NULL: the best become text */
    int64_t n_list;
    Arena *old; /* of the session's results, which may be what is given: freed at the end */
} Translation;

/* The error of a text that was not encoded; `of`: behind the number of the line. */
static int text_refused(const Translation *t, const TextLine *line, const char *of,
                        const RowFault *fault)
{
    char what[60];
    snprintf(what, sizeof what, "line %lld%s", (long long)(t->first + (line - t->lines) + 1), of);
    return texts_fail(what, fault);
}

static int encode_line(Translation *t, const Line *text, TextLine *line)
{
    const TfcLoaded *loaded = t->session->loaded;
    RowFault fault;
    size_t own;
    line->start = t->ids.count;
    if (!texts_encode(t->session, loaded->source, &loaded->model->text->frame, text, &t->ids, &own,
                      &fault))
        return text_refused(t, line, "", &fault);
    if (!own) {
        t->ids.count = line->start;
        return TFC_OK;
    }
    int64_t n = (int64_t)(t->ids.count - line->start), most = tfc_model_longest(loaded->model);
    line->n = (int32_t)n;
    return n <= most ? TFC_OK
                     : tfc_model_fail(TFC_ERROR_ARGUMENT,
                                      "line %lld has %lld tokens, the model takes %lld at most",
                                      (long long)(t->first + (line - t->lines) + 1), (long long)n,
                                      (long long)most);
}

static int encode_lines(Translation *t, const char *utf8, size_t length, Arena *arena)
{
    size_t n = 1;
    for (size_t i = 0; i < length; i++)
        n += utf8[i] == '\n';
    t->lines = ARENA_ARRAY(arena, TextLine, n);
    int status = t->lines ? TFC_OK : tfc_model_no_memory();
    TextLines lines = {.text = utf8, .length = length};
    while (!status && texts_next_line(&lines)) {
        TextLine *line = &t->lines[t->n++];
        line->ends = lines.ends;
        status = encode_line(t, &(Line){lines.line, lines.size}, line);
    }
    const TfcModel *model = t->session->loaded->model;
    return status ? status
                  : tfc_model_check_ids(model, model->source, t->ids.data, (int64_t)t->ids.count);
}

static int encode_prefix(Translation *t, const TextLines *text, TextLine *line)
{
    const TfcLoaded *loaded = t->session->loaded;
    int64_t most = tfc_model_longest(loaded->model) - 1;
    const Line words = {text->line, text->size};
    RowFault fault;
    size_t n;
    line->prefix = t->prefixes.count;
    if (!texts_encode(t->session, loaded->target, &TEXT_UNFRAMED, &words, &t->prefixes, &n, &fault))
        return text_refused(t, line, " of prefix_text", &fault);
    line->n_prefix = (int32_t)n;
    return (int64_t)n <= most
               ? TFC_OK
               : tfc_model_fail(TFC_ERROR_ARGUMENT,
                                "line %lld of prefix_text has %lld tokens, the model takes "
                                "%lld at most",
                                (long long)(t->first + (line - t->lines) + 1), (long long)n,
                                (long long)most);
}

/* How the lines' translations begin: as many lines. */
static int encode_prefixes(Translation *t)
{
    if (!t->given || !t->given->prefix_text)
        return TFC_OK;
    TextLines lines = {.text = t->given->prefix_text, .length = (size_t)t->given->prefix_length};
    int64_t n = 0;
    for (TextLines counted = lines; texts_next_line(&counted);)
        n++;
    if (n != t->n)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "prefix_text has %lld lines, but %s %lld",
                              (long long)n, t->records ? "the number of records is" : "the text",
                              (long long)t->n);
    int status = TFC_OK;
    for (int64_t i = 0; !status && texts_next_line(&lines); i++)
        status = encode_prefix(t, &lines, &t->lines[i]);
    const TfcModel *model = t->session->loaded->model;
    return status ? status
                  : tfc_model_check_ids(model, model->target, t->prefixes.data,
                                        (int64_t)t->prefixes.count);
}

/* Where a batch that begins at this line ends. */
static int64_t window_end(const Translation *t, int64_t from)
{
    const int64_t each = t->settings.alternatives > 0 ? t->settings.alternatives : 1,
                  rows = WINDOW_ROWS / (each * decode_width(&t->settings)),
                  most = rows < 1              ? 1
                         : rows < WINDOW_LINES ? rows
                                               : WINDOW_LINES;
    int64_t to = from, tokens = 0;
    while (to < t->n && to - from < most && tokens < WINDOW_TOKENS)
        tokens += t->lines[to++].n;
    return to;
}

/* Adds the text of a result. */
static bool put_result(TfcSession *session, const Hypothesis *h)
{
    Tokens shown = hypothesis_text(h, (int32_t)session->loaded->model->first);
    return tokenizer_decode_text(session->loaded->target, shown.ids, (size_t)shown.n,
                                 &session->text);
}

static bool put_line(TfcSession *session, const TextLine *line, const Decoded *decoded)
{
    const Hypothesis *best = line->n && decoded->n ? decoded->best : NULL;
    size_t from = session->text.length;
    return (!best || (put_result(session, best) && token_text_one_line(&session->text, from))) &&
           (!line->ends || token_text_put(&session->text, "\n", 1));
}

/* A result's text, or the empty one's, in the arena of the session's results. */
static bool list_result(Translation *t, int64_t line, const Tokens *source, const Hypothesis *h)
{
    TfcSession *session = t->session;
    session->text.length = 0;
    if (h && !put_result(session, h))
        return false;
    size_t length = session->text.length;
    char *text = ARENA_ARRAY(session->results, char, length + 1);
    if (!text)
        return false;
    if (length)
        memcpy(text, session->text.data, length);
    t->list[t->n_list++] = (TfcTranslation){.line = line,
                                            .text = text,
                                            .length = (int64_t)length,
                                            .result = h ? session_result(h) : (TfcResult){0},
                                            .source = source->ids,
                                            .n_source = source->n};
    return true;
}

static bool list_line(Translation *t, int64_t line, const Decoded *decoded)
{
    const TextLine *from = &t->lines[line];
    int32_t n = from->n ? decoded->n : 0;
    Tokens source = {.n = t->records ? 0 : from->n};
    int32_t *ids = ARENA_ARRAY(t->session->results, int32_t, source.n + 1);
    if (!ids)
        return false;
    if (source.n)
        memcpy(ids, t->ids.data + from->start, (size_t)source.n * sizeof *ids);
    source.ids = ids;
    bool ok = n || list_result(t, line, &source, NULL);
    for (int32_t k = 0; ok && k < n; k++)
        ok = list_result(t, line, &source, &decoded->best[k]);
    return ok;
}

/* What n of a window's lines are decoded from: `numbers` of these, and their lengths. False: memory
 * ran out. */
static bool window_sources(const Translation *t, int64_t from, const int64_t *numbers,
                           const int32_t *lengths, int32_t n, Arena *arena, Sources *out)
{
    if (t->records)
        return columns_choose(t->session->loaded->variant->programs[TFC_ENCODE], t->records,
                              t->first, numbers, n, arena, out);
    *out = (Sources){.n = n,
                     .lengths = {[SIDE_SOURCE] = lengths},
                     .tokens = n ? t->ids.data + t->lines[from].start : NULL};
    return true;
}

/* The results of a window live in the arena, and what they are decoded from in `scratch`. */
static int translate_window(Translation *t, int64_t from, int64_t to, Arena *arena, Arena *scratch)
{
    int32_t *lengths = ARENA_ARRAY(arena, int32_t, to - from);
    Tokens *prefixes = ARENA_ARRAY(arena, Tokens, to - from);
    int64_t *numbers = ARENA_ARRAY(arena, int64_t, to - from);
    Decoded *decoded = ARENA_ARRAY(arena, Decoded, to - from);
    if (arena_failed(arena))
        return tfc_model_no_memory();
    int32_t n = 0;
    for (int64_t i = from; i < to; i++) {
        const TextLine *line = &t->lines[i];
        if (!line->n)
            continue;
        lengths[n] = line->n;
        prefixes[n] =
            (Tokens){line->n_prefix ? t->prefixes.data + line->prefix : NULL, line->n_prefix};
        numbers[n++] = t->first + i;
    }
    t->settings.prefixes = t->prefixes.count ? prefixes : NULL;
    Sources sources;
    bool ok = !n || (window_sources(t, from, numbers, lengths, n, scratch, &sources) &&
                     decode_batch(&t->session->stepper, &t->settings, &sources, NULL, numbers, n,
                                  arena, decoded));
    for (int32_t i = 0; ok && i < n; i++)
        if (!decoded_has_numbers(&decoded[i]))
            return tfc_model_fail(TFC_ERROR_NUMBER, "%s %lld: the model gives no numbers",
                                  t->records ? "record" : "line",
                                  (long long)numbers[i] + !t->records);
    for (int64_t i = from; ok && i < to; i++) {
        ok = t->list ? list_line(t, i, decoded) : put_line(t->session, &t->lines[i], decoded);
        decoded += t->lines[i].n > 0;
    }
    return ok ? TFC_OK : tfc_model_no_memory();
}

static int translate_windows(Translation *t)
{
    int status = TFC_OK;
    for (int64_t from = 0, to; !status && from < t->n; from = to) {
        to = window_end(t, from);
        Arena *scratch = arena_try_new();
        status = scratch ? translate_window(t, from, to, t->list ? t->session->results : scratch,
                                            scratch)
                         : tfc_model_no_memory();
        arena_free(scratch);
    }
    return status;
}

/* Room for the results of every line. */
static int make_list(Translation *t)
{
    t->old = t->session->results;
    t->session->results = arena_try_new();
    if (!t->session->results)
        return tfc_model_no_memory();
    size_t n = (size_t)t->n * (size_t)session_places(&t->settings);
    t->list = ARENA_ARRAY(t->session->results, TfcTranslation, n + 1);
    return t->list ? TFC_OK : tfc_model_no_memory();
}

/* Once lines or records are there. */
static int translate_all(Translation *t, bool lists)
{
    int status = encode_prefixes(t);
    if (!status)
        status = lists ? make_list(t) : texts_need_one(&t->settings);
    if (!status)
        status = translate_windows(t);
    token_ids_free(&t->prefixes);
    arena_free(t->old);
    return status;
}

static int translate_lines(Translation *t, const char *utf8, size_t length, bool lists)
{
    Arena *arena = arena_try_new();
    int status = arena ? encode_lines(t, utf8, length, arena) : tfc_model_no_memory();
    if (!status)
        status = translate_all(t, lists);
    arena_free(arena);
    token_ids_free(&t->ids);
    return status;
}

static int begin_translation(Translation *t)
{
    const TfcGeneration *given = t->given;
    const int status = texts_begin(t->session, given, true, &t->settings);
    return !status && given && given->prefix_text
               ? texts_check("prefix_text", given->prefix_text, "prefix_length",
                             given->prefix_length)
               : status;
}

int texts_translate(TfcSession *session, const TfcGeneration *settings, int64_t first,
                    const char *utf8, size_t length, const TfcTranslation **list, int64_t *n)
{
    Translation t = {.session = session, .given = settings, .first = first};
    int status = begin_translation(&t);
    assert(!loaded_reads_columns(session->loaded)); /* interface.def: TRANSLATES_TEXT */
    if (!status)
        status = translate_lines(&t, utf8, length, list != NULL);
    if (!status && list) {
        *list = t.list;
        *n = t.n_list;
    }
    return status;
}

/* ---- records ---- */

static int list_records(Translation *t, const Sources *rows, Arena *arena)
{
    t->records = rows;
    t->n = rows->n;
    t->lines = ARENA_ARRAY(arena, TextLine, t->n + 1);
    for (int64_t i = 0; t->lines && i < t->n; i++) {
        const int32_t longest = sources_longest(rows, (int32_t)i);
        t->lines[i].n = columns_row_is_empty(rows, i) ? 0 : longest > 0 ? longest : 1;
    }
    return t->lines ? TFC_OK : tfc_model_no_memory();
}

static int translate_records(Translation *t, const ColumnRecords *records, Arena *arena)
{
    TfcWord words[MOST_DIMS + MOST_INPUTS] = {{0}};
    Sources rows;
    int status = begin_translation(t);
    if (!status)
        status = columns_read(t->session, records, arena, words);
    if (!status)
        status = columns_rows(t->session, words, arena, &rows);
    if (!status)
        status = list_records(t, &rows, arena);
    return status ? status : translate_all(t, true);
}

/* ---- calls ---- */

int tfc_model_line_translations(TfcSessionHandle *handle, const TfcGeneration *settings,
                                int64_t number, const char *utf8, int64_t length,
                                const TfcTranslation **list, int64_t *n)
{
    int status = tfc_model_need(list, "list");
    if (!status)
        status = tfc_model_need(n, "n");
    if (status)
        return status;
    *list = NULL;
    *n = 0;
    TfcSession *session = session_enter(handle, USE_READ, &status);
    if (!session)
        return status;
    status = texts_check("utf8", utf8, "length", length);
    if (!status)
        status = texts_translate(session, settings, number, utf8, (size_t)length, list, n);
    return session_leave(session, USE_READ, status);
}

int tfc_model_translations(TfcSessionHandle *session, const TfcGeneration *settings,
                           const char *utf8, int64_t length, const TfcTranslation **list,
                           int64_t *n)
{
    return tfc_model_line_translations(session, settings, 0, utf8, length, list, n);
}

/* Of records of which the first has this number. */
static int list_translations(TfcSessionHandle *handle, const TfcGeneration *settings,
                             int64_t number, const ColumnRecords *records,
                             const TfcTranslation **list, int64_t *n)
{
    if (list)
        *list = NULL;
    if (n)
        *n = 0;
    int status = records->json ? TFC_OK : tfc_model_need(records->words, "records");
    if (!status)
        status = tfc_model_need(list, "list");
    if (!status)
        status = tfc_model_need(n, "n");
    TfcSession *session = status ? NULL : session_enter(handle, USE_READ, &status);
    if (!session)
        return status;
    Translation t = {.session = session, .given = settings, .first = number};
    Arena *arena = arena_try_new();
    status = arena ? translate_records(&t, records, arena) : tfc_model_no_memory();
    arena_free(arena);
    if (!status) {
        *list = t.list;
        *n = t.n_list;
    }
    return session_leave(session, USE_READ, status);
}

int tfc_model_translations_columns(TfcSessionHandle *session, const TfcGeneration *settings,
                                   const TfcWord *records, const TfcTranslation **list, int64_t *n)
{
    return list_translations(session, settings, 0, &(ColumnRecords){.words = records}, list, n);
}

int tfc_model_json_translations(TfcSessionHandle *session, const TfcGeneration *settings,
                                int64_t number, const char *utf8, int64_t length,
                                const TfcTranslation **list, int64_t *n)
{
    const ColumnRecords records = {.json = utf8, .length = (size_t)length};
    return list_translations(session, settings, number, &records, list, n);
}
