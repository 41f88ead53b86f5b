/* Records to rows of columns, cell by cell: those of a call's words, or lines of JSON. */
#include "runtime/model/columns.h"

#include "runtime/rows/cell.h"
#include "runtime/rows/record_json.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* RecordReader: n records, whose cells become the words of encode.
 *   cells     [n, inputs], of all inputs; NULL: the words of records have them
 *   lengths   of each input whose cells are read along a dimension, in each record; else NULL */
typedef struct RecordReader {
    TfcSession *session;
    const TfcProgram *program;
    const TfcColumn *columns;
    int64_t n;
    Arena *arena;
    TfcWord *words;
    Line *cells;
    int32_t *lengths[MOST_INPUTS];
} RecordReader;

static int record_fail(int64_t record, const RowFault *fault)
{
    return fault->text[0] ? tfc_model_fail(TFC_ERROR_ARGUMENT, "record %lld: %s", (long long)record,
                                           fault->text)
                          : tfc_model_no_memory();
}

/* ---- cells ---- */

/* How many positions the model has along a dimension. */
static int64_t positions_of(const TfcModel *model, const char *dim)
{
    for (int64_t i = 0; i < model->n_lengths; i++)
        if (!strcmp(model->lengths[i].dim, dim))
            return model->lengths[i].most;
    return INT32_MAX;
}

/* Appends the values of a record's cell. */
static int read_record_cell(const RecordReader *r, int32_t input, int64_t record, const Line *cell,
                            TokenIds *values)
{
    const TfcLoaded *loaded = r->session->loaded;
    const TfcColumn *column = &r->columns[input];
    const Tokenizer *own = input < MOST_COLUMNS ? loaded->own[input] : NULL,
                    *tokenizer = own                 ? own
                                 : column->of_source ? loaded->source
                                                     : loaded->target;
    const size_t before = values->count;
    size_t n = 0;
    RowFault fault;
    const bool is_text = column->row.kind == COLUMN_TEXT;
    if (!(is_text
              ? texts_encode(r->session, tokenizer, &column->row.frame, cell, values, &n, &fault)
              : cell_read(&column->row, NULL, cell, values, NULL, &fault)))
        return record_fail(record, &fault);
    /* a source without tokens of its own is empty, as a line is */
    const char *source = loaded->model->source;
    if (is_text && !n && source && !strcmp(column->row.input, source))
        values->count = before;
    return TFC_OK;
}

/* The cell of an input in a record. texts: of the input, in each record, where there are no
 * cells. */
static int find_record_cell(const RecordReader *r, int32_t input, int64_t record,
                            const char *const *texts, const char *name, Line *cell)
{
    if (!r->cells)
        return texts_check_cell(name, texts[record], cell);
    *cell = r->cells[record * r->program->n_inputs + input];
    return texts_check_bytes(name, cell->text, cell->length);
}

/* Appends the values of an input, record by record. */
static int read_cells(const RecordReader *r, int32_t input, const char *const *texts,
                      TokenIds *values)
{
    const RowColumn *column = &r->columns[input].row;
    const char *name = r->program->inputs[input].name;
    const int32_t dim = columns_dim(r->program, &r->program->inputs[input]);
    const int64_t most =
        dim < 0 ? 1 : positions_of(r->session->loaded->model, r->program->dims[dim].name);
    const int64_t width = column_has_numbers(&r->columns[input]) ? column->width : 1;
    int status = TFC_OK;
    for (int64_t i = 0; !status && i < r->n; i++) {
        char of[200];
        Line cell;
        const size_t before = values->count;
        snprintf(of, sizeof of, "record %lld: `%s`", (long long)i, name);
        status = find_record_cell(r, input, i, texts, of, &cell);
        if (!status)
            status = read_record_cell(r, input, i, &cell, values);
        const int64_t length = width ? (int64_t)(values->count - before) / width : 0;
        if (!status && (length > most || values->count > INT32_MAX))
            status = tfc_model_fail(
                TFC_ERROR_ARGUMENT, "%s has %lld %s, the model takes %lld at most", of,
                (long long)length, column->kind == COLUMN_TEXT ? "tokens" : "positions",
                (long long)most);
        if (r->lengths[input])
            r->lengths[input][i] = (int32_t)length;
    }
    return status;
}

