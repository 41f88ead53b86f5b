/* Rows of columns: as a program takes them, some of them, and from records, whose texts become
 * tokens and whose labels numbers. */
#include "runtime/model/columns.h"

#include "runtime/rows/cell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

static const TfcProgram *encode_of(const TfcSession *session)
{
    return session->loaded->variant->programs[TFC_ENCODE];
}

/* The ragged dimension of an input; -1: it has none. */
static int32_t dim_along(const TfcProgram *program, const TfcPort *port)
{
    const int32_t dim = port->shape.rank > 1 ? port->shape.dims[1].dim : -1;
    return dim >= 0 && program->dims[dim].batch >= 0 ? dim : -1;
}

/* The input that lies along a dimension; NULL: none. */
static const TfcPort *port_along(const TfcProgram *program, int32_t dim)
{
    for (int32_t i = 0; i < program->n_inputs; i++)
        if (dim_along(program, &program->inputs[i]) == dim)
            return &program->inputs[i];
    return NULL;
}

/* The values of an input in a row or, along a ragged dimension, at a position. */
static int64_t width_of_port(const TfcProgram *program, const TfcPort *port)
{
    int64_t width = 1;
    for (int axis = dim_along(program, port) < 0 ? 1 : 2; axis < port->shape.rank; axis++)
        width *= port->shape.dims[axis].size;
    return width;
}

/* The dimension that counts the rows. */
static int32_t rows_dim(const TfcProgram *program) { return program->inputs[0].shape.dims[0].dim; }

/* The sides' dimensions, in their order; how many. */
static int side_dims(const TfcProgram *program, int32_t dims[MOST_SIDES])
{
    int n = 0;
    for (int32_t d = 0; d < program->n_dims && n < MOST_SIDES; d++)
        if (port_along(program, d))
            dims[n++] = d;
    return n;
}

Feed columns_feed(const TfcProgram *encode)
{
    Feed feed = {.batch = encode->dims[rows_dim(encode)].name};
    int32_t dims[MOST_SIDES];
    const int n = side_dims(encode, dims);
    for (int side = 0; side < n; side++)
        feed.dims[side] = encode->dims[dims[side]].name;
    for (; feed.n_columns < encode->n_inputs && feed.n_columns < MOST_COLUMNS; feed.n_columns++)
        feed.columns[feed.n_columns] = encode->inputs[feed.n_columns].name;
    return feed;
}

static int put_rows(const TfcProgram *program, const TfcWord *in, Arena *arena, Sources *out)
{
    int32_t dims[MOST_SIDES];
    const int sides = side_dims(program, dims);
    const int32_t **columns = ARENA_ARRAY(arena, const int32_t *, program->n_inputs + 1);
    if (!columns)
        return tfc_model_no_memory();
    *out = (Sources){.n = (int32_t)in[rows_dim(program)].extent, .columns = columns};
    for (int side = 0; side < sides; side++) {
        out->lengths[side] = words_lengths(program, in, dims[side], out->n, arena);
        if (out->n && !out->lengths[side])
            return tfc_model_no_memory();
    }
    for (int32_t i = 0; i < program->n_inputs; i++)
        columns[i] = in[program->n_given + i].data;
    return TFC_OK;
}

int columns_rows(const TfcSession *session, const TfcWord *in, Arena *arena, Sources *out)
{
    const TfcProgram *program = encode_of(session);
    if (!program || !loaded_reads_columns(session->loaded))
        return tfc_model_fail(TFC_ERROR_FUNCTION, "%s generates nothing from columns",
                              session->loaded->model->name);
    const int status = words_check(session->loaded->model, program, in);
    return status ? status : put_rows(program, in, arena, out);
}

bool columns_row_is_empty(const Sources *rows, int64_t row)
{
    for (int side = 0; side < MOST_SIDES; side++)
        if (rows->lengths[side] && !rows->lengths[side][row])
            return true;
    return false;
}

int columns_fail(int64_t record, const RowFault *fault)
{
    return fault->text[0] ? tfc_model_fail(TFC_ERROR_ARGUMENT, "record %lld: %s", (long long)record,
                                           fault->text)
                          : tfc_model_no_memory();
}

/* A column's values of n of the rows; lengths NULL: each row has one position. NULL: memory ran
 * out. */
