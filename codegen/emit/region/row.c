/* Row kernels: elementwise bodies with reductions along the last storage axis.
 *
 * A row is swept once for each level of reductions that depend on each other. Softmax:
 *
 *   sweep 0   m = max(x)
 *   sweep 1   s = sum(exp(x - m))        exp(x - m) is saved in a row of scratch
 *   sweep 2   store saved / s
 *
 * sweeps.h says what is done in which sweep. Values that do not vary along the columns
 * are computed once a row (see emit.h).
 *
 * A space whose only axis is tokens, and one without columns, runs element by
 * element: its sentences and positions come from tables. A flat kernel
 * (RANGE_ELEMENTS) is one row whose columns are the elements.
 *
 * Rows that look up other rows at constant distances, as those of a convolution do, go BLOCK at a
 * time where all of them and what they look up are in one sentence: then a row that several of them
 * read is loaded once, and nothing is masked. At the ends of sentences they go one by one. */
#include "codegen/emit/region/sweeps.h"

#include <assert.h>

enum { MAX_SAVED_COLUMNS = 16384 }; /* of constant length: a saved row lives on the stack */

enum { BLOCK = 4 }; /* rows side by side: every processor has registers for their sums */

/* RowState: what differs between rows that are side by side. */
typedef struct RowState {
    Place space;
    Coord token;
    Memo *memo;
    LoValue *reduced;
    SumSlots slots; /* of reductions */
} RowState;

typedef struct Sweep {
    SweepPlan *plan;
    int number;
    int n_rows, row; /* side by side; the current one */
    RowState rows[BLOCK];
} Sweep;

static bool may_save(const Emit *e)
{
    Dim last = e->layout.n ? e->layout.axes[e->layout.n - 1].extent : dim_const(1);
    return e->signature->range == RANGE_ROWS && e->layout.n > 1 && !e->target->device &&
           (!dim_is_const(last) || last.size <= MAX_SAVED_COLUMNS);
}

/* ---- emission ---- */

/* A row of scratch for each saved value, with room for a whole last vector. */
static void allocate_rows(Emit *e, const SweepPlan *plan)
{
    Lo *lo = &e->lo;
    for (int n = 0; n < e->n_values; n++) {
        if (!plan->saved[n])
            continue;
        DType dtype = sweep_type(e, n)->dtype;
        LoValue columns = extent_of(e, &e->layout.axes[e->layout.n - 1]);
        LoType element = dtype == DT_BOOL ? lo_i8 : emit_type(e, dtype);
        emit_at_entry(e);
        LoValue room = lo_iadd(lo, columns, lo_i64_of(lo, e->sum_lanes));
        e->row_cache[n] = lo_scratch_of(lo, element, room, 64, "saved");
        lo_resume(lo);
    }
}

static void keep_value(Emit *e, int number)
{
    Lo *lo = &e->lo;
    const Type *type = sweep_type(e, number);
    Place place = place_aligned(type, &e->space);
    LoValue x = emit_eval(e, &sweep_op(e, number)->results[0], &place);
    LoType element = type->dtype == DT_BOOL ? lo_i8 : emit_type(e, type->dtype);
    emit_from(e, number);
    if (type->dtype == DT_BOOL)
        x = lo_zext(lo, x, lo_like(lo_type(x), lo_i8));
    lo_store(lo, x, lo_at(lo, element, e->row_cache[number], e->column),
             (unsigned)dtype_bytes(type->dtype));
    emit_from_whole(e);
}

/* Tokens as columns: each stands in its own sentence. */
static void bind_column(Emit *e)
{
    if (e->signature->range == RANGE_ELEMENTS || e->layout.n == 0)
        return;
    const Axis *last = &e->layout.axes[e->layout.n - 1];
    if (last->batch_dim >= 0)
        bind_tokens(e, &e->signature->space, last, (Coord){.base = e->column, .varies = true});
}

/* Whether this row stores the result. A result that lacks some of the rows' axes is stored by
 * the first row along them. One that has the position but not the sentence is stored by every
 * sentence: none is sure to have all positions. */
static LoValue owns_result(Emit *e, const Type *type)
{
    Lo *lo = &e->lo;
    LoValue owner = NULL;
    bool tokens = false; /* the result has a part of the tokens' pair */
    int shift = e->signature->space.rank - type->rank;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < e->signature->space.rank; i++) {
            Coord c = e->space.at[i];
            bool has = i >= shift && !dim_is_one(type->dims[i - shift]);
            tokens |= has && c.token;
            if (pass == 0 || has || (c.token && tokens) || !c.base || c.varies)
                continue;
            LoValue at = coord_value(e, c.token ? &e->token : &c, lo_i64);
            owner = val_and(e, owner, lo_eq(lo, at, lo_i64_of(lo, 0)));
        }
    return owner;
}

