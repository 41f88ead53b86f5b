/* Labels that CTC makes of a prediction's frames: by the best path, by a beam of prefixes, or of
 * the words of a lexicon, as the session's last tfc_model_set_label_search says. */
#include "runtime/model/texts.h"

#include "runtime/model/predicted_values.h"

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

/* A status: of a label that there is not, or no memory. */
static int read_word(const TfcPrediction *p, const TextLines *line, int64_t number, Arena *arena,
                     Tokens *word)
{
    size_t at, length;
    if (lexicon_word(p->labels, p->width, line->line, line->size, arena, word, &at, &length))
        return TFC_OK;
    if (!length)
        return tfc_model_no_memory();
    return tfc_model_fail(TFC_ERROR_ARGUMENT, "line %lld of lexicon: '%.*s' is no label of %s",
                          (long long)number, (int)(length < 100 ? length : 100), line->line + at,
                          p->name);
}

static int read_words(const TfcPrediction *p, const char *text, size_t length, Arena *arena,
                      Tokens *words, int64_t *n)
{
    int status = TFC_OK;
    TextLines lines = {.text = text, .length = length};
    for (*n = 0; !status && texts_next_line(&lines); ++*n)
        status = read_word(p, &lines, *n + 1, arena, &words[*n]);
    return status;
}

static int build_search(const TfcPrediction *p, const TfcLabelSearch *search, Arena *arena,
                        CtcBeam *out)
{
    const size_t length = (size_t)search->lexicon_length;
    CtcLexicon *lexicon = ARENA_ARRAY(arena, CtcLexicon, 1);
    Tokens *words = ARENA_ARRAY(arena, Tokens, count_lines(search->lexicon, length) + 1);
    Tokens separator = {0};
    size_t at, n_bytes;
    int64_t n, bad;
    if (!lexicon || !words)
        return tfc_model_no_memory();
    if (search->separator &&
        (!lexicon_word(p->labels, p->width, search->separator, strlen(search->separator), arena,
                       &separator, &at, &n_bytes) ||
         separator.n != 1))
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "separator: '%.100s' is no label of %s",
                              search->separator, p->name);
    *lexicon = (CtcLexicon){.symbols = (int32_t)p->width,
                            .blank = CTC_LOSS_BLANK,
                            .separator = separator.n ? separator.ids[0] : LEXICON_WHOLE};
    int status = read_words(p, search->lexicon, length, arena, words, &n);
    if (!status && !n)
        status = tfc_model_fail(TFC_ERROR_ARGUMENT, "lexicon has no words");
    if (status)
        return status;
    out->lexicon = lexicon;
    if (ctc_lexicon_build(lexicon, arena, words, n, &bad))
        return TFC_OK;
    if (bad == LEXICON_NO_MEMORY)
        return tfc_model_no_memory();
    return bad < 0 ? tfc_model_fail(TFC_ERROR_ARGUMENT, "%s", ctc_message(CTC_BAD_LEXICON))
                   : tfc_model_fail(TFC_ERROR_ARGUMENT,
                                    "line %lld of lexicon: a word has labels, and neither the "
                                    "blank nor the separator",
                                    (long long)bad + 1);
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
        status = texts_check("lexicon", search->lexicon, search->lexicon_length);
    if (!status && !labelled(model))
        status =
            tfc_model_fail(TFC_ERROR_FUNCTION, "%s predicts no labels of a CTC loss", model->name);
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
    session_leave(session, USE_NONE);
    return status;
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