static int32_t *choose_values(const int32_t *values, const int32_t *lengths, int64_t width,
                              int64_t first, const int64_t *numbers, int32_t n, Arena *arena)
{
    int64_t total = 0, at = 0, row = 0;
    for (int32_t i = 0; i < n; i++)
        total += lengths ? lengths[numbers[i] - first] : 1;
    int32_t *chosen = ARENA_ARRAY(arena, int32_t, total *width + 1), *end = chosen;
    for (int32_t i = 0; chosen && i < n; i++) {
        for (; row < numbers[i] - first; row++)
            at += lengths ? lengths[row] : 1;
        const int64_t count = (lengths ? lengths[row] : 1) * width;
        if (count)
            memcpy(end, values + at * width, (size_t)count * sizeof *end);
        end += count;
    }
    return chosen;
}

bool columns_choose(const TfcProgram *encode, const Sources *rows, int64_t first,
                    const int64_t *numbers, int32_t n, Arena *arena, Sources *out)
{
    int32_t dims[MOST_SIDES];
    const int sides = side_dims(encode, dims);
    const int32_t **columns = ARENA_ARRAY(arena, const int32_t *, encode->n_inputs + 1);
    *out = (Sources){.n = n, .columns = columns};
    for (int side = 0; side < sides; side++) {
        int32_t *lengths = ARENA_ARRAY(arena, int32_t, n + 1);
        for (int32_t i = 0; lengths && i < n; i++)
            lengths[i] = rows->lengths[side][numbers[i] - first];
        out->lengths[side] = lengths;
    }
    for (int32_t i = 0; columns && i < encode->n_inputs; i++) {
        const TfcPort *port = &encode->inputs[i];
        const int32_t *lengths = NULL;
        for (int side = 0; side < sides; side++)
            if (dims[side] == dim_along(encode, port))
                lengths = rows->lengths[side];
        columns[i] = choose_values(rows->columns[i], lengths, width_of_port(encode, port), first,
                                   numbers, n, arena);
    }
    return !arena_failed(arena);
}

/* ---- records ---- */

/* RecordReader: records, whose words become those of encode.
 *   n         of the records
 *   lengths   of each input that texts or labels feed along a dimension, in each record; else
 *             NULL */
typedef struct RecordReader {
    TfcSession *session;
    const TfcProgram *program;
    const TfcColumn *columns;
    int64_t n;
    Arena *arena;
    TfcWord *words;
    int32_t *lengths[MOST_INPUTS];
} RecordReader;

enum { CELL_NAME = 200 };
static void name_cell(int64_t record, const TfcPort *port, char out[CELL_NAME])
{
    snprintf(out, CELL_NAME, "record %lld: `%s`", (long long)record, port->name);
}

/* How many positions the model has along a dimension. */
static int64_t positions_of(const TfcModel *model, const char *dim)
{
    for (int64_t i = 0; i < model->n_lengths; i++)
        if (!strcmp(model->lengths[i].dim, dim))
            return model->lengths[i].most;
    return INT32_MAX;
}

/* Appends the ids of a record's text or labels. */
static int read_text_cell(RecordReader *r, int32_t input, int64_t record, const char *text,
                          TokenIds *ids)
{
    const TfcLoaded *loaded = r->session->loaded;
    const TfcColumn *column = &r->columns[input];
    const Tokenizer *own = input < MOST_COLUMNS ? loaded->own[input] : NULL,
                    *tokenizer = own                 ? own
                                 : column->of_source ? loaded->source
                                                     : loaded->target;
    const Line cell = {text, strlen(text)};
    const size_t before = ids->count;
    size_t n = 0;
    RowFault fault;
    const bool is_text = column->row.kind == COLUMN_TEXT;
    if (!(is_text ? texts_encode(r->session, tokenizer, &column->row.frame, &cell, ids, &n, &fault)
                  : cell_read(&column->row, NULL, &cell, ids, NULL, &fault)))
        return columns_fail(record, &fault);
    /* a source without tokens of its own is empty, as a line is */
    const char *source = loaded->model->source;
    if (is_text && !n && source && !strcmp(column->row.input, source))
        ids->count = before;
    return TFC_OK;
}