static void store_result(Emit *e, int i, LoValue x)
{
    const Type *type = &e->body.yields[i]->type;
    Place place = place_aligned(type, &e->space);
    LoValue owner = owns_result(e, type);
    LoIf mine;
    if (owner)
        mine = lo_if_open(&e->lo, owner);
    emit_store_at(e, e->body.n_inputs + i, &place, x);
    if (owner)
        lo_if_close(&e->lo, &mine);
}

/* Stands in this row of those that are side by side, at the current column. */
static void enter_row(Emit *e, Sweep *sweep, int row)
{
    sweep->row = row;
    if (sweep->n_rows == 1)
        return;
    const RowState *state = &sweep->rows[row];
    e->space = state->space;
    e->token = state->token;
    e->memo = state->memo;
    e->reduced = state->reduced;
    e->block.row = row;
    stand_at_column(e, e->column);
}

/* Each op of all rows before the next op, so that what rows share is used while it is in a
 * register. */
static void evaluate_in_order(Emit *e, Sweep *sweep)
{
    for (int i = 0; i < e->body.n_ops; i++) {
        int n = e->body.n_inputs + i;
        const BodyOp *b = &e->body.ops[i];
        if (!b->aligned || !sweep->plan->columnar[n] || sweep->plan->level[n] != sweep->number ||
            op_family(b->op) == FAMILY_reduce)
            continue;
        for (int r = 0; r < sweep->n_rows; r++) {
            enter_row(e, sweep, r);
            emit_aligned(e, &b->op->results[0], &e->space);
        }
    }
}

static void sweep_row(Emit *e, Sweep *sweep)
{
    SweepPlan *plan = sweep->plan;
    for (int i = 0; i < e->body.n_ops; i++) {
        const Op *op = e->body.ops[i].op;
        if (!sweep_reduces(e, plan, sweep->number, op))
            continue;
        emit_from(e, e->body.n_inputs + i);
        lo_accumulate(&e->lo, sweep->rows[sweep->row].slots.of[i],
                      emit_aligned(e, op->args[0], &e->space));
    }
    emit_from_whole(e);
    for (int i = 0; i < e->body.n_results; i++) {
        if (!sweep_stores(e, plan, sweep->number, i))
            continue;
        LoValue x = emit_aligned(e, e->body.yields[i], &e->space);
        store_result(e, i, x);
    }
    for (int n = 0; n < e->n_values; n++)
        if (plan->saved[n] && plan->saved_in[n] == sweep->number)
            keep_value(e, n);
}

static void sweep_vector(Emit *e, void *data)
{
    Sweep *sweep = data;
    bind_column(e);
    if (sweep->n_rows > 1)
        evaluate_in_order(e, sweep);
    for (int r = 0; r < sweep->n_rows; r++) {
        enter_row(e, sweep, r);
        sweep_row(e, sweep);
    }
}

/* Words of random values that this sweep computes in whole vectors; those that another
 * value has drawn for the row already are its own, too. */
static void fill_words(Emit *e, const Sweep *sweep, LoValue start, LoValue limit)
{
    for (int i = 0; i < e->body.n_ops; i++) {
        const BodyOp *b = &e->body.ops[i];
        int n = e->body.n_inputs + i;
        if (b->random < 0 || e->vector == 1 || !may_save(e) || !sweep->plan->columnar[n] ||
            !b->aligned || sweep->plan->sweep[n] != sweep->number + 1)
            continue;
        const BodyOp *first = random_first(e, b);
        if (!e->random_rows[first->random]) {
            emit_from(e, n);
            LoValue scratch = random_scratch(e, extent_of(e, &e->layout.axes[e->layout.n - 1]));
            LoValue count = lo_isub(&e->lo, limit, start);
            random_fill(e, first, start, count, scratch);
            emit_from_whole(e);
        }
        e->random_rows[b->random] = e->random_rows[first->random];
    }
}

static bool has_roots(const Emit *e, const SweepPlan *plan, int sweep)
{
    for (int i = 0; i < e->body.n_ops; i++)
        if (sweep_reduces(e, plan, sweep, e->body.ops[i].op))
            return true;
    for (int i = 0; i < e->body.n_results; i++)
        if (sweep_stores(e, plan, sweep, i))
            return true;
    return false;
}

static void open_reductions(Emit *e, Sweep *sweep)
{
    SumSlots *slots = &sweep->rows[sweep->row].slots;
    for (int i = 0; i < e->body.n_ops; i++) {
        const Op *op = e->body.ops[i].op;
        slots->of[i] = NULL;
        if (!sweep_reduces(e, sweep->plan, sweep->number, op))
            continue;
        emit_from(e, e->body.n_inputs + i);
        sum_open(e, slots, op, i);
    }
    emit_from_whole(e);
}