static int read_column(RecordReader *r, int32_t input, const char *const *texts)
{
    const TfcPort *port = &r->program->inputs[input];
    TokenIds values = {0};
    if (columns_dim(r->program, port) >= 0 &&
        !(r->lengths[input] = ARENA_ARRAY(r->arena, int32_t, r->n + 1)))
        return tfc_model_no_memory();
    int status = r->n && !r->cells && !texts
                     ? tfc_model_fail(TFC_ERROR_ARGUMENT, "'%s' is NULL", port->name)
                     : read_cells(r, input, texts, &values);
    int32_t *copy = ARENA_ARRAY(r->arena, int32_t, (int64_t)values.count + 1);
    if (copy && values.count)
        memcpy(copy, values.data, values.count * sizeof *copy);
    token_ids_free(&values);
    r->words[r->program->n_given + input] = (TfcWord){.data = copy};
    return status ? status : copy ? TFC_OK : tfc_model_no_memory();
}

/* ---- the words of a call ---- */

/* The lengths that the caller gives: there, and none negative. */
static int check_said(const RecordReader *r, int32_t dim)
{
    const int32_t *lengths = r->words[dim].data;
    const char *name = r->program->dims[dim].name;
    if (!lengths && r->n)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "%s_lengths is NULL", name);
    for (int64_t i = 0; i < r->n; i++)
        if (lengths[i] < 0)
            return tfc_model_fail(TFC_ERROR_ARGUMENT, "%s_lengths[%lld] is %d; expected 0 or more",
                                  name, (long long)i, lengths[i]);
    return TFC_OK;
}

/* Dimensions, then inputs. */
static int read_record_words(RecordReader *r, const TfcWord *records)
{
    const TfcProgram *program = r->program;
    int status = TFC_OK;
    for (int32_t d = 0; d < program->n_given; d++)
        if (program->dims[d].batch < 0 || records_say_lengths(program, r->columns, d))
            r->words[d] = *records++;
    r->n = r->words[columns_rows_dim(program)].extent;
    if (r->n < 0 || r->n > INT32_MAX)
        return tfc_model_fail(TFC_ERROR_ARGUMENT,
                              "the dimension %s is %lld; expected 0 to 2^31 - 1",
                              program->dims[columns_rows_dim(program)].name, (long long)r->n);
    for (int32_t d = 0; !status && d < program->n_given; d++)
        if (program->dims[d].batch >= 0 && records_say_lengths(program, r->columns, d))
            status = check_said(r, d);
    for (int32_t i = 0; !status && i < program->n_inputs; i++, records++)
        if (column_has_numbers(&r->columns[i]))
            r->words[program->n_given + i] = *records;
        else
            status = read_column(r, i, records->data);
    return status;
}

/* ---- lines of JSON ---- */

static int read_json_record(const RecordFields *fields, const TextLines *lines, int64_t record,
                            Line *cells)
{
    const Line line = {lines->line, lines->size};
    RowFault fault;
    char name[40];
    snprintf(name, sizeof name, "record %lld", (long long)record);
    const int status = texts_check_bytes(name, line.text, line.length);
    if (status)
        return status;
    if (!record_read_json(fields, &line, cells, &fault))
        return record_fail(record, &fault);
    for (size_t i = 0; i < fields->n; i++)
        if (!cells[i].text)
            return tfc_model_fail(TFC_ERROR_ARGUMENT, "record %lld: the record has no field '%s'",
                                  (long long)record, fields->names[i].text);
    return TFC_OK;
}

