/* Rows of columns: as a program takes them, and some of them. */
#include "runtime/model/columns.h"

#include <assert.h>
#include <string.h>

/* ---- rows ---- */

const TfcProgram *columns_encoder(const TfcSession *session)
{
    return session->loaded->variant->programs[TFC_ENCODE];
}

int32_t columns_dim(const TfcProgram *program, const TfcPort *port)
{
    const int32_t dim = port->shape.rank > 1 ? port->shape.dims[1].dim : -1;
    return dim >= 0 && program->dims[dim].batch >= 0 ? dim : -1;
}

/* The input that lies along a dimension; NULL: none. */
static const TfcPort *port_along(const TfcProgram *program, int32_t dim)
{
    for (int32_t i = 0; i < program->n_inputs; i++)
        if (columns_dim(program, &program->inputs[i]) == dim)
            return &program->inputs[i];
    return NULL;
}

/* The values of an input in a row or, along a ragged dimension, at a position. */
static int64_t width_of_port(const TfcProgram *program, const TfcPort *port)
{
    int64_t width = 1;
    for (int axis = columns_dim(program, port) < 0 ? 1 : 2; axis < port->shape.rank; axis++)
        width *= port->shape.dims[axis].size;
    return width;
}

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
    Feed feed = {.batch = encode->dims[columns_rows_dim(encode)].name};
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
    *out = (Sources){.n = (int32_t)in[columns_rows_dim(program)].extent, .columns = columns};
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
    const TfcProgram *program = columns_encoder(session);
    assert(program && loaded_reads_columns(session->loaded)); /* interface.def: GENERATES_COLUMNS */
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
            if (dims[side] == columns_dim(encode, port))
                lengths = rows->lengths[side];
        columns[i] = choose_values(rows->columns[i], lengths, width_of_port(encode, port), first,
                                   numbers, n, arena);
    }
    return !arena_failed(arena);
}