/* Appends the ids of the texts or labels of an input, record by record. */
static int read_cells(RecordReader *r, int32_t input, const char *const *texts, TokenIds *ids)
{
    const TfcPort *port = &r->program->inputs[input];
    const int32_t dim = dim_along(r->program, port);
    const int64_t most =
        dim < 0 ? 1 : positions_of(r->session->loaded->model, r->program->dims[dim].name);
    int status = TFC_OK;
    for (int64_t i = 0; !status && i < r->n; i++) {
        char cell[CELL_NAME];
        const size_t before = ids->count;
        name_cell(i, port, cell);
        status = texts_check_cell(cell, texts[i]);
        if (!status)
            status = read_text_cell(r, input, i, texts[i], ids);
        const int64_t length = (int64_t)(ids->count - before);
        if (!status && (length > most || ids->count > INT32_MAX))
            status = tfc_model_fail(TFC_ERROR_ARGUMENT,
                                    "%s has %lld tokens, the model takes %lld at most", cell,
                                    (long long)length, (long long)most);
        if (r->lengths[input])
            r->lengths[input][i] = (int32_t)length;
    }
    return status;
}

static int read_column(RecordReader *r, int32_t input, const TfcWord *texts)
{
    const TfcPort *port = &r->program->inputs[input];
    TfcWord *word = &r->words[r->program->n_given + input];
    TokenIds ids = {0};
    if (dim_along(r->program, port) >= 0 &&
        !(r->lengths[input] = ARENA_ARRAY(r->arena, int32_t, r->n + 1)))
        return tfc_model_no_memory();
    int status = r->n && !texts->data
                     ? tfc_model_fail(TFC_ERROR_ARGUMENT, "'%s' is NULL", port->name)
                     : read_cells(r, input, texts->data, &ids);
    int32_t *copy = ARENA_ARRAY(r->arena, int32_t, (int64_t)ids.count + 1);
    if (copy && ids.count)
        memcpy(copy, ids.data, ids.count * sizeof *copy);
    token_ids_free(&ids);
    *word = (TfcWord){.data = copy};
    return status ? status : copy ? TFC_OK : tfc_model_no_memory();
}

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
    r->n = r->words[rows_dim(program)].extent;
    if (r->n < 0 || r->n > INT32_MAX)
        return tfc_model_fail(TFC_ERROR_ARGUMENT,
                              "the dimension %s is %lld; expected 0 to 2^31 - 1",
                              program->dims[rows_dim(program)].name, (long long)r->n);
    for (int32_t d = 0; !status && d < program->n_given; d++)
        if (program->dims[d].batch >= 0 && records_say_lengths(program, r->columns, d))
            status = check_said(r, d);
    for (int32_t i = 0; !status && i < program->n_inputs; i++, records++)
        if (column_has_numbers(&r->columns[i]))
            r->words[program->n_given + i] = *records;
        else
            status = read_column(r, i, records);
    return status;
}

/* Dimensions that nobody says are as long as the first of the inputs along them. */
static void take_lengths(RecordReader *r)
{
    for (int32_t i = r->program->n_inputs - 1; i >= 0; i--) {
        const int32_t dim = dim_along(r->program, &r->program->inputs[i]);
        if (r->lengths[i] && dim < r->program->n_given &&
            !records_say_lengths(r->program, r->columns, dim))
            r->words[dim].data = r->lengths[i];
    }
}

/* Texts and labels have the positions of their dimensions. */
static int check_agree(const RecordReader *r)
{
    for (int32_t i = 0; i < r->program->n_inputs; i++) {
        const TfcPort *port = &r->program->inputs[i];
        const int32_t dim = dim_along(r->program, port);
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

int columns_read(TfcSession *session, const TfcWord *records, Arena *arena, TfcWord *out)
{
    const TfcProgram *program = encode_of(session);
    RecordReader reader = {.session = session,
                           .program = program,
                           .columns = session->loaded->model->columns,
                           .arena = arena,
                           .words = out};
    if (!program || !loaded_reads_columns(session->loaded))
        return tfc_model_fail(TFC_ERROR_FUNCTION, "%s generates nothing from records",
                              session->loaded->model->name);
    int status = words_check_number(program);
    if (!status)
        status = read_record_words(&reader, records);
    if (!status)
        take_lengths(&reader);
    return status ? status : check_agree(&reader);
}
