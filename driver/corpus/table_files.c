/* Which fields of a table feed a model, and reading them. */
#include "driver/corpus/table_files.h"

#include "runtime/data/table.h"
#include "runtime/rows/record_json.h"
#include "runtime/data/tmx.h"

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

/* The inputs that fields feed, n of them. */
static int column_inputs(const ModelPorts *ports, const char *names[MOST_COLUMNS + 2])
{
    int n = 0;
    for (int c = -2; c < ports->n_columns && c < MOST_COLUMNS; c++) {
        const char *input = c == -2   ? ports->source
                            : c == -1 ? ports->target
                                      : op_string(ports->columns[c], ATTR_name);
        if (input)
            names[n++] = input;
    }
    return n;
}

/* Each "INPUT=FIELD" names an input that a field feeds. */
static bool check_given(Job *job, const ModelPorts *ports, const TextList *given)
{
    const char *names[MOST_COLUMNS + 2];
    const int n = column_inputs(ports, names);
    for (size_t i = 0; i < given->count; i++) {
        const char *text = given->data[i], *equals = strchr(text, '=');
        if (!equals || equals == text || !equals[1])
            return job_error(job, "--column %s: expected INPUT=FIELD", text);
        const char *input = arena_strndup(job->arena, text, (size_t)(equals - text));
        int k = 0;
        while (k < n && strcmp(names[k], input))
            k++;
        if (k == n)
            return job_error(job, "--column %s: no field feeds an input `%s` of the model%s", text,
                             input, text_known(job->arena, "`", input, names, n));
    }
    return true;
}

/* Whether the field of an input, if there is one, is a name or a pattern; or numbers that stand for
 * a pattern of the model, as a training has found them in its header. */
static bool is_named(const Module *module, const char *input, const TextList *given)
{
    const char *field = input ? given_field(given, input) : NULL,
               *own = input ? ports_field(ports_input(module, input)) : NULL;
    if (!field || !own || !table_name_is_numbers(field))
        return own && !table_name_is_numbers(field ? field : own);
    return strchr(own, '*') && table_name_fits(field, own);
}

static bool has_named(const Module *module, const ModelPorts *ports, const TextList *given)
{
    bool has = is_named(module, ports->source, given) || is_named(module, ports->target, given);
    for (int c = 0; c < ports->n_columns && c < MOST_COLUMNS; c++)
        has = has || is_named(module, op_string(ports->columns[c], ATTR_name), given);
    return has;
}

/* The index of an input's field among those that are read; -1: it is not read. */
static int add_field(const Module *module, const char *input, const TextList *given,
                     const Function *function, TableFields *out)
{
    if (!input || (function && !function_reads(function, input)))
        return -1;
    const char *field = given_field(given, input);
    out->inputs[out->n] = input;
    out->names[out->n] = field ? field : ports_field(ports_input(module, input));
    if (op_attr(ports_input(module, input), ATTR_many))
        out->takes[out->n] = FIELD_TEXTS;
    else if (ports_missing(module, ports_input(module, input)))
        out->takes[out->n] = FIELD_NULL;
    return out->n++;
}

bool table_fields_of(Job *job, const Module *module, const ModelPorts *ports, const TextList *given,
                     const Function *function, TableFields *out)
{
    *out = (TableFields){.n = 0};
    for (int c = 0; c < MOST_COLUMNS; c++)
        out->columns[c] = -1;
    if (!check_given(job, ports, given))
        return false;
    out->source = add_field(module, ports->source, given, function, out);
    out->target = add_field(module, ports->target, given, function, out);
    for (int c = 0; c < ports->n_columns && c < MOST_COLUMNS; c++)
        out->columns[c] =
            add_field(module, op_string(ports->columns[c], ATTR_name), given, function, out);
    if (has_named(module, ports, given))
        for (int i = 0; i < out->n; i++)
            out->takes[i] |= FIELD_NAMED;
    return true;
}

/* ---- tensors ---- */

