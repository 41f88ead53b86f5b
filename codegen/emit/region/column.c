/* Column kernels: reductions over axes other than the last.
 *
 * A unit is a chunk of columns of one output row; what is reduced over is looped
 * through inside, in storage order, with the sums of up to GROUP vectors of
 * columns in registers (pass vectorise, jam). So each sum is formed by one thread, in one order:
 *
 *   tokens (B and S~ reduced)   token 0, 1, 2, …
 *   S~ reduced, B kept          the tokens of the sentence
 *   B reduced, S~ kept          the sentences that are long enough
 *
 * f32 sums are formed in f32, in blocks of rows (sums.c). If the last axis is reduced too, each
 * row's columns are added to partial sums, folded at the end. */
#include "codegen/emit/region/columns.h"

#include <assert.h>

/* ---- the output's coordinates ---- */

static int out_shift(const Emit *e) { return e->signature->space.rank - e->signature->output.rank; }

static bool is_kept(const Emit *e, int dim)
{
    int own = dim - out_shift(e);
    return own >= 0 && dim_equal(e->signature->output.dims[own], e->signature->space.dims[dim]);
}

/* From the unit's number to where the output stands, and its columns. */
static void place_unit(Emit *e, Columns *c, LoValue unit)
{
    Lo *lo = &e->lo;
    Layout out = layout_of(e->module, &e->signature->output);
    int64_t chunks = out.n ? signature_chunks(&out.axes[out.n - 1]) : 1;
    LoValue rest = unit, chunk = lo_i64_of(lo, 0), extents[MAX_RANK];
    for (int i = 0; i < out.n; i++)
        extents[i] = extent_of(e, &out.axes[i]);
    if (chunks > 1) {
        chunk = lo_rem(lo, unit, lo_i64_of(lo, chunks));
        rest = lo_div(lo, unit, lo_i64_of(lo, chunks));
    }
    LoValue at[MAX_RANK];
    for (int i = out.n - 2; i >= 0; i--) {
        at[i] = i ? lo_rem(lo, rest, extents[i]) : rest;
        rest = i ? lo_div(lo, rest, extents[i]) : rest;
    }
    c->start = lo_imul(lo, chunk, lo_i64_of(lo, COLUMN_CHUNK));
    c->end = out.n ? extents[out.n - 1] : lo_i64_of(lo, 1);
    if (chunks > 1) {
        LoValue full = lo_iadd(lo, c->start, lo_i64_of(lo, COLUMN_CHUNK));
        LoValue less = lo_lt(lo, full, c->end);
        c->even = dim_is_const(out.axes[out.n - 1].extent) &&
                  out.axes[out.n - 1].extent.size % COLUMN_CHUNK == 0;
        c->end = c->even ? full : lo_select(lo, less, full, c->end);
    }
    for (int i = 0; i + 1 < out.n; i++) {
        const Axis *axis = &out.axes[i];
        Axis in_space = *axis;
        in_space.dim += out_shift(e);
        in_space.batch_dim += axis->batch_dim >= 0 ? out_shift(e) : 0;
        if (axis->batch_dim >= 0)
            bind_tokens(e, &e->signature->space, &in_space, coord_of(at[i]));
        else if (!dim_is_one(axis->extent))
            e->space.at[in_space.dim] = coord_of(at[i]);
    }
}

/* ---- loops over what is reduced ---- */

static void open_loop(Emit *e, Columns *c, LoValue from, LoValue to, int64_t step)
{
    SumSlots *sums = c->work->sums;
    c->outer[c->n_loops] = sums && c->n_loops ? sum_enter(e, sums) : NULL;
    c->loops[c->n_loops++] = lo_for_open(&e->lo, from, to, step, step > 1 ? "blocks" : "reduced");
}

static LoValue current(const Columns *c) { return c->loops[c->n_loops - 1].index; }

static void loop_axis(Emit *e, Columns *c, LoValue from, LoValue to)
{
    Lo *lo = &e->lo;
    int64_t block = c->work->sums ? sum_block(from, to, 1) : 0;
    for (; block > 1; block /= SUM_TURNS) {
        open_loop(e, c, from, to, block);
        from = current(c);
        to = lo_min(lo, lo_iadd(lo, from, lo_i64_of(lo, block)), to);
    }
    open_loop(e, c, from, to, 1);
}

