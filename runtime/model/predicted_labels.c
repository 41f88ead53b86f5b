/* Labels that CTC makes of a prediction's frames: by the best path, by a beam of prefixes, or of
 * the words of a lexicon, as the session's last tfc_model_set_label_search says. */
#include "runtime/model/texts.h"

#include "runtime/model/predicted_values.h"

#include <assert.h>
#include <string.h>

/* ---- the lexicon ---- */

/* The model's first prediction of CTC; NULL: it has none. */
static const TfcPrediction *labelled(const TfcModel *model)
{
    for (int64_t i = 0; model->predictions && i < model->predictions->n; i++)
        if (model->predictions->all[i].ctc)
            return &model->predictions->all[i];
    return NULL;
}

static int64_t count_lines(const char *text, size_t length)
{
    int64_t n = length > 0 && text[length - 1] != '\n';
    for (size_t i = 0; i < length; i++)
        n += text[i] == '\n';
    return n;
}

/* The lines of a text; NULL: memory ran out. */
static Line *lexicon_lines(const char *text, size_t length, Arena *arena, int64_t *n)
{
    Line *all = ARENA_ARRAY(arena, Line, count_lines(text, length) + 1);
    TextLines lines = {.text = text, .length = length};
    for (*n = 0; all && texts_next_line(&lines); ++*n)
        all[*n] = (Line){lines.line, lines.size};
    return all;
}

static int build_search(const TfcPrediction *p, const TfcLabelSearch *search, Arena *arena,
                        CtcBeam *out)
{
    CtcLexicon *lexicon = ARENA_ARRAY(arena, CtcLexicon, 1);
    LexiconFault fault;
    int64_t n;
    const Line *lines = lexicon_lines(search->lexicon, (size_t)search->lexicon_length, arena, &n);
    if (!lexicon || !lines)
        return tfc_model_no_memory();
    out->lexicon = lexicon;
    switch (
        lexicon_read(p->labels, p->width, search->separator, lines, n, arena, lexicon, &fault)) {
    case LEXICON_OK: return TFC_OK;
    case LEXICON_MEMORY: return tfc_model_no_memory();
    case LEXICON_EMPTY: return tfc_model_fail(TFC_ERROR_ARGUMENT, "lexicon has no words");
    case LEXICON_SEPARATOR:
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "separator: '%.100s' is no label of %s",
                              search->separator, p->name);
    case LEXICON_NO_LABEL:
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "line %lld of lexicon: '%.*s' is no label of %s",
                              (long long)fault.line + 1,
                              (int)(fault.length < 100 ? fault.length : 100),
                              lines[fault.line].text + fault.at, p->name);
    case LEXICON_NO_WORD:
        return tfc_model_fail(TFC_ERROR_ARGUMENT,
                              "line %lld of lexicon: a word has labels, and neither the blank nor "
                              "the separator",
                              (long long)fault.line + 1);
    default: return tfc_model_fail(TFC_ERROR_ARGUMENT, "%s", ctc_message(CTC_BAD_LEXICON));
    }
}

/* ---- what is wanted ---- */

static int check_count(const char *name, int64_t given, int32_t *out)
{
    *out = (int32_t)(given ? given : 1);
    return given >= 0 && given <= CTC_WIDEST
               ? TFC_OK
               : tfc_model_fail(TFC_ERROR_ARGUMENT, "%s is %lld: it is from 1 to %d", name,
                                (long long)given, CTC_WIDEST);
}

static int check_search(const TfcModel *model, const TfcLabelSearch *search, CtcBeam *out)
{
    int status = check_count("beam", search->beam, &out->width);
    if (!status)
        status = check_count("nbest", search->nbest, &out->n_best);
    if (!status && out->width < out->n_best)
        out->width = out->n_best;
    if (!status && search->separator && !search->lexicon)
        status = tfc_model_fail(TFC_ERROR_ARGUMENT, "separator is between words of a lexicon");
    if (!status && search->lexicon)
        status = texts_check("lexicon", search->lexicon, "lexicon_length", search->lexicon_length);
    assert(labelled(model)); /* interface.def: SEARCHES_LABELS */
    return status;
}

int tfc_model_set_label_search(TfcSessionHandle *handle, const TfcLabelSearch *search)
{
    int status;
    TfcSession *session = session_enter(handle, USE_NONE, &status);
    if (!session)
        return status;
    const TfcModel *model = session->loaded->model;
    const TfcLabelSearch best_path = {0};
    CtcBeam labels = {0};
    Arena *arena = NULL;
    status = check_search(model, search ? search : &best_path, &labels);
    if (!status && search && !(arena = arena_try_new()))
        status = tfc_model_no_memory();
    if (!status && search && search->lexicon)
        status = build_search(labelled(model), search, arena, &labels);
    if (status) {
        arena_free(arena);
    } else {
        arena_free(session->searching);
        session->searching = arena;
        session->labels = labels;
    }
    return session_leave(session, USE_NONE, status);
}

/* ---- searching ---- */

int predicted_labels(const TfcSession *session, const TfcPrediction *prediction, Arena *arena,
                     TfcPredicted *out)
{
    const CtcStatus status = predicted_search(prediction, &session->labels, arena, out);
    if (status == CTC_OK)
        return TFC_OK;
    if (status == CTC_NO_MEMORY)
        return tfc_model_no_memory();
    return tfc_model_fail(status == CTC_BAD_NUMBERS ? TFC_ERROR_NUMBER : TFC_ERROR_ARGUMENT,
                          "the prediction %s: %s", prediction->name, ctc_message(status));
}
