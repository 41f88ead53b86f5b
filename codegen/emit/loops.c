/* Loops over rows and columns.
 *
 * The rows of a row kernel are counted by an odometer: the first row's
 * coordinates are divided out of `begin`, the others follow by carrying. A row
 * whose ragged coordinates lie past its sentence's lengths does not exist and is
 * skipped; columns end at the sentence's length. */
#include "codegen/emit/emit.h"

#include <assert.h>

void row_seam(Emit *e)
{
    e->anchors[DEPTH_ROW] = ll_seam(&e->ll, "row");
}

LlValue lane_mask(Emit *e, LlValue count)
{
    Ll *ll = &e->ll;
    emit_at(e, DEPTH_BODY);
    LlValue narrow = LLVMBuildTrunc(ll->builder, count, ll->i32, ""); /* columns of a row fit */
    return LLVMBuildICmp(ll->builder, LLVMIntSLT, ll_iota(ll, ll->i32, e->lanes),
                         ll_splat(ll, narrow, e->lanes), "");
}

/* ---- what exists ---- */

static int space_dim(const Emit *e, int symbol)
{
    for (int i = 0; i < e->signature->space.rank; i++)
        if (e->signature->space.dims[i].symbol == symbol)
            return i;
    return -1;
}

/* The length that bounds a logical dimension of the space here, if it is ragged,
 * its sentence is known and it is not a token's own position. */
static bool length_here(Emit *e, int dim, Coord *length)
{
    int symbol = e->signature->space.dims[dim].symbol;
    if (!symbol_is_ragged(e->module, symbol))
        return false;
    int batch = space_dim(e, e->module->symbols.data[symbol].batch);
    if (batch < 0 || e->space.at[dim].token == symbol + 1)
        return false;
    *length = table_lookup(e, symbol, DIM_LENGTH, e->space.at[batch]);
    return true;
}

Val row_exists(Emit *e, const bool *bound)
{
    Ll *ll = &e->ll;
    Val exists = {0};
    if (layout_is_packed(&e->layout) && e->layout.n == 1)
        return exists; /* tokens alone: all exist, and no row says of which sentence */
    for (int i = 0; i < e->signature->space.rank; i++) {
        Coord length, c = e->space.at[i];
        if ((bound && bound[i]) || coord_depth(&c) == DEPTH_BODY || !length_here(e, i, &length))
            continue;
        if (coord_depth(&length) == DEPTH_BODY)
            continue; /* it ends column by column: what lies past it is computed for nothing */
        Val at = coord_value(e, &c, ll->i64), n = coord_value(e, &length, ll->i64), inside;
        inside.depth = depth_max(at.depth, n.depth);
        emit_at(e, inside.depth);
        inside.v = LLVMBuildICmp(ll->builder, LLVMIntSLT, at.v, n.v, "");
        exists = val_and(e, exists, inside);
    }
    return exists;
}

Coord dim_length(Emit *e, int dim)
{
    Coord length;
    if (length_here(e, dim, &length))
        return length;
    return coord_of(extent_of(e, &(Axis){dim, -1, e->signature->space.dims[dim]}), DEPTH_ENTRY);
}

Coord column_limit(Emit *e)
{
    if (e->layout.n == 0)
        return coord_const(e, 1);
    const Axis *last = &e->layout.axes[e->layout.n - 1];
    Coord length;
    if (last->batch_dim < 0 && length_here(e, last->dim, &length))
        return length;
    return coord_of(extent_of(e, last), DEPTH_ENTRY);
}

/* ---- rows ---- */

/* Coordinates of row `begin`, into the odometer. */
static void start_odometer(Emit *e, Rows *rows)
{
    Ll *ll = &e->ll;
    LlValue rest = e->begin;
    for (int i = rows->n - 1; i >= 0; i--) {
        LlValue extent = extent_of(e, &e->layout.axes[i]);
        rows->slots[i] = ll_alloca(ll, ll->i64, "at");
        ll_store(ll, i ? LLVMBuildSRem(ll->builder, rest, extent, "") : rest, rows->slots[i], 8);
        rest = i ? LLVMBuildSDiv(ll->builder, rest, extent, "") : rest;
    }
}

static void step_odometer(Emit *e, Rows *rows)
{
    Ll *ll = &e->ll;
    LlValue carry = ll_i64(ll, 1);
    for (int i = rows->n - 1; i >= 0; i--) {
        LlValue at =
            LLVMBuildNSWAdd(ll->builder, ll_load(ll, ll->i64, rows->slots[i], 8), carry, "");
        if (i) {
            LlValue extent = extent_of(e, &e->layout.axes[i]);
            ll_resume(ll);
            LlValue full = LLVMBuildICmp(ll->builder, LLVMIntEQ, at, extent, "");
            at = LLVMBuildSelect(ll->builder, full, ll_i64(ll, 0), at, "");
            carry = LLVMBuildZExt(ll->builder, full, ll->i64, "");
        }
        ll_store(ll, at, rows->slots[i], 8);
    }
}