/* A column of a tensor's rows; NULL after an error. */
static Lines *tensor_column(Job *job, const StFile *file, const Source *source, const char *field)
{
    const StTensor *tensor = st_find(file, field);
    const char **names = ARENA_ARRAY(job->arena, const char *, file->n + 1);
    for (int64_t i = 0; i < file->n; i++)
        names[i] = file->tensors[i].name;
    if (!tensor || !tensor->rank)
        job_error(job,
                  tensor ? "%s: the tensor '%s' has no rows%s" : "%s: there is no tensor '%s'%s",
                  file->path, field,
                  tensor ? "" : text_known(job->arena, "'", field, names, (int)file->n));
    if (!tensor || !tensor->rank || !st_check_whole(&job->diags, file, tensor))
        return NULL;
    Lines *lines = ARENA_ARRAY(job->arena, Lines, 1);
    *lines = (Lines){.source = source, .n = tensor->dims[0], .tensor = tensor};
    return lines;
}

/* The file stays mapped. */
Lines **table_file_tensors(Job *job, const char *path, const TableFields *fields)
{
    const StFile *file = st_open(&job->diags, job->arena, path);
    Lines **columns = ARENA_ARRAY(job->arena, Lines *, MOST_COLUMNS + 2);
    if (!file)
        return NULL;
    Source *source = ARENA_ARRAY(job->arena, Source, 1);
    *source = (Source){.path = file->path, .text = file->map, .length = (size_t)file->map_bytes};
    for (int i = 0; i < fields->n; i++) {
        columns[i] = tensor_column(job, file, source, fields->names[i]);
        if (!columns[i])
            return NULL;
        if (columns[i]->n != columns[0]->n || !columns[i]->n) {
            job_error(job,
                      "%s: the tensor '%s' has %lld rows, and '%s' %lld: a record has one of each",
                      path, fields->names[0], (long long)columns[0]->n, fields->names[i],
                      (long long)columns[i]->n);
            return NULL;
        }
    }
    return columns;
}

bool table_file_is_tensors(const char *path) { return text_ends(path, ".safetensors"); }

bool table_file_is_named(const char *path)
{
    TableFormat format;
    return table_file_is_tensors(path) || table_is_named(path, &format);
}

static bool is_tensors(const TextList *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        if (table_file_is_tensors(paths->data[i]))
            return true;
    return false;
}

bool table_files_check(Job *job, const TextList *paths, const TableFields *fields)
{
    for (size_t i = 0; i < paths->count; i++)
        if (tmx_is_name(paths->data[i]))
            return job_error(job, "%s: a translation memory is pairs of texts, and no table",
                             paths->data[i]);
    if (is_tensors(paths) && paths->count > 1)
        return job_error(job, "%s: a table of tensors is one file", paths->data[0]);
    for (int i = 0; i < fields->n && is_tensors(paths); i++)
        if (table_name_is_of_several(fields->names[i]))
            return job_error(job, "%s: several fields are of a table, and a tensor is one: '%s'",
                             paths->data[0], fields->names[i]);
    if (is_tensors(paths) && (fields->source >= 0 || fields->target >= 0))
        return job_error(job, "%s: source and target are texts, and tensors have numbers",
                         paths->data[0]);
    return true;
}

/* The fields of the files, as a table or as tensors; NULL after an error. */
static Lines **read_fields(Job *job, const TextList *paths, const TableFields *fields,
                           int64_t line_limit)
{
    const LineLimits limits = {
        .line = line_limit, .takes = fields->takes, .inputs = fields->inputs};
    if (!table_files_check(job, paths, fields))
        return NULL;
    if (is_tensors(paths))
        return table_file_tensors(job, paths->data[0], fields);
    const Table *table = table_read_all(&job->diags, job->arena, paths->data, paths->count,
                                        fields->names, (size_t)fields->n, &limits);
    return table ? table->columns : NULL;
}

CorpusText table_fields_text(const TableFields *fields, Lines *const *read)
{
    CorpusText text = {0};
    int n = 0;
    if (fields->source >= 0)
        text.values[n++] = read[fields->source];
    if (fields->target >= 0) /* alone, it is the one text */
        text.values[n++] = read[fields->target];
    for (int c = 0; c < MOST_COLUMNS; c++)
        text.columns[c] = fields->columns[c] < 0 ? NULL : read[fields->columns[c]];
    return text;
}

bool table_files_read(Job *job, const TextList *paths, const TableFields *fields,
                      int64_t line_limit, CorpusText *out)
{
    Lines **read = read_fields(job, paths, fields, line_limit);
    if (read)
        *out = table_fields_text(fields, read);
    return read != NULL;
}
