/* Sweeps of an attention region: over the keys of a strip, once for each vector of the
 * block's queries, all lanes of it at once. What reductions give is kept in memory from
 * sweep to sweep, a vector of sums for each vector of queries; what else does not vary
 * along the keys is computed again by each sweep that needs it. */
#include "codegen/emit/attention.h"

#include <string.h>

static unsigned align_of(const Value *value) { return (unsigned)dtype_bytes(value->type.dtype); }

static LoType lanes_of(Emit *e, const Value *value)
{
    return lo_vector(emit_type(e, value->type.dtype), e->lanes);
}

/* ---- values of rows ---- */

/* Values that do not vary along the keys and can be computed before this sweep. */
static void row_values(Attention *a, int sweep)
{
    Emit *e = a->e;
    for (int n = 0; n < e->n_values; n++) {
        const Op *op = sweep_op(e, n);
        bool own = op ? e->body.ops[n - e->body.n_inputs].aligned && op->kind != OP_dot &&
                            op_family(op) != FAMILY_reduce
                      : e->body.input_aligned[n];
        if (!own || a->plan.columnar[n] || a->plan.level[n] > sweep || e->reduced[n])
            continue;
        const Value *value = op ? &op->results[0] : e->body.inputs[n];
        Place place = place_aligned(&value->type, &e->space);
        e->reduced[n] = emit_eval(e, value, &place);
    }
}

/* ---- reductions ---- */

static unsigned sum_align(const Op *op) { return align_of(&op->results[0]); }

static LoType sum_type(Emit *e, const Op *op) { return lanes_of(e, &op->results[0]); }

/* Where the reduction's sums of the vector being swept are. */
static LoValue sum_at(Attention *a, int i)
{
    const Op *op = a->e->body.ops[i].op;
    return lo_at(&a->e->lo, sum_type(a->e, op), a->sums[i], a->vector);
}

void tile_open_reductions(Attention *a, int sweep)
{
    Emit *e = a->e;
    Lo *lo = &e->lo;
    for (int i = 0; i < e->body.n_ops; i++) {
        const Op *op = e->body.ops[i].op;
        if (!sweep_reduces(e, &a->plan, sweep, op))
            continue;
        LoType type = sum_type(e, op);
        if (!a->sums[i])
            a->sums[i] = lo_scratch(lo, type, BLOCK_VECTORS, 0, "sums");
        for (int v = 0; v < BLOCK_VECTORS; v++)
            lo_store(lo, reduce_identity(e, op, type),
                     lo_at(lo, type, a->sums[i], lo_i64_of(lo, v)), sum_align(op));
    }
}

/* The sums of sweeps that are over. */
static void read_reductions(Attention *a, int sweep)
{
    Emit *e = a->e;
    for (int i = 0; i < e->body.n_ops; i++) {
        const Op *op = e->body.ops[i].op;
        for (int before = 0; before < sweep; before++) {
            if (!sweep_reduces(e, &a->plan, before, op))
                continue;
            LoValue sum = lo_load(&e->lo, sum_type(e, op), sum_at(a, i), sum_align(op));
            sum = emit_rounded(e, op->results[0].type.dtype, sum);
            e->reduced[e->body.n_inputs + i] = sum;
        }
    }
}

/* This sweep's sums go on from those of the strips before, in registers. */
static void take_sums(Attention *a, int sweep)
{
    Emit *e = a->e;
    for (int i = 0; i < e->body.n_ops; i++) {
        const Op *op = e->body.ops[i].op;
        if (!sweep_reduces(e, &a->plan, sweep, op))
            continue;
        a->slots[i] = lo_scratch(&e->lo, sum_type(e, op), 1, 0, "sum");
        LoValue sum = lo_load(&e->lo, sum_type(e, op), sum_at(a, i), sum_align(op));
        lo_store(&e->lo, sum, a->slots[i], sum_align(op));
    }
}

