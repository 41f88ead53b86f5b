/* Which fields of a table feed a model, and reading them. */
#include "driver/corpus/table_files.h"

#include "runtime/data/table.h"

#include <string.h>

/* The field that the last --column gives an input; NULL: none does. */
static const char *given_field(const TextList *given, const char *input)
{
    const size_t length = strlen(input);
    for (size_t i = given->count; i-- > 0;)
        if (!strncmp(given->data[i], input, length) && given->data[i][length] == '=')
            return given->data[i] + length + 1;
    return NULL;
}

static bool is_column_input(const ModelPorts *ports, const char *name, size_t length)
{
    for (int c = -2; c < ports->n_columns && c < MOST_COLUMNS; c++) {
        const char *input = c == -2   ? ports->source
                            : c == -1 ? ports->target
                                      : op_string(ports->columns[c], ATTR_name);
        if (input && strlen(input) == length && !strncmp(input, name, length))
            return true;
    }
    return false;
}

/* Each "INPUT=FIELD" names an input that a field feeds. */
static bool check_given(Job *job, const ModelPorts *ports, const TextList *given)
{
    for (size_t i = 0; i < given->count; i++) {
        const char *text = given->data[i], *equals = strchr(text, '=');
        if (!equals || equals == text || !equals[1])
            return job_error(job, "--column %s: expected INPUT=FIELD", text);
        if (!is_column_input(ports, text, (size_t)(equals - text)))
            return job_error(job, "--column %s: no field feeds an input `%.*s` of the model", text,
                             (int)(equals - text), text);
    }
    return true;
}

static bool is_read(const Function *function, const char *input)
{
    if (!function)
        return true;
    FOR_OPS (op, &function->body)
        if (op->kind == OP_input && !strcmp(op_string(op, ATTR_name), input))
            return true;
    return false;
}

/* The index of an input's field among those that are read; -1: it is not read. */
static int add_field(const Module *module, const char *input, const TextList *given,
                     const Function *function, TableFields *out)
{
    if (!input || !is_read(function, input))
        return -1;
    const char *field = given_field(given, input);
    out->names[out->n] = field ? field : ports_field(ports_input(module, input));
    return out->n++;
}

bool table_fields_of(Job *job, const Module *module, const ModelPorts *ports, const TextList *given,
                     const Function *function, TableFields *out)
{
    *out = (TableFields){.n = 0};
    if (!check_given(job, ports, given))
        return false;
    out->source = add_field(module, ports->source, given, function, out);
    out->target = add_field(module, ports->target, given, function, out);
    for (int c = 0; c < ports->n_columns && c < MOST_COLUMNS; c++)
        out->columns[c] =
            add_field(module, op_string(ports->columns[c], ATTR_name), given, function, out);
    return true;
}

bool table_files_read(Job *job, const TextList *paths, const TableFields *fields,
                      int64_t line_limit, CorpusText *out)
{
    const LineLimits limits = {.line = line_limit};
    Table *table = table_read_all(&job->diags, job->arena, paths->data, paths->count, fields->names,
                                  (size_t)fields->n, &limits);
    Lines **columns = ARENA_ARRAY(job->arena, Lines *, MOST_COLUMNS);
    if (!table)
        return false;
    for (int c = 0; c < MOST_COLUMNS; c++)
        columns[c] = fields->columns[c] < 0 ? NULL : table->columns[fields->columns[c]];
    *out = (CorpusText){.source = fields->source < 0 ? NULL : table->columns[fields->source],
                        .target = fields->target < 0 ? NULL : table->columns[fields->target],
                        .columns = columns};
    return true;
}