static void close_reductions(Emit *e, Sweep *sweep)
{
    for (int i = 0; i < e->body.n_ops; i++) {
        const Op *op = e->body.ops[i].op;
        if (!sweep_reduces(e, sweep->plan, sweep->number, op))
            continue;
        emit_from(e, e->body.n_inputs + i);
        LoValue sum = lo_total(&e->lo, sweep->rows[sweep->row].slots.of[i]);
        sum = emit_rounded(e, op->results[0].type.dtype, sum);
        e->reduced[e->body.n_inputs + i] = sum;
    }
    emit_from_whole(e);
}

/* Along an axis of one element a reduction is its operand. */
static void reduce_single(Emit *e, const Sweep *sweep)
{
    for (int i = 0; i < e->body.n_ops; i++) {
        const Op *op = e->body.ops[i].op;
        if (sweep_reduces_any(e, sweep->plan, sweep->number, op) &&
            !sweep_reduces(e, sweep->plan, sweep->number, op))
            e->reduced[e->body.n_inputs + i] = emit_aligned(e, op->args[0], &e->space);
    }
}

static void columns_of_sweep(Emit *e, Sweep *sweep, LoValue start, LoValue limit)
{
    SumSlots *slots[BLOCK];
    bool reduces = false;
    for (int i = 0; i < e->body.n_ops; i++)
        reduces |= sweep_reduces(e, sweep->plan, sweep->number, e->body.ops[i].op);
    for (int r = 0; r < sweep->n_rows; r++)
        slots[r] = &sweep->rows[r].slots;
    if (reduces)
        sum_columns(e, start, limit, sweep_vector, sweep, slots, sweep->n_rows);
    else
        each_column(e, start, limit, sweep_vector, sweep);
}

static void emit_sweep(Emit *e, Sweep *sweep, LoValue start, LoValue limit)
{
    for (int r = 0; r < sweep->n_rows; r++) {
        enter_row(e, sweep, r);
        reduce_single(e, sweep);
    }
    if (!has_roots(e, sweep->plan, sweep->number))
        return;
    for (int r = 0; r < sweep->n_rows; r++) {
        enter_row(e, sweep, r);
        open_reductions(e, sweep);
    }
    fill_words(e, sweep, start, limit);
    columns_of_sweep(e, sweep, start, limit);
    for (int r = 0; r < sweep->n_rows; r++) {
        enter_row(e, sweep, r);
        close_reductions(e, sweep);
    }
    for (int n = 0; n < e->n_values; n++)
        e->cached[n] |= sweep->plan->saved[n] && sweep->plan->saved_in[n] == sweep->number;
}

/* Results that have one element a row. */
static void store_scalars(Emit *e, const SweepPlan *plan)
{
    for (int i = 0; i < e->body.n_results; i++) {
        const Value *value = e->body.yields[i];
        if (plan->columnar[sweep_yield(e, i)])
            continue;
        store_result(e, i, emit_aligned(e, value, &e->space));
    }
}

static void run_sweeps(Emit *e, Sweep *sweep, LoValue start, LoValue limit)
{
    for (sweep->number = 0; sweep->number < sweep->plan->n_sweeps; sweep->number++)
        emit_sweep(e, sweep, start, limit);
    for (int r = 0; r < sweep->n_rows; r++) {
        enter_row(e, sweep, r);
        store_scalars(e, sweep->plan);
    }
}

static void emit_sweeps(Emit *e, LoValue start, LoValue limit)
{
    SweepPlan plan = plan_sweeps(e, may_save(e), NULL);
    Sweep sweep = {.plan = &plan, .n_rows = 1};
    sweep.rows[0].slots = (SumSlots){ARENA_ARRAY(e->arena, LoValue, e->body.n_ops), e->sum_lanes};
    allocate_rows(e, &plan);
    run_sweeps(e, &sweep, start, limit);
}

/* ---- the kernel ---- */

/* The rows of this call one by one. */
static void emit_rows(Emit *e)
{
    RowLoop rows = rows_open(e);
    LoValue start = lo_i64_of(&e->lo, 0), limit = coord_value(e, &rows.limit, lo_i64);
    if (e->signature->epilogue)
        argument_columns(e, &start, &limit);
    emit_sweeps(e, start, limit);
    rows_close(e, &rows);
}

