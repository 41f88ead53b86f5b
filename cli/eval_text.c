/* Texts and tables as corpora of an evaluation. */
#include "cli/eval_text.h"

bool eval_text_open_files(EvalText *t, Job *job, const RunFolder *run, const TextFiles *files,
                          const char *languages, int64_t line_limit)
{
    *t = (EvalText){.job = job, .run = run};
    t->lines = text_windows_open(job, files, languages, line_limit);
    t->has_failed = !t->lines;
    return t->lines != NULL;
}

bool eval_text_open_table(EvalText *t, Job *job, const RunFolder *run, const TextList *paths,
                          const TableFields *fields, int64_t line_limit)
{
    const TableStreamOptions options = {.line_limit = line_limit, .rewinds = true};
    *t = (EvalText){.job = job, .run = run, .paths = *paths, .fields = *fields};
    t->table = table_stream_open(job, &t->paths, &t->fields, &options);
    t->has_failed = !t->table;
    return t->table != NULL;
}

static bool next_part(EvalText *t)
{
    const bool is_stream = t->run->kind == CORPUS_STREAM;
    return t->table ? table_stream_next(t->table, &t->part, &t->part_n)
                    : text_windows_next(t->lines, is_stream ? INT64_MAX : TABLE_PART_RECORDS,
                                        &t->part, &t->part_n);
}

/* Messages will have places in the part: it may be the only one, or the first with such. */
static void keep_part(EvalText *t)
{
    t->told_text = t->part;
    if (t->table)
        table_stream_keep(t->table);
    else
        text_windows_keep(t->lines);
}

/* Goes to the next records, unless some are left. False: there are none, or after an error. */
static bool find_records(EvalText *t)
{
    if (t->at < t->part_n)
        return true;
    t->at = 0;
    t->has_failed = !next_part(t);
    if (t->has_failed || !t->part_n)
        return false;
    if (!t->windows && !t->is_second)
        keep_part(t);
    return true;
}

/* Numbers the rows of a window among all. */
static void place_window(EvalText *t, int64_t first)
{
    const Lines *target = corpus_targets(&t->part);
    t->corpus->before = t->rows;
    for (int64_t i = 0; i < t->corpus->n; i++)
        t->corpus->line[i] += t->rows - first;
    if (target) {
        t->window_target = *target;
        t->window_target.at += first;
    }
    t->target = target ? &t->window_target : NULL;
}

static bool next_window(EvalText *t)
{
    const CorpusOptions options = evaluation_options(t->run);
    const bool had_cut = t->told.cut_sources || t->told.cut_targets;
    CorpusTold again = {0}, *told = t->is_second ? &again : &t->told;
    const int64_t left = t->part_n - t->at, first = t->at,
                  n = left < TABLE_PART_RECORDS || options.kind == CORPUS_STREAM
                          ? left
                          : TABLE_PART_RECORDS;
    corpus_free(t->corpus);
    t->corpus =
        corpus_encode_part(&t->job->diags, t->run->vocab, &options, &t->part, first, n, told);
    t->has_failed = !t->corpus;
    if (t->has_failed)
        return false;
    if (!t->is_second && !had_cut && (told->cut_sources || told->cut_targets))
        keep_part(t);
    place_window(t, first);
    t->at += n;
    t->windows++;
    return true;
}

const Corpus *eval_text_next(EvalText *t)
{
    bool any = false;
    if (t->has_failed)
        return NULL;
    if (t->is_only) {
        any = !t->is_given;
        t->is_given = true;
    } else if (find_records(t))
        any = next_window(t);
    else
        t->is_only = !t->is_second && t->windows == 1;
    t->rows += any ? t->corpus->n : 0;
    return any ? t->corpus : NULL;
}

bool eval_text_rewind(EvalText *t)
{
    if (t->has_failed)
        return false;
    const CorpusOptions options = evaluation_options(t->run);
    corpus_tell(&t->job->diags, &options, &t->told_text, &t->told);
    t->is_second = true;
    t->is_given = false;
    t->rows = t->at = t->windows = 0;
    if (t->is_only)
        return true;
    t->part_n = 0;
    if (t->table)
        t->has_failed = !table_stream_rewind(t->table);
    else
        text_windows_rewind(t->lines);
    return !t->has_failed;
}

bool eval_text_close(EvalText *t, bool ok)
{
    corpus_free(t->corpus);
    table_stream_close(t->table);
    text_windows_close(t->lines);
    return ok && !t->has_failed;
}
