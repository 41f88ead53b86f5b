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
 * (RANGE_ELEMENTS) is one row whose columns are the elements. */
#include "codegen/emit/region/sweeps.h"

#include <assert.h>

enum { MAX_SAVED_COLUMNS = 16384 }; /* of constant length: a saved row lives on the stack */

typedef struct Sweep {
    SweepPlan *plan;
    int number;
    LoValue *slots; /* accumulators of reductions, by body op */
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
        LoValue room = lo_iadd(lo, columns, lo_i64_of(lo, e->vector));
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

static void sweep_vector(Emit *e, void *data)
{
    Sweep *sweep = data;
    SweepPlan *plan = sweep->plan;
    bind_column(e);
    for (int i = 0; i < e->body.n_ops; i++) {
        const Op *op = e->body.ops[i].op;
        if (!sweep_reduces(e, plan, sweep->number, op))
            continue;
        emit_from(e, e->body.n_inputs + i);
        lo_accumulate(&e->lo, sweep->slots[i], emit_aligned(e, op->args[0], &e->space));
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
    for (int i = 0; i < e->body.n_ops; i++) {
        const Op *op = e->body.ops[i].op;
        if (!sweep_reduces(e, sweep->plan, sweep->number, op))
            continue;
        LoType type = emit_type(e, op->results[0].type.dtype);
        emit_from(e, e->body.n_inputs + i);
        sweep->slots[i] =
            lo_accumulator(&e->lo, reduce_join(op), lo_identity(&e->lo, reduce_join(op), type));
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
        LoValue sum = lo_total(&e->lo, sweep->slots[i]);
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

static void emit_sweep(Emit *e, Sweep *sweep, LoValue start, LoValue limit)
{
    reduce_single(e, sweep);
    if (!has_roots(e, sweep->plan, sweep->number))
        return;
    open_reductions(e, sweep);
    fill_words(e, sweep, start, limit);
    each_column(e, start, limit, sweep_vector, sweep);
    close_reductions(e, sweep);
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

static void emit_sweeps(Emit *e, LoValue start, LoValue limit)
{
    SweepPlan plan = plan_sweeps(e, may_save(e), NULL);
    Sweep sweep = {&plan, 0, ARENA_ARRAY(e->arena, LoValue, e->body.n_ops)};
    allocate_rows(e, &plan);
    for (; sweep.number < plan.n_sweeps; sweep.number++)
        emit_sweep(e, &sweep, start, limit);
    store_scalars(e, &plan);
}

void kernel_row(Emit *e)
{
    if (e->signature->range == RANGE_ELEMENTS) {
        emit_sweeps(e, e->begin, e->end);
        return;
    }
    RowLoop rows = rows_open(e);
    LoValue start = lo_i64_of(&e->lo, 0), limit = coord_value(e, &rows.limit, lo_i64);
    if (e->signature->epilogue)
        argument_columns(e, &start, &limit);
    emit_sweeps(e, start, limit);
    rows_close(e, &rows);
}
