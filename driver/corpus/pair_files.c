/* Reading files of pairs. */
#define _GNU_SOURCE
#include "driver/corpus/pair_files.h"

#include "base/file.h"
#include "base/machine.h"
#include "base/record_cutter.h"
#include "runtime/data/tmx.h"

#include <string.h>

const FieldPair pair_sides = {.names = {"source", "target"}, .needs_both = true};

/* ---- how a file is read ---- */

bool pair_columns_of(Job *job, const char *source, const char *target, const TextList *given,
                     TextList *columns)
{
    const FieldPair inputs = {.names = {source ? source : "source", target ? target : "target"}};
    *columns = (TextList){0};
    for (size_t i = 0; i < given->count; i++) {
        const char *text = given->data[i];
        for (int k = 0; k < 2; k++) {
            const size_t length = strlen(inputs.names[k]);
            if (!strncmp(text, inputs.names[k], length) && text[length] == '=')
                text = arena_printf(job->arena, "%s%s", pair_sides.names[k], text + length);
        }
        vec_push(job->arena, *columns, text);
    }
    return field_pair_check(job, &pair_sides, columns,
                            source ? ""
                                   : "; fields of a table that is no pairs are named beside the "
                                     "model that reads them, MODEL.tfg");
}

static TableFormat format_of(const char *path, const TextList *columns, const Source *begin)
{
    Arena *scratch = arena_new();
    TableFormat format = TABLE_TSV;
    const bool is_named = table_is_named(path, &format);
    if (is_named || columns->count)
        format = table_format(path, begin);
    if (!is_named && format == TABLE_TSV &&
        !(table_find_format(scratch, path, begin, pair_sides.names, 2, &format) &&
          format == TABLE_CSV))
        format = TABLE_TSV;
    arena_free(scratch);
    return format;
}

static PairFields choose_fields(Job *job, const char *path, const TextList *columns,
                                const Source *begin)
{
    PairFields out = {.format = format_of(path, columns, begin)};
    field_pair_choose(job, &pair_sides, columns, begin, out.format, out.fields);
    out.is_table = out.format != TABLE_TSV || columns->count || !field_pair_is_numbered(out.fields);
    return out;
}

bool pair_file_has_beginning(const char *path)
{
    return strcmp(path, "-") && !tmx_is_name(path) && file_is_regular(path);
}

/* Whole records of a file that is open. */
static const Source *cut_beginning(Job *job, const char *path, RecordCutter *cutter,
                                   const TextList *columns)
{
    const RecordPart part = {.records = 10000, .bytes = 1 << 20, .waits = true};
    const ByteSource *bytes = &cutter->source;
    byte_source_look(&cutter->source, 1);
    Source *begin = ARENA_NEW(job->arena, Source);
    *begin =
        (Source){.path = path,
                 .text = arena_strndup(job->arena, bytes->length ? bytes->data : "", bytes->length),
                 .length = bytes->length};
    record_cutter_begin(cutter, table_record_rule(format_of(path, columns, begin), 0, 0));
    if (!record_part(cutter, &part, &begin->length))
        return NULL;
    begin->text = arena_strndup(job->arena, begin->length ? bytes->data : "", begin->length);
    return begin;
}

const Source *pair_file_beginning(Job *job, const char *path, const TextList *columns,
                                  PairFields *fields)
{
    RecordCutter cutter;
    if (!pair_file_has_beginning(path) || !byte_source_open(&cutter.source, path))
        return NULL;
    byte_source_unpack(&cutter.source);
    const Source *begin = cut_beginning(job, path, &cutter, columns);
    record_cutter_close(&cutter);
    if (begin)
        *fields = choose_fields(job, path, columns, begin);
    return begin;
}

bool pair_file_is_table(Job *job, const char *path, const TextList *columns, PairFields *fields)
{
    *fields = (PairFields){.is_table = false};
    if (!pair_file_beginning(job, path, columns, fields) && !tmx_is_name(path))
        *fields = choose_fields(job, path, columns, &(Source){.path = path, .text = ""});
    return fields->is_table;
}

TableFields pair_table_fields(const PairFields *fields)
{
    TableFields out = {.names = {fields->fields[0], fields->fields[1]},
                       .inputs = {pair_sides.names[0], pair_sides.names[1]},
                       .n = 2,
                       .source = 0,
                       .target = 1};
    for (int c = 0; c < MOST_COLUMNS; c++)
        out.columns[c] = -1;
    return out;
}

