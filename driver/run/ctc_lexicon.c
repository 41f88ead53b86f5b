/* Reading the words of a lexicon. */
#include "driver/run/prediction.h"

const CtcLexicon *ctc_lexicon_read(Job *job, const Prediction *p, const char *path,
                                   const char *separator)
{
    const Lines *lines = lines_read(&job->diags, job->arena, path, NULL);
    CtcLexicon *lexicon = ARENA_ARRAY(job->arena, CtcLexicon, 1);
    LexiconFault fault;
    if (!lines)
        return NULL;
    switch (lexicon_read(p->names, p->width, separator, lines->at, lines->n, job->arena, lexicon,
                         &fault)) {
    case LEXICON_OK: return lexicon;
    case LEXICON_MEMORY: job_no_memory(job); break;
    case LEXICON_EMPTY: job_error(job, "--lexicon %s: the file has no words", path); break;
    case LEXICON_SEPARATOR:
        job_error(job, "--separator %s: `%s` has no such label", separator, p->name);
        break;
    case LEXICON_NO_LABEL:
        diag_error(&job->diags, lines_place_within(lines, fault.line, fault.at),
                   "'%.*s' is no label of `%s`", (int)fault.length,
                   lines->at[fault.line].text + fault.at, p->name);
        break;
    case LEXICON_NO_WORD:
        diag_error(&job->diags, lines_place(lines, fault.line),
                   "a word has labels, and neither the blank nor the separator");
        break;
    case LEXICON_SYMBOLS: job_error(job, "%s", ctc_message(CTC_BAD_LEXICON)); break;
    }
    return NULL;
}