/* Whether rows go side by side; the least and greatest distance at which they look up. */
static bool forms_blocks(Emit *e, const SweepPlan *plan, int64_t *least, int64_t *greatest)
{
    bool tokens = e->signature->range == RANGE_ROWS && e->end && !e->signature->epilogue &&
                  !e->target->device && e->layout.n == 2 && e->layout.axes[0].batch_dim >= 0 &&
                  dim_is_const(e->layout.axes[1].extent);
    bool found = false;
    if (!tokens)
        return false;
    int symbol = e->layout.axes[0].extent.symbol;
    for (int i = 0; i < e->body.n_ops; i++) {
        int64_t distance;
        const BodyOp *b = &e->body.ops[i];
        if (b->random >= 0 || plan->saved[e->body.n_inputs + i])
            return false; /* they have one row of scratch */
        if (!lookup_distance(e, b->op, symbol, &distance))
            continue;
        *least = !found || distance < *least ? distance : *least;
        *greatest = !found || distance > *greatest ? distance : *greatest;
        found = true;
    }
    return found;
}

/* Whether BLOCK rows from this one on are of this call, and of one sentence with all that they look
 * up. */
static LoValue is_block(Emit *e, LoValue first, int64_t least, int64_t greatest)
{
    Lo *lo = &e->lo;
    int symbol = e->layout.axes[0].extent.symbol;
    LoValue last = lo_iadd(lo, first, lo_i64_of(lo, BLOCK - 1));
    LoValue safe = lo_select(lo, lo_lt(lo, last, e->end), last, first);
    Coord begins = table_lookup(e, symbol, DIM_POSITION, coord_of(first));
    Coord ends = table_lookup(e, symbol, DIM_POSITION, coord_of(safe));
    Coord sentence = table_lookup(e, symbol, DIM_BATCH, coord_of(first));
    Coord length = table_lookup(e, symbol, DIM_LENGTH, sentence);
    LoValue low = lo_iadd(lo, begins.base, lo_i64_of(lo, least < 0 ? least : 0));
    LoValue high = lo_iadd(lo, ends.base, lo_i64_of(lo, greatest > 0 ? greatest : 0));
    LoValue one = lo_eq(lo, ends.base, lo_iadd(lo, begins.base, lo_i64_of(lo, BLOCK - 1)));
    LoValue inside = lo_and(lo, lo_le(lo, lo_i64_of(lo, 0), low), lo_lt(lo, high, length.base));
    return lo_and(lo, one, inside);
}

/* Stands in each of the rows from this one on. */
static void open_block(Emit *e, Sweep *sweep, LoValue first, int64_t greatest)
{
    const Axis *axis = &e->layout.axes[0];
    bind_tokens(e, &e->signature->space, axis, coord_of(first));
    e->block =
        (RowBlock){.token = first, .position = e->space.at[axis->dim].base, .greatest = greatest};
    for (int r = 0; r < BLOCK; r++) {
        RowState *row = &sweep->rows[r];
        LoValue by = lo_i64_of(&e->lo, r);
        *row = (RowState){.space = e->space,
                          .token = e->token,
                          .memo = ARENA_ARRAY(e->arena, Memo, e->n_values + 1),
                          .reduced = ARENA_ARRAY(e->arena, LoValue, e->n_values + 1),
                          .slots = {ARENA_ARRAY(e->arena, LoValue, e->body.n_ops), e->sum_lanes}};
        row->token.base = lo_iadd(&e->lo, first, by);
        row->space.at[axis->dim].base = lo_iadd(&e->lo, e->block.position, by);
    }
}

static void emit_blocks(Emit *e, SweepPlan *plan, int64_t least, int64_t greatest)
{
    Lo *lo = &e->lo;
    const Emit outside = *e;
    Sweep sweep = {.plan = plan, .n_rows = BLOCK};
    LoLoop blocks = lo_for_open(lo, e->begin, e->end, BLOCK, "blocks");
    LoIf block = lo_if_open(lo, is_block(e, blocks.index, least, greatest));
    open_block(e, &sweep, blocks.index, greatest);
    run_sweeps(e, &sweep, lo_i64_of(lo, 0), extent_of(e, &e->layout.axes[1]));
    lo_else(lo, &block);
    e->memo = outside.memo;
    e->reduced = outside.reduced;
    e->block = outside.block;
    e->begin = blocks.index;
    e->end = lo_min(lo, lo_iadd(lo, blocks.index, blocks.step), outside.end);
    emit_rows(e);
    lo_if_close(lo, &block);
    lo_for_close(lo, &blocks);
}

void kernel_row(Emit *e)
{
    int64_t least, greatest;
    SweepPlan plan = plan_sweeps(e, may_save(e), NULL);
    if (e->signature->range == RANGE_ELEMENTS)
        emit_sweeps(e, e->begin, e->end);
    else if (forms_blocks(e, &plan, &least, &greatest))
        emit_blocks(e, &plan, least, greatest);
    else
        emit_rows(e);
}