TableFields pair_source_fields(Job *job, const char *path, const TextList *columns)
{
    static const FieldPair sources = {.names = {"source", "source"}};
    const Source none = {.path = path, .text = ""};
    PairFields fields;
    const Source *begin = pair_file_beginning(job, path, columns, &fields);
    begin = begin ? begin : &none;
    field_pair_choose(job, &sources, columns, begin, format_of(path, columns, begin),
                      fields.fields);
    TableFields out = pair_table_fields(&fields);
    out.n = 1;
    out.target = -1;
    return out;
}

/* ---- texts ---- */

/* Tabs and line breaks as blanks. */
static void blank_breaks(char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] == '\t' || text[i] == '\n' || text[i] == '\r')
            text[i] = ' ';
}

void pair_put_side(Text *out, const Line *side)
{
    text_put(out, side->text, side->length);
    blank_breaks(out->data + out->length - side->length, side->length);
}

void pair_put_row(Text *out, const Line *source, const Line *target)
{
    pair_put_side(out, source);
    text_put(out, "\t", 1);
    pair_put_side(out, target);
    text_put(out, "\n", 1);
}

/* Replaces a side that has tabs or line breaks by a copy without. */
static void flatten_side(Arena *arena, Line *side)
{
    size_t at = 0;
    while (at < side->length && !strchr("\t\n\r", side->text[at]))
        at++;
    if (at == side->length)
        return;
    char *copy = arena_strndup(arena, side->text, side->length);
    blank_breaks(copy, side->length);
    side->text = copy;
}

static bool parse_table(Job *job, const Source *source, const PairFields *fields,
                        const TextList *columns, int64_t line_limit, PairText *text)
{
    const LineLimits limits = {.line = line_limit};
    if (!strcmp(fields->fields[0], fields->fields[1]))
        return job_error(job, "%s: source and target are both field %s: --column names others",
                         source->path, fields->fields[0]);
    const Table *table =
        table_parse(&job->diags, job->arena, source, fields->format, fields->fields, 2, &limits);
    if (!table && !columns->count)
        field_pair_advise(job, &pair_sides, source);
    for (int k = 0; table && k < 2; k++) {
        text->sides[k] = table->columns[k];
        for (int64_t i = 0; i < table->n; i++)
            flatten_side(job->arena, &text->sides[k]->at[i]);
    }
    return table != NULL;
}

bool pair_text_open(Job *job, const char *path, const TextList *columns, const char *languages,
                    int64_t line_limit, PairText *text)
{
    *text = (PairText){0};
    if (tmx_is_name(path)) {
        const Source *file =
            file_read(&job->diags, job->arena, path, (size_t)machine_memory_free() / 4);
        text->lines = file ? tmx_parse(&job->diags, job->arena, file, languages) : NULL;
        return text->lines != NULL;
    }
    const Source *source =
        text_read(&job->diags, job->arena, path, &(LineLimits){.line = line_limit});
    if (!source)
        return false;
    const PairFields fields = choose_fields(job, path, columns, source);
    if (fields.is_table)
        return parse_table(job, source, &fields, columns, line_limit, text);
    text->lines = source;
    return true;
}

Lines *pair_text_read(Job *job, const char *path, const TextList *columns, const char *languages,
                      int64_t line_limit, Lines **targets)
{
    PairText text;
    if (!pair_text_open(job, path, columns, languages, line_limit, &text))
        return NULL;
    *targets = text.sides[1];
    if (!text.lines)
        return text.sides[0];
    const Lines *lines = lines_parse(&job->diags, job->arena, text.lines, line_limit);
    return lines ? lines_columns(&job->diags, job->arena, lines, targets) : NULL;
}

const Source *pair_text_lines(Job *job, const char *path, const TextList *columns,
                              const char *languages, int64_t line_limit, const int64_t **numbers)
{
    PairText text;
    Text rows = {0};
    *numbers = NULL;
    if (!pair_text_open(job, path, columns, languages, line_limit, &text))
        return NULL;
    if (text.lines)
        return text.lines;
    const Lines *const *sides = (const Lines *const *)text.sides;
    for (int64_t i = 0; i < sides[0]->n; i++)
        pair_put_row(&rows, &sides[0]->at[i], &sides[1]->at[i]);
    const Source *lines = diag_source(job->arena, path, rows.data, rows.length);
    text_free(&rows);
    *numbers = sides[0]->line;
    return lines;
}
