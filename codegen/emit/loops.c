/* Loops over rows and columns.
 *
 * The rows of a row kernel are counted by an odometer: the first row's
 * coordinates are divided out of `begin`, the others follow by carrying. A row
 * whose ragged coordinates lie past its sentence's lengths does not exist and is
 * skipped; columns end at the sentence's length. */
#include "codegen/emit/emit.h"

#include <assert.h>

/* ---- what exists ---- */

/* The length that bounds a logical dimension of the space here, if it is ragged,
 * its sentence is known and it is not a token's own position. */
static bool length_here(Emit *e, int dim, Coord *length)
{
    int symbol = e->signature->space.dims[dim].symbol;
    if (!symbol_is_ragged(e->module, symbol))
        return false;
    int batch = type_find_dim(&e->signature->space, e->module->symbols.data[symbol].batch);
    if (batch < 0 || e->space.at[dim].token == symbol + 1)
        return false;
    *length = table_lookup(e, symbol, DIM_LENGTH, e->space.at[batch]);
    return true;
}

/* Whether the dimension ends column by column: what lies past that is computed for nothing. */
static bool ends_by_column(const Emit *e, int dim)
{
    int symbol = e->signature->space.dims[dim].symbol;
    if (!symbol_is_ragged(e->module, symbol))
        return false;
    int batch = type_find_dim(&e->signature->space, e->module->symbols.data[symbol].batch);
    return batch >= 0 && e->space.at[batch].varies;
}

LoValue row_exists(Emit *e, const bool *bound)
{
    Lo *lo = &e->lo;
    LoValue exists = NULL;
    if (layout_is_packed(&e->layout) && e->layout.n == 1)
        return exists; /* tokens alone: all exist, and no row says of which sentence */
    for (int i = 0; i < e->signature->space.rank; i++) {
        Coord length, c = e->space.at[i];
        if ((bound && bound[i]) || c.varies || ends_by_column(e, i) || !length_here(e, i, &length))
            continue;
        LoValue at = coord_value(e, &c, lo_i64), n = coord_value(e, &length, lo_i64);
        exists = val_and(e, exists, lo_lt(lo, at, n));
    }
    return exists;
}

Coord dim_length(Emit *e, int dim)
{
    Coord length;
    if (length_here(e, dim, &length))
        return length;
    return coord_of(extent_of(e, &(Axis){dim, -1, e->signature->space.dims[dim]}));
}

Coord column_limit(Emit *e)
{
    if (e->layout.n == 0)
        return coord_const(e, 1);
    const Axis *last = &e->layout.axes[e->layout.n - 1];
    Coord length;
    if (last->batch_dim < 0 && length_here(e, last->dim, &length))
        return length;
    return coord_of(extent_of(e, last));
}

/* ---- units ---- */

LoLoop units_open(Emit *e, const char *name)
{
    return e->end ? lo_for_open(&e->lo, e->begin, e->end, 1, name) : (LoLoop){.index = e->begin};
}

void units_close(Emit *e, LoLoop *loop)
{
    if (e->end)
        lo_for_close(&e->lo, loop);
}

/* ---- rows ---- */

/* Coordinates of row `begin`. */
static void first_row(Emit *e, const RowLoop *rows, LoValue at[MAX_RANK])
{
    Lo *lo = &e->lo;
    LoValue rest = e->begin;
    for (int i = rows->n - 1; i >= 0; i--) {
        LoValue extent = extent_of(e, &e->layout.axes[i]);
        at[i] = i ? lo_rem(lo, rest, extent) : rest;
        rest = i ? lo_div(lo, rest, extent) : rest;
    }
}

static void start_odometer(Emit *e, RowLoop *rows, LoValue const at[MAX_RANK])
{
    for (int i = rows->n - 1; i >= 0; i--) {
        rows->slots[i] = lo_scratch(&e->lo, lo_i64, 1, 0, "at");
        lo_store(&e->lo, at[i], rows->slots[i], 8);
    }
}

