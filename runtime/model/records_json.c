/* Lines to columns: the cells of each input, record by record. */
#include "runtime/model/records_json.h"

#include "runtime/rows/cell.h"
#include "runtime/rows/record_json.h"

#include <stdio.h>
#include <string.h>

/* JsonRecords: n records, as cells, and the words that are made of them.
 *   cells   [n, inputs] */
typedef struct JsonRecords {
    const TfcModel *model;
    const TfcProgram *encode;
    int64_t n;
    Line *cells;
    Arena *arena;
} JsonRecords;

static const Line *record_cell(const JsonRecords *r, int64_t record, int32_t input)
{
    return &r->cells[record * r->encode->n_inputs + input];
}

/* ---- cells ---- */

enum { RECORD_NAME = 40 };

static int read_record(const RecordFields *fields, const TextLines *lines, int64_t record,
                       Line *cells)
{
    const Line line = {lines->line, lines->size};
    RowFault fault;
    char name[RECORD_NAME];
    snprintf(name, sizeof name, "record %lld", (long long)record);
    const int status = texts_check_bytes(name, line.text, line.length);
    if (status)
        return status;
    if (!record_read_json(fields, &line, cells, &fault))
        return columns_fail(record, &fault);
    for (size_t i = 0; i < fields->n; i++)
        if (!cells[i].text)
            return tfc_model_fail(TFC_ERROR_ARGUMENT, "record %lld: the record has no field '%s'",
                                  (long long)record, fields->names[i].text);
    return TFC_OK;
}

static int64_t count_records(const char *text, size_t length)
{
    TextLines lines = {.text = text, .length = length};
    int64_t n = 0;
    while (texts_next_line(&lines))
        n++;
    return n;
}

static int read_records(JsonRecords *r, const char *text, size_t length)
{
    const size_t inputs = (size_t)r->encode->n_inputs;
    Line names[MOST_INPUTS];
    TextLines lines = {.text = text, .length = length};
    int status = TFC_OK;
    for (size_t i = 0; i < inputs; i++)
        names[i] = (Line){r->encode->inputs[i].name, strlen(r->encode->inputs[i].name)};
    const RecordFields fields = {names, inputs, r->arena, NULL};
    r->n = count_records(text, length);
    r->cells = arena_array(r->arena, (size_t)r->n + 1, sizeof(Line) * inputs);
    if (!r->cells)
        return tfc_model_no_memory();
    for (int64_t i = 0; !status && texts_next_line(&lines); i++)
        status = read_record(&fields, &lines, i, r->cells + i * (int64_t)inputs);
    return status;
}

/* ---- words ---- */

static int take_texts(const JsonRecords *r, int32_t input, TfcWord *out)
{
    const char **texts = ARENA_ARRAY(r->arena, const char *, r->n + 1);
    for (int64_t i = 0; texts && i < r->n; i++) {
        const Line *cell = record_cell(r, i, input);
        texts[i] = arena_strndup(r->arena, cell->text, cell->length);
    }
    out->data = texts;
    return arena_failed(r->arena) ? tfc_model_no_memory() : TFC_OK;
}

/* Appends the numbers of all records. lengths: of the dimension along which the input lies; NULL:
 * none. known: whether they are those of an input before. */
static int read_numbers(const JsonRecords *r, int32_t input, int32_t *lengths, bool known,
                        TokenIds *values)
{
    const RowColumn *column = &r->model->columns[input].row;
    for (int64_t i = 0; i < r->n; i++) {
        const size_t before = values->count;
        RowFault fault;
        if (!cell_read(column, NULL, record_cell(r, i, input), values, NULL, &fault))
            return columns_fail(i, &fault);
        const size_t n = values->count - before;
        const int64_t length = column->width ? (int64_t)n / column->width : 0;
        if (length > INT32_MAX)
            return tfc_model_no_memory();
        if (lengths && known && lengths[i] != length)
            return tfc_model_fail(TFC_ERROR_ARGUMENT,
                                  "record %lld: `%s` has %lld positions, and what shares its "
                                  "dimension %d: give both as many",
                                  (long long)i, column->input, (long long)length, lengths[i]);
        if (lengths)
            lengths[i] = (int32_t)length;
    }
    return TFC_OK;
}

static int take_numbers(const JsonRecords *r, int32_t input, int32_t *lengths, bool known,
                        TfcWord *out)
{
    TokenIds values = {0};
    int status = read_numbers(r, input, lengths, known, &values);
    int32_t *copy = status ? NULL : ARENA_ARRAY(r->arena, int32_t, values.count + 1);
    if (copy && values.count)
        memcpy(copy, values.data, values.count * sizeof *copy);
    token_ids_free(&values);
    out->data = copy;
    return status || copy ? status : tfc_model_no_memory();
}

int records_of_json(const TfcModel *model, const TfcProgram *encode, const char *text,
                    size_t length, Arena *arena, TfcWord *out)
{
    JsonRecords records = {.model = model, .encode = encode, .arena = arena};
    int32_t *lengths[MOST_DIMS] = {NULL};
    bool known[MOST_DIMS] = {false};
    TfcWord *at = out;
    int status = words_check_number(encode);
    if (!status)
        status = read_records(&records, text, length);
    for (int32_t d = 0; !status && d < encode->n_given; d++) {
        if (encode->dims[d].batch < 0)
            *at++ = (TfcWord){.extent = records.n};
        else if (records_say_lengths(encode, model->columns, d)) {
            lengths[d] = ARENA_ARRAY(arena, int32_t, records.n + 1);
            *at++ = (TfcWord){.data = lengths[d]};
            status = lengths[d] ? TFC_OK : tfc_model_no_memory();
        }
    }
    for (int32_t i = 0; !status && i < encode->n_inputs; i++, at++) {
        const TfcPort *port = &encode->inputs[i];
        const int32_t dim = port->shape.rank > 1 ? port->shape.dims[1].dim : -1;
        if (!column_has_numbers(&model->columns[i])) {
            status = take_texts(&records, i, at);
            continue;
        }
        if (dim >= encode->n_given)
            return tfc_model_fail(TFC_ERROR_FUNCTION,
                                  "`%s` lies along a dimension that is made of others", port->name);
        status =
            take_numbers(&records, i, dim < 0 ? NULL : lengths[dim], dim >= 0 && known[dim], at);
        if (dim >= 0)
            known[dim] = true;
    }
    return status;
}