static void put_sums_back(Attention *a, int sweep)
{
    Emit *e = a->e;
    for (int i = 0; i < e->body.n_ops; i++) {
        const Op *op = e->body.ops[i].op;
        if (!sweep_reduces(e, &a->plan, sweep, op))
            continue;
        LoValue at = sum_at(a, i);
        LoValue sum = lo_load(&e->lo, sum_type(e, op), a->slots[i], sum_align(op));
        lo_store(&e->lo, sum, at, sum_align(op));
    }
}

/* ---- random words ---- */

/* The element's number that a lane's words begin with, `lane` being 0 or 1. */
static LoValue first_number(Attention *a, const Value *value, int lane)
{
    Emit *e = a->e;
    Place place = e->space;
    bool unit;
    place.at[tile_queries(&a->tiles)] =
        coord_add(e, coord_of(e->column), coord_const(e, lane));
    place.at[tile_keys(&a->tiles)] = coord_of(a->key);
    return element_number(e, &value->type, &place, &unit);
}

/* Of the vector being swept, in a row of a strip. */
static LoValue vector_at(Attention *a)
{
    Lo *lo = &a->e->lo;
    return lo_imul(lo, a->vector, lo_i64_of(lo, a->e->lanes));
}

/* Makes the words that this sweep draws for the strip. */
static void fill_words(Attention *a, int sweep)
{
    Emit *e = a->e;
    Lo *lo = &e->lo;
    for (int i = 0; i < e->body.n_ops; i++) {
        const BodyOp *b = &e->body.ops[i], *first = b->random < 0 ? NULL : random_first(e, b);
        const Value *value = &b->op->results[0];
        if (!first || e->random_rows[b->random] || e->lanes == 1 ||
            !type_same_shape(&value->type, &a->tiles.scores) || !tile_needs(a, sweep, b->op))
            continue;
        if (!e->random_rows[first->random]) {
            if (!a->words[first->random])
                a->words[first->random] = tile_memory(a, lo_i32, "words");
            LoValue zero = first_number(a, value, 0), one = first_number(a, value, 1);
            LoValue words = lo_at(lo, lo_i32, a->words[first->random], vector_at(a));
            random_fill_strip(e, first, zero, lo_isub(lo, one, zero), lo_isub(lo, a->end, a->key),
                              words, a->pitch);
            e->random_rows[first->random] = a->words[first->random];
        }
        e->random_rows[b->random] = e->random_rows[first->random];
    }
}

/* ---- the loop ---- */

static LoValue lanes_at_place(Emit *e, const Value *value)
{
    Place place = place_aligned(&value->type, &e->space);
    LoValue x = emit_widen(e, emit_eval(e, value, &place));
    return x;
}

static void store_in_strip(Attention *a, int number, const Value *value)
{
    Emit *e = a->e;
    LoValue x = lanes_at_place(e, value);
    LoType element = value->type.dtype == DT_BOOL ? lo_i8 : emit_type(e, value->type.dtype);
    if (value->type.dtype == DT_BOOL)
        x = lo_zext(&e->lo, x, lo_like(lo_type(x), lo_i8));
    lo_store(&e->lo, x, lo_at(&e->lo, element, tile_strip(a, number), e->cache_at),
             align_of(value));
}

static bool is_stored(const Attention *a, int number, int sweep)
{
    const Emit *e = a->e;
    if (a->plan.saved[number] && a->plan.saved_in[number] == sweep)
        return true;
    for (int i = 0; i < a->tiles.n; i++) {
        const Op *op = a->tiles.products[i].op;
        if (body_number(&e->body, op->args[0]) == number && sweep_contracts(e, &a->plan, sweep, op))
            return true;
    }
    return false;
}

static void sweep_key(Attention *a, int sweep)
{
    Emit *e = a->e;
    for (int i = 0; i < e->body.n_ops; i++) {
        const Op *op = e->body.ops[i].op;
        int n = e->body.n_inputs + i;
        if (sweep_reduces(e, &a->plan, sweep, op))
            reduce_into(e, op, a->slots[i], lanes_at_place(e, op->args[0]), NULL);
        else if (op->kind != OP_dot && is_stored(a, n, sweep) && !e->cached[n])
            store_in_strip(a, n, &op->results[0]);
    }
}

