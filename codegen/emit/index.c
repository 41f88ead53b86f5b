/* Kernels that move rows: scatter_add, lookup_add, append, concat. What is read at indices, ops
 * gather and lookup, is in value.c (value_gather, value_lookup). */
#include "codegen/emit/region/columns.h"

#include <assert.h>

/* ---- scatter_add: rows of a added at the indices b into zeros ----
 *
 * A unit owns columns of the whole table: it clears them, then goes through the
 * indices in order. So rows that meet are added in order, by one thread. */

typedef struct Scatter {
    LoValue row; /* i64, this row's index */
    LoIf inside;
} Scatter;

static Place table_place(Emit *e, Coord row)
{
    const Type *table = &e->op->results[0].type;
    Place place = place_aligned(table, &e->space);
    place.at[0] = row;
    return place;
}

static LoValue table_rows(Emit *e)
{
    return lo_i64_of(&e->lo, e->op->results[0].type.dims[0].size);
}

/* Zeros at n places of the result. */
static void clear_places(Emit *e, LoValue n, Place (*place_of)(Emit *e, Coord i))
{
    Lo *lo = &e->lo;
    LoLoop loop = lo_for_open(lo, lo_i64_of(lo, 0), n, 1, "clear");
    Place place = place_of(e, coord_of(loop.index));
    emit_store_at(e, 2, &place, lo_zero(lo, emit_type(e, e->op->results[0].type.dtype)));
    lo_for_close(lo, &loop);
}

static void clear_column(Emit *e, Columns *c)
{
    (void)c;
    clear_places(e, table_rows(e), table_place);
}

static void find_row(Emit *e, Columns *c)
{
    Lo *lo = &e->lo;
    Scatter *scatter = c->data;
    const Type *index = &e->op->args[1]->type;
    Place place = {.rank = index->rank};
    for (int i = 0; i < index->rank; i++)
        if (!dim_is_one(index->dims[i]))
            place.at[i] = e->space.at[i];
    LoValue row = emit_load_at(e, 1, &place);
    scatter->row = lo_sext(lo, row, lo_i64);
    LoValue inside = lo_ult(lo, scatter->row, table_rows(e));
    scatter->inside = lo_if_open(lo, inside);
}

static void add_to_row(Emit *e, Columns *c)
{
    Scatter *scatter = c->data;
    Place from = place_aligned(&e->op->args[0]->type, &e->space);
    Place to = table_place(e, coord_of(scatter->row));
    emit_add_at(e, 2, &to, emit_load_at(e, 0, &from));
}

static void leave_row(Emit *e, Columns *c)
{
    Scatter *scatter = c->data;
    lo_if_close(&e->lo, &scatter->inside);
}

void kernel_scatter_add(Emit *e)
{
    static const ColumnWork work = {.begin = clear_column,
                                    .enter = find_row,
                                    .add = add_to_row,
                                    .leave = leave_row,
                                    .single = true};
    Scatter scatter;
    columns_run(e, &work, &scatter);
}

/* ---- lookup_add: elements of a added along an axis at the positions b into zeros ----
 *
 * A unit owns columns of all that lies along the axis, as a sentence: it clears them, then goes
 * through the positions in order. So elements that meet are added in order, by one thread. */

static int added_axis(const Emit *e) { return (int)op_int(e->op, ATTR_axis); }

static Place added_place(Emit *e, Coord row)
{
    Place place = place_aligned(&e->op->results[0].type, &e->space);
    place.at[added_axis(e)] = row;
    return place;
}

/* At e->space, i64. */
static LoValue added_length(Emit *e)
{
    Coord n = length_along(e, &e->op->results[0].type, added_axis(e), &e->space);
    return coord_value(e, &n, lo_i64);
}

static void clear_along(Emit *e, Columns *c)
{
    (void)c;
    clear_places(e, added_length(e), added_place);
}

static void add_along(Emit *e, Columns *c)
{
    Lo *lo = &e->lo;
    (void)c;
    Place at_index = place_aligned(&e->op->args[1]->type, &e->space);
    LoValue row = lo_sext(lo, emit_load_at(e, 1, &at_index), lo_i64);
    LoIf inside = lo_if_open(lo, lo_ult(lo, row, added_length(e)));
    Place from = place_aligned(&e->op->args[0]->type, &e->space);
    Place to = added_place(e, coord_of(row));
    emit_add_at(e, 2, &to, emit_load_at(e, 0, &from));
    lo_if_close(lo, &inside);
}