static void loop_tokens(Emit *e, Columns *c, const Axis *axis)
{
    Lo *lo = &e->lo;
    const Type *space = &e->signature->space;
    int symbol = space->dims[axis->dim].symbol;
    bool b = is_kept(e, axis->batch_dim), s = is_kept(e, axis->dim);
    if (b && s)
        return;
    if (!b && !s) {
        loop_axis(e, c, lo_i64_of(lo, 0), extent_of(e, axis));
        bind_tokens(e, space, axis, coord_of(current(c)));
        c->bound[axis->dim] = true;
    } else if (b) {
        Coord length = table_lookup(e, symbol, DIM_LENGTH, e->space.at[axis->batch_dim]);
        loop_axis(e, c, lo_i64_of(lo, 0), coord_value(e, &length, lo_i64));
        e->space.at[axis->dim] = coord_of(current(c));
        c->bound[axis->dim] = true;
    } else {
        Dim batch = space->dims[axis->batch_dim];
        loop_axis(e, c, lo_i64_of(lo, 0), extent_of(e, &(Axis){axis->batch_dim, -1, batch}));
        e->space.at[axis->batch_dim] = coord_of(current(c));
    }
}

/* Opens the loops, innermost last, and stands in a row that exists. */
static void open_loops(Emit *e, Columns *c)
{
    Lo *lo = &e->lo;
    c->n_loops = 0;
    for (int i = 0; i < e->signature->space.rank; i++)
        c->bound[i] = false;
    for (int i = 0; i < e->layout.n; i++) {
        const Axis *axis = &e->layout.axes[i];
        bool columns = i == e->layout.n - 1 && c->loops_columns;
        if (axis->batch_dim >= 0) {
            loop_tokens(e, c, axis);
        } else if (!columns && !is_kept(e, axis->dim) && !dim_is_one(axis->extent)) {
            loop_axis(e, c, lo_i64_of(lo, 0), extent_of(e, axis));
            e->space.at[axis->dim] = coord_of(current(c));
        }
    }
    LoValue exists = row_exists(e, c->bound);
    c->guarded = exists != NULL;
    if (c->guarded) {
        c->exists = lo_if_open(lo, exists);
    }
}

static void close_loops(Emit *e, Columns *c)
{
    if (c->guarded)
        lo_if_close(&e->lo, &c->exists);
    while (c->n_loops) {
        lo_for_close(&e->lo, &c->loops[--c->n_loops]);
        if (c->outer[c->n_loops])
            sum_leave(e, c->work->sums, c->outer[c->n_loops]);
    }
}

/* Whether the columns of a row end at a length that depends on the row. */
static bool limit_varies(const Emit *e)
{
    if (e->layout.n == 0)
        return false;
    const Axis *last = &e->layout.axes[e->layout.n - 1];
    if (!symbol_is_ragged(e->module, last->extent.symbol))
        return false;
    return type_find_dim(&e->signature->space,
                         e->module->symbols.data[last->extent.symbol].batch) >= 0;
}

/* Whether the row has this column. */
static LoValue is_in_row(Emit *e)
{
    const Axis *last = &e->layout.axes[e->layout.n - 1];
    int batch = e->module->symbols.data[last->extent.symbol].batch, dim = 0;
    while (e->signature->space.dims[dim].symbol != batch)
        dim++;
    Coord length = table_lookup(e, last->extent.symbol, DIM_LENGTH, e->space.at[dim]);
    return lo_lt(&e->lo, e->column, coord_value(e, &length, lo_i64));
}

/* ---- a unit ---- */

/* All rows of one column; of `varies` a row may end before it. */
static void run_column(Emit *e, Columns *c, bool varies)
{
    LoIf here;
    PartLoop parts = {0};
    SumSlots *sums = c->work->sums;
    c->work->begin(e, c);
    if (sums && c->loops_columns)
        parts = slots_parts_open(e, &sums, 1);
    open_loops(e, c);
    if (c->work->enter)
        c->work->enter(e, c);
    if (varies)
        here = lo_if_open(&e->lo, is_in_row(e));
    c->work->add(e, c);
    if (varies)
        lo_if_close(&e->lo, &here);
    if (c->work->leave)
        c->work->leave(e, c);
    close_loops(e, c);
    sum_parts_close(e, &parts);
    if (c->work->finish)
        c->work->finish(e, c);
}

static void unit_of_columns(Emit *e, Columns *c)
{
    bool varies = limit_varies(e);
    LoVector vector = {.lanes = (uint8_t)e->vector,
                       .jam = varies || c->work->apart ? 1 : GROUP,
                       .whole = c->even,
                       .masked = varies};
    LoLoop loop = lo_vector_open(&e->lo, c->start, c->end, vector, "columns");
    e->column = loop.index;
    e->space.at[e->layout.axes[e->layout.n - 1].dim] = (Coord){.base = e->column, .varies = true};
    run_column(e, c, varies);
    lo_for_close(&e->lo, &loop);
}

