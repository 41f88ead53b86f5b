/* Reading the records that a run's function reads. */
#define _GNU_SOURCE
#include "cli/records.h"

#include "cli/options/common.h"
#include "driver/corpus/table_files.h"
#include "runtime/data/table.h"

#include <string.h>

/* A text of lines feeds a model that reads one field, unless the file is a table by its name. */
static bool is_lines(const TextList *paths, const TableFields *fields)
{
    bool is_table = fields->n > 1;
    for (size_t i = 0; i < paths->count; i++)
        is_table = is_table || table_file_is_named(paths->data[i]);
    return !is_table;
}

/* Whether a line has the field between tabs. */
static bool names_field(const Line *line, const char *field)
{
    const char *at = line->text, *end = at + line->length;
    for (const size_t length = strlen(field); at <= end;) {
        const char *tab = memchr(at, '\t', (size_t)(end - at)), *stop = tab ? tab : end;
        if ((size_t)(stop - at) == length && !memcmp(at, field, length))
            return true;
        at = stop + 1;
    }
    return false;
}

/* Whether the first line shows that the text is a table with that field: as a header of several
 * fields, or as an object with such a key. */
static bool looks_like_table(Arena *arena, const Lines *lines, const char *field)
{
    const Line *first = &lines->at[0];
    const char *key = arena_printf(arena, "\"%s\":", field);
    if (lines->n_parts)
        return false;
    if (*first->text == '{')
        return memmem(first->text, first->length, key, strlen(key)) != NULL;
    return memchr(first->text, '\t', first->length) && names_field(first, field);
}

/* The one field of a text of lines, which are its values or a table. NULL after an error. */
static Lines *read_lines(Job *job, const RecordFiles *o, const TextList *paths, const char *field)
{
    const LineLimits limits = {.line = o->line_limit};
    Lines *lines = lines_read_all(&job->diags, job->arena, paths->data, paths->count, &limits);
    if (!lines || !lines->n)
        return lines;
    const bool is_table = looks_like_table(job->arena, lines, field);
    if (!is_table && o->columns.count) {
        job_error(job, "--column names a field of a table, and %s is lines", paths->data[0]);
        return NULL;
    }
    if (!is_table)
        return lines;
    const Table *table =
        table_parse(&job->diags, job->arena, lines->source,
                    *lines->at[0].text == '{' ? TABLE_JSON : TABLE_TSV, &field, 1, &limits);
    return table ? table->columns[0] : NULL;
}

/* Which fields the predictor's columns are, in its order. */
static TableFields fields_in_order(const Predictor *predictor, const TableFields *fields)
{
    TableFields ordered = *fields;
    for (int c = 0; c < MOST_COLUMNS; c++)
        ordered.columns[c] =
            c < predictor->columns.n
                ? fields->columns[columns_find(predictor->given, predictor->columns.specs[c].input)]
                : -1;
    return ordered;
}

bool records_open(Job *job, const RunFolder *run, const Predictor *predictor, const RecordFiles *o,
                  TableStream **stream)
{
    const TextList given = fields_given(job, run, &o->columns);
    const Module *module = predictor->inference->session->model->module;
    const ModelPorts ports = ports_of(module);
    TextList *paths = ARENA_NEW(job->arena, TextList);
    TableFields *fields = ARENA_NEW(job->arena, TableFields);
    *paths = o->files;
    *stream = NULL;
    if (!table_fields_of(job, module, &ports, &given, predictor->function, fields))
        return false;
    if (is_lines(paths, fields))
        return true;
    *fields = fields_in_order(predictor, fields);
    *stream = table_stream_open(job, paths, fields, o->line_limit);
    return *stream != NULL;
}

bool records_read(Job *job, const RunFolder *run, const Predictor *predictor, const RecordFiles *o,
                  CorpusText *text)
{
    const TextList given = fields_given(job, run, &o->columns);
    const Module *module = predictor->inference->session->model->module;
    const ModelPorts ports = ports_of(module);
    Lines *lines = NULL;
    TextList paths = o->files;
    TableFields fields;
    if (!paths.count)
        vec_push(job->arena, paths, "-");
    if (!table_fields_of(job, module, &ports, &given, predictor->function, &fields))
        return false;
    if (!is_lines(&paths, &fields)) {
        if (!table_files_read(job, &paths, &fields, o->line_limit, text))
            return false;
    } else {
        lines = read_lines(job, o, &paths, fields.names[0]);
        if (!lines)
            return false;
    }
    /* the columns that the predictor reads, in its order */
    Lines **columns = ARENA_ARRAY(job->arena, Lines *, MOST_COLUMNS);
    for (int c = 0; c < predictor->columns.n; c++)
        columns[c] =
            lines
                ? lines
                : text->columns[columns_find(predictor->given, predictor->columns.specs[c].input)];
    if (lines)
        *text = (CorpusText){.source = predictor->columns.n ? NULL : lines};
    text->columns = columns;
    return true;
}
