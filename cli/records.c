/* Opening the records that a run's function reads. */
#include "cli/records.h"

#include "cli/options/common.h"
#include "cli/stream.h"
#include "runtime/data/table.h"
#include "runtime/rows/record_json.h"

#include <string.h>

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

/* Numbers that this command gives are places, as in a table without a header. */
static void take_numbers(const TextList *given, TableFields *fields)
{
    for (size_t i = 0; i < given->count; i++) {
        const char *equals = strchr(given->data[i], '=');
        for (int k = 0; equals && table_name_is_numbers(equals + 1) && k < fields->n; k++)
            fields->takes[k] &= (uint8_t)~FIELD_NAMED;
    }
}

TableStream *records_open(Job *job, const RunFolder *run, const Predictor *predictor,
                          const RecordFiles *o)
{
    const TextList given = fields_given(job, run, &o->columns);
    const Module *module = predictor->inference->session->model->module;
    const ModelPorts ports = ports_of(module);
    TextList *paths = ARENA_NEW(job->arena, TextList);
    TableFields *fields = ARENA_NEW(job->arena, TableFields);
    *paths = o->files;
    if (!paths->count)
        vec_push(job->arena, *paths, "-");
    if (!table_fields_of(job, module, &ports, &given, predictor->function, fields))
        return NULL;
    *fields = fields_in_order(predictor, fields);
    take_numbers(&o->columns, fields);
    for (size_t i = 0; i < paths->count; i++)
        if (!strcmp(paths->data[i], "-"))
            stream_tell_terminal(job);
    const TableStreamOptions options = {
        .line_limit = o->line_limit, .takes_lines = true, .is_named = o->columns.count > 0};
    return table_stream_open(job, paths, fields, &options);
}