/* The cells of all records. */
static int cut_json_records(RecordReader *r, const char *text, size_t length)
{
    const size_t inputs = (size_t)r->program->n_inputs;
    Line names[MOST_INPUTS];
    uint8_t takes[MOST_INPUTS];
    TextLines lines = {.text = text, .length = length};
    int status = TFC_OK;
    for (size_t i = 0; i < inputs; i++) {
        names[i] = (Line){r->program->inputs[i].name, strlen(r->program->inputs[i].name)};
        takes[i] = r->columns[i].row.missing ? FIELD_NULL : 0;
    }
    const RecordFields fields = {names, inputs, r->arena, NULL, takes};
    for (TextLines counted = lines; texts_next_line(&counted);)
        r->n++;
    r->cells = arena_array(r->arena, (size_t)r->n + 1, sizeof(Line) * inputs);
    if (!r->cells)
        return tfc_model_no_memory();
    for (int64_t i = 0; !status && texts_next_line(&lines); i++)
        status = read_json_record(&fields, &lines, i, r->cells + i * (int64_t)inputs);
    return status;
}

static int read_json_words(RecordReader *r, const char *text, size_t length)
{
    const TfcProgram *program = r->program;
    int status = cut_json_records(r, text, length);
    int32_t *none = ARENA_ARRAY(r->arena, int32_t, r->n + 1); /* where nothing has a length */
    if (!status && !none)
        return tfc_model_no_memory();
    for (int32_t d = 0; d < program->n_given; d++)
        r->words[d] =
            program->dims[d].batch < 0 ? (TfcWord){.extent = r->n} : (TfcWord){.data = none};
    for (int32_t i = 0; !status && i < program->n_inputs; i++)
        status = read_column(r, i, NULL);
    return status;
}

/* ---- both ---- */

/* Dimensions that nobody says are as long as the first of the inputs along them. */
static void take_lengths(RecordReader *r)
{
    for (int32_t i = r->program->n_inputs - 1; i >= 0; i--) {
        const int32_t dim = columns_dim(r->program, &r->program->inputs[i]);
        if (r->lengths[i] && dim < r->program->n_given &&
            (r->cells || !records_say_lengths(r->program, r->columns, dim)))
            r->words[dim].data = r->lengths[i];
    }
}

/* What is read along a dimension has its positions. */
static int check_agree(const RecordReader *r)
{
    for (int32_t i = 0; i < r->program->n_inputs; i++) {
        const TfcPort *port = &r->program->inputs[i];
        const int32_t dim = columns_dim(r->program, port);
        if (!r->lengths[i])
            continue;
        const int32_t *lengths = words_lengths(r->program, r->words, dim, r->n, r->arena);
        if (!lengths && r->n)
            return tfc_model_no_memory();
        for (int64_t k = 0; k < r->n; k++)
            if (lengths[k] != r->lengths[i][k])
                return tfc_model_fail(TFC_ERROR_ARGUMENT,
                                      "record %lld: `%s` has %d positions, and its dimension %s "
                                      "%d: give both as many",
                                      (long long)k, port->name, r->lengths[i][k],
                                      r->program->dims[dim].name, lengths[k]);
    }
    return TFC_OK;
}

int columns_read(TfcSession *session, const ColumnRecords *records, Arena *arena, TfcWord *out)
{
    const TfcProgram *program = columns_encoder(session);
    RecordReader reader = {.session = session,
                           .program = program,
                           .columns = session->loaded->model->columns,
                           .arena = arena,
                           .words = out};
    assert(program &&
           loaded_reads_columns(session->loaded)); /* interface.def: TRANSLATES_COLUMNS */
    int status = words_check_number(program);
    if (!status)
        status = records->words ? read_record_words(&reader, records->words)
                                : read_json_words(&reader, records->json, records->length);
    if (!status)
        take_lengths(&reader);
    return status ? status : check_agree(&reader);
}