static void read_odometer(Emit *e, Rows *rows)
{
    Ll *ll = &e->ll;
    Coord at[MAX_RANK];
    for (int i = 0; i < rows->n; i++)
        at[i] = coord_of(ll_load(ll, ll->i64, rows->slots[i], 8), DEPTH_ROW);
    row_seam(e);
    for (int i = 0; i < rows->n; i++) {
        const Axis *axis = &e->layout.axes[i];
        if (axis->batch_dim >= 0)
            bind_tokens(e, &e->signature->space, axis, at[i]);
        else if (!dim_is_one(axis->extent))
            e->space.at[axis->dim] = at[i];
    }
}

void columns_begin(Emit *e)
{
    const Axis *last = e->layout.n ? &e->layout.axes[e->layout.n - 1] : NULL;
    if (last && last->batch_dim < 0 && !dim_is_one(last->extent))
        e->space.at[last->dim] = (Coord){.step = 1};
}

Rows rows_open(Emit *e)
{
    Rows rows = {.n = e->layout.n > 0 ? e->layout.n - 1 : 0};
    for (int i = 0; i < rows.n; i++)
        extent_of(e, &e->layout.axes[i]);
    ll_resume(&e->ll);
    /* Without rows an extent may be 0: nothing must be divided by it. */
    rows.some = ll_if_open(&e->ll, LLVMBuildICmp(e->ll.builder, LLVMIntSLT, e->begin, e->end, ""));
    start_odometer(e, &rows);
    rows.loop = ll_loop_open(&e->ll, e->begin, e->end, 1, "rows");
    read_odometer(e, &rows);
    columns_begin(e);
    Val exists = row_exists(e, NULL);
    if (exists.v) {
        rows.guarded = true;
        rows.exists = ll_if_open(&e->ll, exists.v);
        row_seam(e);
    }
    rows.limit = column_limit(e);
    return rows;
}

void rows_close(Emit *e, Rows *rows)
{
    ll_resume(&e->ll);
    if (rows->guarded)
        ll_if_close(&e->ll, &rows->exists);
    step_odometer(e, rows);
    ll_loop_close(&e->ll, &rows->loop);
    ll_if_close(&e->ll, &rows->some);
}

/* ---- columns ---- */

static bool is_multiple(LlValue start, LlValue limit, int lanes)
{
    return LLVMIsAConstantInt(start) && LLVMIsAConstantInt(limit) &&
           (LLVMConstIntGetSExtValue(limit) - LLVMConstIntGetSExtValue(start)) % lanes == 0;
}

/* Columns that end at a sentence's length are few: where masks are free, one
 * loop under a mask is shorter than two. Those of an epilogue end at an argument, too,
 * but are a product's: many, and mostly whole vectors, which need no mask. */
static bool masks_throughout(const Emit *e, LlValue limit)
{
    return e->target->processor->masks_are_free && e->signature->range == RANGE_ROWS &&
           !e->signature->epilogue && !LLVMIsAConstantInt(limit);
}

static void masked_vector(Emit *e, LlValue column, LlValue limit, ColumnBody body, void *data)
{
    e->column = column;
    e->mask = lane_mask(e, LLVMBuildNSWSub(e->ll.builder, limit, column, ""));
    memo_forget(e, DEPTH_BODY);
    body(e, data);
    e->mask = NULL;
}

/* The vectors without a mask, and then the rest under one. */
void each_column(Emit *e, LlValue start, LlValue limit, ColumnBody body, void *data)
{
    Ll *ll = &e->ll;
    ll_resume(ll);
    LlValue whole = limit;
    bool rest = e->lanes > 1 && !is_multiple(start, limit, e->lanes);
    bool masked = rest && masks_throughout(e, limit);
    if (rest && !masked) {
        LlValue count = LLVMBuildNSWSub(ll->builder, limit, start, "");
        LlValue odd = LLVMBuildAnd(ll->builder, count, ll_i64(ll, e->lanes - 1), "");
        whole = LLVMBuildNSWSub(ll->builder, limit, odd, "");
    }
    memo_forget(e, DEPTH_BODY);
    if (whole != start) { /* constants are unique: start = whole means no full vector */
        LlLoop loop = ll_loop_open(ll, start, whole, e->lanes, "columns");
        e->column = loop.index;
        if (masked)
            masked_vector(e, loop.index, limit, body, data);
        else
            body(e, data);
        ll_loop_close(ll, &loop);
    }
    if (rest && !masked) {
        LlIf some = ll_if_open(ll, LLVMBuildICmp(ll->builder, LLVMIntSLT, whole, limit, ""));
        masked_vector(e, whole, limit, body, data);
        ll_if_close(ll, &some);
    }
    memo_forget(e, DEPTH_BODY);
}
