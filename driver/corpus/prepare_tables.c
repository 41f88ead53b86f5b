/* Reading tables that may be larger than memory: a cut at a time. */
#define _GNU_SOURCE
#include "driver/corpus/prepare_tables.h"

#include "base/team.h"
#include "driver/corpus/prepare_report.h"
#include "driver/run/column_words.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static LineLimits limits_of(const PrepareOptions *o) { return (LineLimits){.line = o->line_limit}; }

/* ---- the head ---- */

/* Bytes of the file from `at` on, at most n; how many, or -1 and errno. */
static int64_t read_bytes(const char *path, int64_t at, int64_t n, char *out)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    int64_t done = 0;
    ssize_t got = fd < 0 ? -1 : 1;
    while (got > 0 && done < n) {
        got = pread(fd, out + done, (size_t)(n - done), (off_t)(at + done));
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            done += got;
    }
    const int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return got < 0 ? -1 : done;
}

/* The end of CoNLL's records in n bytes: behind the last empty line; 0: there is none. */
static int64_t end_of_blocks(const char *text, int64_t n)
{
    for (int64_t end = n; end > 1; end--) {
        const int64_t before = end >= 2 && text[end - 2] == '\r' ? end - 3 : end - 2;
        if (text[end - 1] == '\n' && before >= 0 && text[before] == '\n')
            return end;
    }
    return 0;
}

/* The end of the first record of n bytes, of CoNLL's columns of several: behind a line break; 0:
 * they have no end of it. */
static int64_t end_of_record(const char *text, int64_t n, TableFormat format)
{
    bool in_quotes = false;
    if (table_is_conll(format))
        return end_of_blocks(text, n);
    for (int64_t i = 0; i < n; i++) {
        in_quotes ^= format == TABLE_CSV && text[i] == '"';
        if (text[i] == '\n' && !in_quotes)
            return i + 1;
    }
    return 0;
}

/* The file up to the end of its first record; as much as a record may have, if that is longer.
 * NULL after an error. */
static const Source *read_beginning(Job *job, const PrepareOptions *o, const TextPart *part,
                                    TableFormat *format)
{
    enum { FIRST = 1 << 16 };
    const int64_t most = 2 * (o->line_limit ? o->line_limit : LINE_LIMIT) + FIRST;
    Source *source = ARENA_NEW(job->arena, Source);
    for (int64_t room = FIRST;; room *= 4) {
        char *text = arena_alloc(job->arena, (size_t)room + 1);
        const int64_t n = read_bytes(part->read[0], 0, room, text);
        if (n < 0) {
            diag_errno(&job->diags, "read", part->name[0], errno);
            return NULL;
        }
        text[n] = 0;
        *source = (Source){.path = part->name[0], .text = text, .length = (size_t)n};
        *format = table_format(part->name[0], source);
        const int64_t end = end_of_record(text, n, *format);
        if (end)
            source->length = (size_t)end;
        if (end || n < room || n > most)
            return source;
    }
}

const TablePart *table_part_open(Job *job, const PrepareOptions *o, const TextPart *part)
{
    TablePart *table = ARENA_NEW(job->arena, TablePart);
    const TableFields *fields = &o->table->fields;
    const LineLimits limits = limits_of(o);
    TableFormat format;
    if (table_file_is_tensors(part->name[0])) {
        table->tensors = table_file_tensors(job, part->name[0], fields);
        table->n = table->tensors ? table->tensors[0]->n : 0;
        return table->tensors ? table : NULL;
    }
    const Source *beginning = read_beginning(job, o, part, &format);
    return beginning && table_find_head(&job->diags, job->arena, beginning, format, fields->names,
                                        (size_t)fields->n, &limits, &table->head)
               ? table
               : NULL;
}

int64_t table_part_record_bytes(const TablePart *table, int n_fields)
{
    int64_t bytes = 1;
    for (int k = 0; k < n_fields; k++)
        bytes += (int64_t)table->tensors[k]->tensor->bytes / table->n;
    return bytes;
}

/* ---- records ---- */

static const Source *read_cut(Diagnostics *diags, Arena *arena, const TextPart *part,
                              const TextCut *cut)
{
    char *text = arena_alloc(arena, (size_t)cut->bytes + 1);
    const int64_t n = read_bytes(part->read[0], cut->at[0], cut->bytes, text);
    text[cut->bytes] = 0;
    if (n < 0)
        diag_errno(diags, "read", part->name[0], errno);
    else if (n < cut->bytes)
        diag_file(diags, "read", part->name[0], TEXT_CHANGED);
    if (n < cut->bytes)
        return NULL;
    Source *source = ARENA_NEW(arena, Source);
    *source = (Source){.path = part->name[0],
                       .text = text,
                       .length = (size_t)cut->bytes,
                       .lines_before = cut->line};
    return source;
}

