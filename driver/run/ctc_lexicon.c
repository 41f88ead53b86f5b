/* Reading the words of a lexicon. */
#include "driver/run/prediction.h"

#include <string.h>

/* The labels of a line; false after an error. */
static bool read_word(Job *job, const Prediction *p, const Lines *lines, int64_t line, Tokens *word)
{
    const Line *text = &lines->at[line];
    size_t at, length;
    if (lexicon_word(p->names, p->width, text->text, text->length, job->arena, word, &at, &length))
        return true;
    diag_error(&job->diags, lines_place_within(lines, line, at), "'%.*s' is no label of `%s`",
               (int)length, text->text + at, p->name);
    return false;
}

static bool build(Job *job, const Prediction *p, const Lines *lines, CtcLexicon *lexicon)
{
    int64_t bad;
    Tokens *words = ARENA_ARRAY(job->arena, Tokens, lines->n + 1);
    for (int64_t i = 0; i < lines->n; i++)
        if (!read_word(job, p, lines, i, &words[i]))
            return false;
    if (ctc_lexicon_build(lexicon, job->arena, words, lines->n, &bad))
        return true;
    if (bad < 0)
        return bad == LEXICON_NO_MEMORY ? job_no_memory(job)
                                        : job_error(job, "%s", ctc_message(CTC_BAD_LEXICON));
    diag_error(&job->diags, lines_place(lines, bad),
               "a word has labels, and neither the blank nor the separator");
    return false;
}

const CtcLexicon *ctc_lexicon_read(Job *job, const Prediction *p, const char *path,
                                   const char *separator)
{
    const Lines *lines = lines_read(&job->diags, job->arena, path, NULL);
    CtcLexicon *lexicon = ARENA_ARRAY(job->arena, CtcLexicon, 1);
    Tokens between = {0};
    size_t at, length;
    if (!lines)
        return NULL;
    if (!lines->n) {
        job_error(job, "--lexicon %s: the file has no words", path);
        return NULL;
    }
    if (separator && (!lexicon_word(p->names, p->width, separator, strlen(separator), job->arena,
                                    &between, &at, &length) ||
                      between.n != 1)) {
        job_error(job, "--separator %s: `%s` has no such label", separator, p->name);
        return NULL;
    }
    *lexicon = (CtcLexicon){.symbols = (int32_t)p->width,
                            .blank = CTC_LOSS_BLANK,
                            .separator = between.n ? between.ids[0] : LEXICON_WHOLE};
    return build(job, p, lines, lexicon) ? lexicon : NULL;
}
