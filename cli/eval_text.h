/* EvalText: what a run is evaluated on, as corpora that come one after the other, one for each
 * window of TABLE_PART_RECORDS lines or records; a stream of tokens is one. Memory does not grow
 * with a table's length; of a text it holds the bytes. All corpora come twice, to be counted and to
 * be measured (driver/run/evaluation.h):
 *
 *   EvalText text;
 *   const Corpus *c;
 *   ok = eval_text_open_table(&text, job, run, &paths, &fields, line_limit);
 *   while (ok && (c = eval_text_next(&text)))
 *       ok = count(c);
 *   ok = ok && eval_text_rewind(&text);
 *   while (ok && (c = eval_text_next(&text)))
 *       ok = measure(c, text.target);
 *   ok = eval_text_close(&text, ok);
 *
 * Where one window has all records it is encoded once. */
#ifndef CLI_EVAL_TEXT_H
#define CLI_EVAL_TEXT_H

#include "driver/corpus/table_stream.h"
#include "driver/corpus/text_windows.h"
#include "driver/run/evaluation.h"

/* EvalText
 *   target   the lines of the current corpus's targets, behind corpus->before; NULL: it has none
 *   rows     of all corpora that have come, since the beginning or eval_text_rewind
 * The rest is private:
 *   paths, fields     of the table; table: NULL for a text; lines: NULL for a table
 *   part, at, part_n  what the table or text has given; where the next window begins; records
 *   windows           how many there have been; is_only: the first was all
 *   is_given          the only one has come in this round; is_second: in the second round
 *   told, told_text   the counts that notes report of all, and the part of their places */
typedef struct EvalText {
    const Lines *target;
    int64_t rows;
    Job *job;
    const RunFolder *run;
    TextList paths;
    TableFields fields;
    TableStream *table;
    TextWindows *lines;
    CorpusText part;
    int64_t at, part_n, windows;
    Corpus *corpus;
    Lines window_target;
    CorpusTold told;
    CorpusText told_text;
    bool is_only, is_given, is_second, has_failed;
} EvalText;

/* The texts of a command's options, for a model without columns. False after an error, of the next
 * too; eval_text_close is called in any case. */
bool eval_text_open_files(EvalText *text, Job *job, const RunFolder *run, const TextFiles *files,
                          const char *languages, int64_t line_limit);
bool eval_text_open_table(EvalText *text, Job *job, const RunFolder *run, const TextList *paths,
                          const TableFields *fields, int64_t line_limit);
/* The next corpus, valid until the next call; NULL: there is none, or after an error. */
const Corpus *eval_text_next(EvalText *text);
/* Reports on all corpora, such as their unknown tokens, and goes back to the first.
 * False after an error, of eval_text_next too. */
bool eval_text_rewind(EvalText *text);
/* ok: no error so far. Returns false after any error. */
bool eval_text_close(EvalText *text, bool ok);

#endif