bool table_part_read(Diagnostics *diags, Arena *arena, const PrepareOptions *o,
                     const TextPart *part, const TextCut *cut, CorpusText *text, int64_t *first)
{
    const TableFields *fields = &o->table->fields;
    const LineLimits limits = limits_of(o);
    *first = 0;
    if (part->table->tensors) {
        *text = table_fields_text(arena, fields, part->table->tensors);
        *first = cut->line;
        return true;
    }
    const Source *source = read_cut(diags, arena, part, cut);
    const Table *table =
        source ? table_parse_part(diags, arena, source, &part->table->head, &limits) : NULL;
    if (!table)
        return false;
    if (table->n != cut->lines) {
        diag_file(diags, "read", part->name[0], TEXT_CHANGED);
        return false;
    }
    *text = table_fields_text(arena, fields, table->columns);
    return true;
}

/* ---- labels ---- */

/* LabelTask: the labels of a cut. */
typedef struct LabelTask {
    PrepareReport report;
    const TextPart *part;
    const TextCut *cut;
} LabelTask;

typedef struct LabelTasks {
    const PrepareOptions *options;
    LabelTask *data;
    LabelSet *sets; /* of all cuts, by column */
    pthread_mutex_t *mutex;
} LabelTasks;

static bool see_cut(const LabelTasks *tasks, LabelTask *task)
{
    const DataColumns *columns = &tasks->options->table->columns;
    Diagnostics *diags = &task->report.diags;
    Arena *arena = task->report.arena;
    CorpusText text;
    LabelSet sets[MOST_COLUMNS];
    int64_t first;
    bool ok = table_part_read(diags, arena, tasks->options, task->part, task->cut, &text, &first);
    for (int c = 0; c < columns->n && ok; c++) {
        if (!column_words_are_counted(columns, c))
            continue;
        ok = column_words_check_cells(diags, &columns->specs[c], text.columns[c]);
        label_set_init(&sets[c], arena, tasks->sets[c].in_words);
        if (ok)
            label_set_see(&sets[c], text.columns[c]);
    }
    if (!ok)
        return false;
    pthread_mutex_lock(tasks->mutex);
    for (int c = 0; c < columns->n; c++)
        if (column_words_are_counted(columns, c))
            label_set_join(&tasks->sets[c], &sets[c]);
    pthread_mutex_unlock(tasks->mutex);
    return true;
}

static void run_labels(const void *context, int64_t index)
{
    const LabelTasks *tasks = context;
    LabelTask *task = &tasks->data[index];
    prepare_report_begin(&task->report);
    if (see_cut(tasks, task))
        prepare_report_drop(&task->report);
}

/* Reads all of the data. */
static bool count_labels(Job *job, const PrepareOptions *o, const TextParts *parts)
{
    const DataColumns *columns = &o->table->columns;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    LabelTasks tasks = {.options = o, .mutex = &mutex};
    Arena *scratch = arena_new(); /* used by one task at a time, and the job's by none */
    int32_t n = 0;
    for (int i = 0; i < parts->n; i++)
        n += (int32_t)parts->data[i].n_cuts;
    tasks.data = ARENA_ARRAY(job->arena, LabelTask, n + 1);
    tasks.sets = ARENA_ARRAY(job->arena, LabelSet, MOST_COLUMNS);
    for (int i = n = 0; i < parts->n; i++)
        for (int64_t k = 0; k < parts->data[i].n_cuts; k++)
            tasks.data[n++] = (LabelTask){.part = &parts->data[i], .cut = &parts->data[i].cuts[k]};
    for (int c = 0; c < columns->n; c++)
        label_set_init(&tasks.sets[c], scratch, columns->specs[c].side >= 0);
    team_each(o->threads, n, run_labels, &tasks);
    const bool ok = prepare_reports_tell(job, &tasks.data->report, (size_t)n, sizeof *tasks.data);
    for (int c = 0; c < columns->n && ok; c++)
        if (column_words_are_counted(columns, c))
            columns->specs[c].labels = label_set_list(&tasks.sets[c], job->arena);
    arena_free(scratch);
    return ok;
}

bool table_labels(Job *job, const PrepareOptions *o, const TextParts *parts)
{
    const DataColumns *columns = &o->table->columns;
    bool any = false;
    for (int c = 0; c < columns->n; c++)
        any = any || column_words_are_counted(columns, c);
    return (!any || count_labels(job, o, parts)) &&
           column_words_make(job, o->table->reach.folder, &o->table->ports, columns, NULL,
                             o->line_limit, NULL);
}
