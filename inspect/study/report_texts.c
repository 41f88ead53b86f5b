/* What a run was trained on, and its validation text, as a report reads them. */
#include "inspect/study/report.h"

#include "base/byte_source.h"
#include "base/file.h"
#include "base/sha256.h"

#include <string.h>

enum { MOST_BYTES = 300000000 }; /* of a training text that is read */

bool report_read(Job *job, const char *path, RunReport *report)
{
    *report = (RunReport){.path = path};
    if (!run_record_read(job, path, &report->record))
        return false;
    report->is_table = run_record_fact(&report->record, "columns") != NULL;
    return runlog_read(&job->diags, job->arena, job_reach(job, path), &report->log);
}

/* ---- which files ---- */

static void add_to_sum(void *sha, const void *bytes, size_t n) { sha256_add(sha, bytes, n); }

/* Whether the file, or what it has unpacked, is the recorded one. */
static bool is_recorded(const RunText *text)
{
    ByteSource source;
    Sha256 whole, unpacked;
    char file[2 * SHA256_BYTES + 1], bytes[2 * SHA256_BYTES + 1];
    if (!text->sha256 || !file_is_regular(text->file) || !byte_source_open(&source, text->file))
        return false;
    sha256_init(&whole);
    sha256_init(&unpacked);
    source.observe = add_to_sum;
    source.context = &whole;
    byte_source_unpack(&source);
    while (byte_source_more(&source, BYTE_BLOCK)) {
        sha256_add(&unpacked, source.data, source.length);
        byte_source_pass(&source, source.length);
    }
    byte_source_close(&source);
    sha256_finish_text(&whole, file);
    sha256_finish_text(&unpacked, bytes);
    return !strcmp(file, text->sha256) || !strcmp(bytes, text->sha256);
}

/* Whether nothing reads the text: it is of training, and large. */
static bool is_left(const RunText *text)
{
    return text->bytes > MOST_BYTES && strncmp(text->option, "valid", strlen("valid")) != 0;
}

/* Compares the files with what run.json says of them; a note names one that is another now. A
 * folder may be a stranger's, and name any file of this machine. */
static void check_texts(Job *job, RunReport *report, RunView *view)
{
    report->is_other = ARENA_ARRAY(job->arena, bool, report->record.texts.count + 1);
    for (size_t i = 0; i < report->record.texts.count; i++) {
        const RunText *text = &report->record.texts.data[i];
        report->is_other[i] =
            !job->allows_outside && !is_left(text) && file_exists(text->file) && !is_recorded(text);
        if (report->is_other[i])
            vec_push(job->arena, view->notes,
                     arena_printf(job->arena,
                                  "%s is not the file that run.json tells of, so nothing of it is "
                                  "shown (--allow-outside shows it).",
                                  text->file));
    }
}

static bool is_read(const RunReport *report, size_t i)
{
    return !report->is_other || !report->is_other[i];
}

static const RunText *find_text(const RunReport *report, const char *option)
{
    for (size_t i = 0; i < report->record.texts.count; i++)
        if (is_read(report, i) && !strcmp(report->record.texts.data[i].option, option))
            return &report->record.texts.data[i];
    return NULL;
}

const char *report_argument(const RunReport *report, const char *option)
{
    const TextList *arguments = &report->record.arguments;
    for (size_t i = 0; i + 1 < arguments->count; i++)
        if (!strcmp(arguments->data[i], option))
            return arguments->data[i + 1];
    return NULL;
}

TextFiles report_files(Job *job, const RunReport *report, const char *prefix)
{
    TextFiles files = {0};
    const struct {
        const char *name;
        TextList *list;
    } lists[] = {{"source", &files.source},
                 {"target", &files.target},
                 {"data", &files.data},
                 {"text", &files.text}};
    size_t length = strlen(prefix);
    for (size_t i = 0; i < report->record.texts.count; i++) {
        const RunText *text = &report->record.texts.data[i];
        const bool is_of = is_read(report, i) && !strncmp(text->option, prefix, length);
        for (size_t k = 0; k < sizeof lists / sizeof lists[0] && is_of; k++)
            if (!strcmp(text->option + length, lists[k].name))
                vec_push(job->arena, *lists[k].list, text->file);
    }
    const TextList *arguments = &report->record.arguments;
    for (size_t i = 0; i + 1 < arguments->count; i++)
        if (!strcmp(arguments->data[i], "--column"))
            vec_push(job->arena, files.columns, arguments->data[i + 1]);
    return files;
}

/* Whether files are named and all of them are there; a note tells of one that is not. */
static bool are_there(Job *job, const TextFiles *files, RunView *view)
{
    const TextList paths = text_files_paths(job->arena, files);
    for (size_t i = 0; i < paths.count; i++)
        if (!file_exists(paths.data[i])) {
            vec_push(job->arena, view->notes,
                     arena_printf(job->arena, "%s is not there any more.", paths.data[i]));
            return false;
        }
    return paths.count > 0;
}

/* Lines of the files; *target NULL of a text with one side. */
static Lines *read_files(Job *job, const RunReport *report, const TextFiles *files, int64_t limit,
                         Lines **target)
{
    return text_files_read(job, files, report_argument(report, "--languages"), limit, target);
}

/* The text without a name, else the first of those with one. */
TextFiles report_valid_files(Job *job, const RunReport *report, RunView *view, bool *there)
{
    TextFiles files = report_files(job, report, "valid-");
    const RunText *named = find_text(report, "valid");
    const bool is_data = report->is_table || report->record.kind == CORPUS_PAIRS;
    if (!text_files_given(&files) && named)
        vec_push(job->arena, *(is_data ? &files.data : &files.text), named->file);
    *there = are_there(job, &files, view);
    return files;
}

static bool read_valid(Job *job, RunReport *report, int64_t limit, RunView *view)
{
    bool there;
    const TextFiles files = report_valid_files(job, report, view, &there);
    if (!there)
        return true;
    Lines *target;
    report->text.text.source = read_files(job, report, &files, limit, &target);
    report->text.text.target = target;
    return report->text.text.source != NULL;
}

/* Targets of the training text, unless it is so large that counting its words would take long. */
static bool read_train(Job *job, RunReport *report, int64_t limit, RunView *view)
{
    TextFiles files = report_files(job, report, "");
    int64_t bytes = 0;
    if (files.target.count)
        files = (TextFiles){.text = files.target};
    for (size_t i = 0; i < report->record.texts.count; i++)
        if (!strcmp(report->record.texts.data[i].option, files.text.count ? "target" : "data"))
            bytes += report->record.texts.data[i].bytes;
    if (report->record.kind != CORPUS_PAIRS || !are_there(job, &files, view))
        return true;
    if (bytes > MOST_BYTES) {
        vec_push(job->arena, view->notes,
                 "Rare words are not counted: the training text is large.");
        return true;
    }
    Lines *target, *first = read_files(job, report, &files, limit, &target);
    report->text.train = target ? target : first;
    return first != NULL;
}

bool report_read_texts(Job *job, RunReport *report, int64_t line_limit, RunView *view)
{
    check_texts(job, report, view);
    if (report->is_table)
        return true;
    if (!read_valid(job, report, line_limit, view))
        return false;
    if (!report->text.text.source)
        vec_push(job->arena, view->notes,
                 "There is no validation text, so nothing is said about single lines.");
    return !report->text.text.source || read_train(job, report, line_limit, view);
}