void kernel_lookup_add(Emit *e)
{
    const Type *index = &e->op->args[1]->type;
    const int last = e->layout.axes[e->layout.n - 1].dim;
    const int own = last - (e->space.rank - index->rank);
    const ColumnWork work = {.begin = clear_along,
                             .add = add_along,
                             .single = true,
                             .apart = own >= 0 && !dim_is_one(index->dims[own])};
    columns_run(e, &work, NULL);
}

/* The end of a row's columns, for each_column; NULL if a row is one column: of a loop over it the
 * store would go to one place. */
static LoValue columns_end(Emit *e, const RowLoop *rows)
{
    const Dim columns = e->layout.axes[e->layout.n - 1].extent;
    bool is_one = dim_is_const(columns) && columns.size == 1;
    return is_one ? NULL : coord_value(e, &rows->limit, lo_i64);
}

/* ---- append: rows b [R, Q~, …] become the last ones of the cache a [R, P~, …] ---- */

static void append_column(Emit *e, void *data)
{
    (void)data;
    const Type *cache = &e->op->args[0]->type, *rows = &e->op->args[1]->type;
    const Axis *last = &e->layout.axes[e->layout.n - 1];
    if (last->batch_dim >= 0)
        bind_tokens(e, rows, last, (Coord){.base = e->column, .varies = true});
    Place to = place_aligned(cache, &e->space), from = place_aligned(rows, &e->space);
    Coord all = table_lookup(e, cache->dims[1].symbol, DIM_LENGTH, e->space.at[0]);
    Coord new = table_lookup(e, rows->dims[1].symbol, DIM_LENGTH, e->space.at[0]);
    to.at[1] = coord_add(e, coord_add(e, all, coord_scale(e, new, -1)), e->space.at[1]);
    emit_store_at(e, 2, &to, emit_load_at(e, 1, &from));
}

void kernel_append(Emit *e)
{
    RowLoop rows = rows_open(e);
    each_column(e, lo_i64_of(&e->lo, 0), columns_end(e, &rows), append_column, NULL);
    rows_close(e, &rows);
}

/* ---- concat: each operand's columns into its part of the result ---- */

/* ConcatPart: an operand, and where it begins along the axis. */
typedef struct ConcatPart {
    int operand, axis;
    int64_t start;
} ConcatPart;

static void copy_column(Emit *e, void *data)
{
    const ConcatPart *part = data;
    const Type *type = &e->op->args[part->operand]->type;
    bool along = e->layout.axes[e->layout.n - 1].dim == part->axis; /* columns are what is joined */
    Place from = place_aligned(type, &e->space), to = e->space;
    Coord at = e->space.at[part->axis];
    if (along)
        to.at[part->axis] = coord_add(e, at, coord_const(e, part->start));
    else if (type->dims[part->axis].size > 1)
        from.at[part->axis] = coord_add(e, at, coord_const(e, -part->start));
    emit_store_at(e, e->op->n_args, &to, emit_load_at(e, part->operand, &from));
}

/* Along a row axis: whether this row is the operand's. */
static LoValue is_part(Emit *e, const ConcatPart *part, int64_t size)
{
    Coord own = coord_add(e, e->space.at[part->axis], coord_const(e, -part->start));
    return lo_ult(&e->lo, coord_value(e, &own, lo_i64), lo_i64_of(&e->lo, size));
}

static void copy_part(Emit *e, ConcatPart *part, const RowLoop *rows)
{
    Lo *lo = &e->lo;
    int64_t size = e->op->args[part->operand]->type.dims[part->axis].size;
    bool along = e->layout.axes[e->layout.n - 1].dim == part->axis;
    LoIf mine;
    if (!along)
        mine = lo_if_open(lo, is_part(e, part, size));
    LoValue limit = along ? lo_i64_of(lo, size) : columns_end(e, rows);
    each_column(e, lo_i64_of(lo, 0), limit, copy_column, part);
    if (!along)
        lo_if_close(lo, &mine);
}

void kernel_concat(Emit *e)
{
    ConcatPart part = {.axis = (int)op_int(e->op, ATTR_axis)};
    RowLoop rows = rows_open(e);
    for (; part.operand < e->op->n_args; part.operand++) {
        copy_part(e, &part, &rows);
        part.start += e->op->args[part.operand]->type.dims[part.axis].size;
    }
    rows_close(e, &rows);
}