static void step_odometer(Emit *e, RowLoop *rows)
{
    Lo *lo = &e->lo;
    LoValue carry = lo_i64_of(lo, 1);
    for (int i = rows->n - 1; i >= 0; i--) {
        LoValue at = lo_iadd(lo, lo_load(lo, lo_i64, rows->slots[i], 8), carry);
        if (i) {
            LoValue extent = extent_of(e, &e->layout.axes[i]);
            LoValue full = lo_eq(lo, at, extent);
            at = lo_select(lo, full, lo_i64_of(lo, 0), at);
            carry = lo_zext(lo, full, lo_i64);
        }
        lo_store(lo, at, rows->slots[i], 8);
    }
}

static void read_odometer(Emit *e, const RowLoop *rows, LoValue at[MAX_RANK])
{
    for (int i = 0; i < rows->n; i++)
        at[i] = lo_load(&e->lo, lo_i64, rows->slots[i], 8);
}

static void stand_in_row(Emit *e, const RowLoop *rows, LoValue const at[MAX_RANK])
{
    for (int i = 0; i < rows->n; i++) {
        const Axis *axis = &e->layout.axes[i];
        if (axis->batch_dim >= 0)
            bind_tokens(e, &e->signature->space, axis, coord_of(at[i]));
        else if (!dim_is_one(axis->extent))
            e->space.at[axis->dim] = coord_of(at[i]);
    }
}

void stand_at_column(Emit *e, LoValue column)
{
    const Axis *last = e->layout.n ? &e->layout.axes[e->layout.n - 1] : NULL;
    e->column = column;
    if (last && last->batch_dim < 0 && !dim_is_one(last->extent))
        e->space.at[last->dim] = (Coord){.base = column, .varies = true};
}

RowLoop rows_open(Emit *e)
{
    RowLoop rows = {.n = e->layout.n > 0 ? e->layout.n - 1 : 0};
    for (int i = 0; i < rows.n; i++)
        extent_of(e, &e->layout.axes[i]);
    LoValue at[MAX_RANK];
    if (e->end) { /* without rows an extent may be 0: nothing must be divided by it */
        rows.some = lo_if_open(&e->lo, lo_lt(&e->lo, e->begin, e->end));
        first_row(e, &rows, at);
        start_odometer(e, &rows, at);
        rows.loop = units_open(e, "rows");
        read_odometer(e, &rows, at);
    } else {
        first_row(e, &rows, at);
    }
    stand_in_row(e, &rows, at);
    stand_at_column(e, NULL);
    LoValue exists = row_exists(e, NULL);
    if (exists) {
        rows.guarded = true;
        rows.exists = lo_if_open(&e->lo, exists);
    }
    rows.limit = column_limit(e);
    return rows;
}

void rows_close(Emit *e, RowLoop *rows)
{
    if (rows->guarded)
        lo_if_close(&e->lo, &rows->exists);
    if (!e->end)
        return;
    step_odometer(e, rows);
    units_close(e, &rows->loop);
    lo_if_close(&e->lo, &rows->some);
}

/* ---- columns ---- */

/* Columns that end at a sentence's length are few: where masks are free, one
 * loop under a mask is shorter than two. Those of an epilogue end at an argument, too,
 * but are a product's: many, and mostly whole vectors, which need no mask. */
bool masks_throughout(const Emit *e, LoValue limit)
{
    return e->target->processor->masks_are_free && e->signature->range == RANGE_ROWS &&
           !e->signature->epilogue && !lo_is_int(limit);
}

void each_column(Emit *e, LoValue start, LoValue limit, ColumnBody body, void *data)
{
    if (limit) {
        LoVector vector = {.lanes = (uint8_t)e->vector, .masked = masks_throughout(e, limit)};
        LoLoop loop = lo_vector_open(&e->lo, start, limit, vector, "columns");
        stand_at_column(e, loop.index);
        body(e, data);
        lo_for_close(&e->lo, &loop);
    } else {
        stand_at_column(e, start);
        body(e, data);
    }
    stand_at_column(e, NULL);
}