/* The columns of the output's last axis, which lies elsewhere in the space. */
static void run_moved_columns(Emit *e, Columns *c, const Axis *last)
{
    Lo *lo = &e->lo;
    LoLoop loop = lo_for_open(lo, c->start, c->end, 1, "columns");
    assert(last->batch_dim < 0);
    e->column = lo_i64_of(lo, 0);
    e->space.at[last->dim + out_shift(e)] = coord_of(loop.index);
    run_column(e, c, false);
    lo_for_close(lo, &loop);
}

void columns_run(Emit *e, const ColumnWork *work, void *data)
{
    Lo *lo = &e->lo;
    Columns c = {.work = work, .data = data};
    const Axis *last = e->layout.n ? &e->layout.axes[e->layout.n - 1] : NULL;
    Layout out = layout_of(e->module, &e->signature->output);
    bool one = !last || dim_is_one(last->extent);
    /* [B, H, S~, T~] summed over S~ lies as tokens(T), H: columns of a unit are not the space's. */
    bool in_unit =
        !one && is_kept(e, last->dim) && out.axes[out.n - 1].dim + out_shift(e) != last->dim;
    c.folds = one || in_unit || !is_kept(e, last->dim);
    c.loops_columns = c.folds && !one && !in_unit && last->batch_dim < 0 && !work->single;
    for (int i = 0; i < out.n; i++)
        extent_of(e, &out.axes[i]);
    for (int i = 0; i < e->layout.n; i++)
        extent_of(e, &e->layout.axes[i]);
    LoLoop loop = units_open(e, "units");
    place_unit(e, &c, loop.index);
    if (in_unit) {
        run_moved_columns(e, &c, &out.axes[out.n - 1]);
    } else if (c.folds) {
        if (c.loops_columns)
            stand_at_column(e, NULL);
        e->column = lo_i64_of(lo, 0);
        run_column(e, &c, false);
    } else {
        unit_of_columns(e, &c);
    }
    units_close(e, &loop);
}

/* ---- column regions ---- */

static bool is_reduction(const Op *op) { return op_family(op) == FAMILY_reduce; }

static void begin_sums(Emit *e, Columns *c)
{
    c->work->sums->parts = c->loops_columns ? e->sum_lanes : 0;
    for (int i = 0; i < e->body.n_ops; i++) {
        const Op *op = e->body.ops[i].op;
        emit_from(e, e->body.n_inputs + i);
        if (is_reduction(op))
            sum_open(e, c->work->sums, op, i);
    }
    emit_from_whole(e);
    for (int i = 0; i < e->n_values; i++)
        e->reduced[i] = NULL;
}

static void add_column(Emit *e, void *data)
{
    const SumSlots *sums = data;
    for (int i = 0; i < e->body.n_ops; i++) {
        const Op *op = e->body.ops[i].op;
        emit_from(e, e->body.n_inputs + i);
        if (is_reduction(op))
            lo_accumulate(&e->lo, sums->of[i], emit_aligned(e, op->args[0], &e->space));
    }
    emit_from_whole(e);
}

static void add_row(Emit *e, Columns *c)
{
    if (!c->loops_columns) {
        add_column(e, c->work->sums);
        return;
    }
    Coord limit = column_limit(e);
    LoValue end = coord_value(e, &limit, lo_i64);
    SumSlots *sums = c->work->sums;
    sum_columns(e, lo_i64_of(&e->lo, 0), end, add_column, sums, &sums, 1);
}

static void finish_sums(Emit *e, Columns *c)
{
    const SumSlots *sums = c->work->sums;
    Place out = e->space;
    for (int i = 0; i < e->body.n_ops; i++) {
        const Op *op = e->body.ops[i].op;
        if (!is_reduction(op))
            continue;
        emit_from(e, e->body.n_inputs + i);
        LoValue sum = lo_total(&e->lo, sums->of[i]);
        e->reduced[e->body.n_inputs + i] = emit_rounded(e, op->results[0].type.dtype, sum);
    }
    emit_from_whole(e);
    for (int i = 0; i < e->signature->space.rank; i++)
        if (!is_kept(e, i))
            out.at[i] = (Coord){0};
    for (int i = 0; i < e->body.n_results; i++) {
        Place place = place_aligned(&e->body.yields[i]->type, &out);
        emit_store_at(e, e->body.n_inputs + i, &place, emit_eval(e, e->body.yields[i], &place));
    }
    for (int i = 0; i < e->n_values; i++)
        e->reduced[i] = NULL;
}

void kernel_column(Emit *e)
{
    SumSlots sums = {ARENA_ARRAY(e->arena, LoValue, e->body.n_ops), 0};
    const ColumnWork work = {
        .sums = &sums, .begin = begin_sums, .add = add_row, .finish = finish_sums};
    columns_run(e, &work, NULL);
}
