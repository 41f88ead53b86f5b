/* Reading tables that may be larger than memory: a cut at a time. */
#define _GNU_SOURCE
#include "driver/corpus/prepare_tables.h"

#include "base/team.h"
#include "driver/corpus/prepare_report.h"
#include "driver/run/column_words.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

static LineLimits limits_of(const PrepareOptions *o)
{
    return (LineLimits){
        .line = o->line_limit, .takes = o->table->fields.takes, .inputs = o->table->fields.inputs};
}

/* ---- the head ---- */

/* The file up to the end of its first record; as much as a record may have, if that is longer.
 * NULL after an error. */
static const Source *read_beginning(Job *job, const PrepareOptions *o, const TextPart *part,
                                    TableFormat *format)
{
    enum { MORE = 1 << 16 };
    RecordPart first = {.bytes = SIZE_MAX, .waits = true};
    const char *name = part->name[0];
    RecordCutter cutter;
    ByteSource *bytes = &cutter.source;
    Source *source = ARENA_NEW(job->arena, Source);
    if (!byte_source_open(bytes, part->read[0])) {
        diag_errno(&job->diags, "read", name, errno);
        return NULL;
    }
    byte_source_look(bytes, MORE);
    *source = (Source){.path = name, .text = bytes->data, .length = bytes->length};
    table_find_format(job->arena, name, source, o->table->fields.names, (size_t)o->table->fields.n,
                      format);
    first.records = table_head_records(*format, bytes->data, bytes->length);
    record_cutter_begin(&cutter, table_record_rule(*format, o->line_limit, MORE));
    const bool ok = record_part(&cutter, &first, &source->length) ||
                    byte_source_check(bytes, &job->diags, name);
    source->text = arena_strndup(job->arena, source->length ? bytes->data : "", source->length);
    record_cutter_close(&cutter);
    return ok ? source : NULL;
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
    ByteSource bytes;
    char *text = arena_alloc(arena, (size_t)cut->bytes + 1);
    if (!byte_source_open(&bytes, part->read[0]) || !byte_source_seek(&bytes, cut->at[0])) {
        diag_errno(diags, "read", part->name[0], errno);
        byte_source_close(&bytes);
        return NULL;
    }
    const int64_t n = byte_source_fill(&bytes, text, (size_t)cut->bytes);
    if (byte_source_check(&bytes, diags, part->name[0]) && n < cut->bytes)
        diag_file(diags, "read", part->name[0], TEXT_CHANGED);
    byte_source_close(&bytes);
    if (n < cut->bytes)
        return NULL;
    text[cut->bytes] = 0;
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
        *text = table_fields_text(fields, part->table->tensors);
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
    *text = table_fields_text(fields, table->columns);
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
        label_set_init(&sets[c], arena, tasks->sets[c].marks);
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
        label_set_init(&tasks.sets[c], scratch, column_marks(&columns->specs[c]));
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