static bool has_work(const Attention *a, int sweep)
{
    const Emit *e = a->e;
    for (int i = 0; i < e->body.n_ops; i++)
        if (sweep_reduces(e, &a->plan, sweep, e->body.ops[i].op) ||
            (e->body.ops[i].op->kind != OP_dot && is_stored(a, e->body.n_inputs + i, sweep)))
            return true;
    return false;
}

static void sweep_keys(Attention *a, int sweep)
{
    Emit *e = a->e;
    Lo *lo = &e->lo;
    int keys = tile_keys(&a->tiles);
    row_values(a, sweep);
    take_sums(a, sweep);
    fill_words(a, sweep);
    LoValue first = vector_at(a);
    LoLoop loop = lo_for_open(lo, a->key, a->end, 1, "keys");
    LoValue row = lo_isub(lo, loop.index, a->key);
    e->cache_at = lo_imul(lo, row, a->pitch);
    e->cache_at = lo_iadd(lo, e->cache_at, first);
    e->space.at[keys] = coord_of(loop.index);
    sweep_key(a, sweep);
    lo_for_close(lo, &loop);
    e->space.at[keys] = (Coord){0};
    put_sums_back(a, sweep);
}

/* ---- vectors ---- */

void tile_each_vector(Attention *a, int sweep, VectorBody body)
{
    Emit *e = a->e;
    Lo *lo = &e->lo;
    LoLoop loop = lo_for_open(lo, lo_i64_of(lo, 0), a->vectors, 1, "vectors");
    a->vector = loop.index;
    e->column = lo_iadd(lo, a->query, vector_at(a));
    LoValue left = lo_isub(lo, a->n_queries, e->column);
    e->mask = e->lanes > 1 ? lane_mask(e, left) : NULL;
    memset(e->reduced, 0, sizeof *e->reduced * (size_t)e->n_values);
    read_reductions(a, sweep);
    if (a->online && sweep < a->plan.n_sweeps)
        online_stand(a);
    body(a, sweep);
    lo_for_close(lo, &loop);
    e->mask = NULL;
}

void tile_sweep(Attention *a, int sweep)
{
    Emit *e = a->e;
    if (!has_work(a, sweep))
        return;
    tile_each_vector(a, sweep, sweep_keys);
    for (int n = 0; n < e->n_values; n++)
        e->cached[n] |= a->plan.saved[n] && a->plan.saved_in[n] == sweep;
}

static void store_rows(Attention *a, int sweep)
{
    Emit *e = a->e;
    (void)sweep;
    for (int i = 0; i < e->body.n_results; i++) {
        const Value *value = e->body.yields[i];
        if (value->op->kind == OP_dot)
            continue;
        Place place = place_aligned(&value->type, &e->space);
        LoValue x = emit_widen(e, emit_eval(e, value, &place));
        emit_store_at(e, e->body.n_inputs + i, &place, x);
    }
}

void tile_store_rows(Attention *a)
{
    bool some = false;
    for (int i = 0; i < a->e->body.n_results; i++)
        some |= a->e->body.yields[i]->op->kind != OP_dot;
    if (some)
        tile_each_vector(a, a->plan.n_sweeps, store_rows);
}

/* ---- what a sweep needs ---- */

static bool leads_to(const Attention *a, int number, const Op *product)
{
    const Emit *e = a->e;
    const Op *op = sweep_op(e, number);
    if (op == product)
        return true;
    if (!op || op->kind == OP_dot || e->cached[number] || op_family(op) == FAMILY_reduce ||
        !a->plan.columnar[number])
        return false;
    for (int i = 0; i < op->n_args; i++)
        if (leads_to(a, body_number(&e->body, op->args[i]), product))
            return true;
    return false;
}

bool tile_needs(const Attention *a, int sweep, const Op *product)
{
    const Emit *e = a->e;
    for (int i = 0; i < e->body.n_ops; i++) {
        const Op *op = e->body.ops[i].op;
        if ((sweep_reduces(e, &a->plan, sweep, op) || sweep_contracts(e, &a->plan, sweep, op)) &&
            leads_to(a, body_number(&e->body, op->args[0]), product))
            return true;
    }
    return false;
}
