/* Sweeps of an attention region: over the keys of a strip, once for each vector of the
 * block's queries, all lanes of it at once. Results of reductions stay in memory from
 * sweep to sweep, a vector of sums for each vector of queries; other values that do not vary
 * along the keys are computed again by each sweep that needs them. */
#include "codegen/emit/attention/products.h"

#include <string.h>

static unsigned align_of(const Value *value) { return (unsigned)dtype_bytes(value->type.dtype); }

/* ---- reductions ---- */

static unsigned sum_align(const Op *op) { return align_of(&op->results[0]); }

static LoType sum_type(Emit *e, const Op *op) { return emit_type(e, op->results[0].type.dtype); }

/* Where the reduction's sum of the current query is. */
static LoValue sum_at(Attention *a, int i)
{
    const Op *op = a->e->body.ops[i].op;
    return lo_at(&a->e->lo, sum_type(a->e, op), a->sums[i], a->lane);
}

void tile_open_reductions(Attention *a, int sweep)
{
    Emit *e = a->e;
    Lo *lo = &e->lo;
    for (int i = 0; i < e->body.n_ops; i++) {
        const Op *op = e->body.ops[i].op;
        if (!sweep_reduces(e, &a->plan, sweep, op))
            continue;
        emit_from(e, e->body.n_inputs + i);
        LoType type = lo_vector(sum_type(e, op), e->vector);
        if (!a->sums[i])
            a->sums[i] = lo_scratch(lo, type, block_vectors(a), 0, "sums");
        tile_fill(a, a->sums[i], lo_identity(lo, reduce_join(op), type), (int)sum_align(op));
    }
    emit_from_whole(e);
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
            emit_from(e, e->body.n_inputs + i);
            LoValue sum = lo_load(&e->lo, sum_type(e, op), sum_at(a, i), sum_align(op));
            sum = emit_rounded(e, op->results[0].type.dtype, sum);
            e->reduced[e->body.n_inputs + i] = sum;
        }
    }
    emit_from_whole(e);
}

/* This sweep's sums go on from those of the strips before, in registers. */
static void take_sums(Attention *a, int sweep)
{
    Emit *e = a->e;
    for (int i = 0; i < e->body.n_ops; i++) {
        const Op *op = e->body.ops[i].op;
        if (!sweep_reduces(e, &a->plan, sweep, op))
            continue;
        emit_from(e, e->body.n_inputs + i);
        LoValue sum = lo_load(&e->lo, sum_type(e, op), sum_at(a, i), sum_align(op));
        a->slots[i] = lo_accumulator(&e->lo, reduce_join(op), sum);
    }
    emit_from_whole(e);
}

static void put_sums_back(Attention *a, int sweep)
{
    Emit *e = a->e;
    for (int i = 0; i < e->body.n_ops; i++) {
        const Op *op = e->body.ops[i].op;
        if (!sweep_reduces(e, &a->plan, sweep, op))
            continue;
        emit_from(e, e->body.n_inputs + i);
        lo_store(&e->lo, lo_total(&e->lo, a->slots[i]), sum_at(a, i), sum_align(op));
    }
    emit_from_whole(e);
}

/* ---- random words ---- */

/* The element's number that a lane's words begin with, `lane` being 0 or 1. */
static LoValue first_number(Attention *a, const Value *value, int lane)
{
    Emit *e = a->e;
    Place place = e->space;
    place.at[tile_queries(&a->tiles)] = coord_add(e, coord_of(e->column), coord_const(e, lane));
    place.at[tile_keys(&a->tiles)] = coord_of(a->key);
    return element_number(e, &value->type, &place);
}

/* Draws the words of a value for the strip, a vector of queries at a time. */
static void draw_strip(Attention *a, const BodyOp *op)
{
    Emit *e = a->e;
    Lo *lo = &e->lo;
    emit_from(e, body_number(&e->body, &op->op->results[0]));
    if (!a->words[op->random])
        a->words[op->random] = tile_memory(a, lo_i32, "words");
    LoLoop vectors = lo_for_open(lo, number(a, 0), a->count, e->vector, "words");
    e->column = lo_iadd(lo, a->query, vectors.index);
    LoValue zero = first_number(a, &op->op->results[0], 0),
            one = first_number(a, &op->op->results[0], 1);
    random_fill_strip(e, op, zero, lo_isub(lo, one, zero), lo_isub(lo, a->end, a->key),
                      lo_at(lo, lo_i32, a->words[op->random], vectors.index), a->pitch);
    lo_for_close(lo, &vectors);
    emit_from_whole(e);
    e->random_rows[op->random] = a->words[op->random];
}

/* Makes the words that this sweep draws for the strip. */
static void fill_words(Attention *a, int sweep)
{
    Emit *e = a->e;
    for (int i = 0; i < e->body.n_ops; i++) {
        const BodyOp *b = &e->body.ops[i], *first = b->random < 0 ? NULL : random_first(e, b);
        if (!first || e->random_rows[b->random] || e->vector == 1 ||
            !type_same_shape(&b->op->results[0].type, &a->tiles.scores) ||
            !tile_needs(a, sweep, b->op))
            continue;
        if (!e->random_rows[first->random])
            draw_strip(a, first);
        e->random_rows[b->random] = e->random_rows[first->random];
    }
}

/* ---- the loop ---- */

static LoValue value_here(Emit *e, const Value *value)
{
    Place place = place_aligned(&value->type, &e->space);
    return emit_eval(e, value, &place);
}

static void store_in_strip(Attention *a, int number, const Value *value)
{
    Emit *e = a->e;
    LoValue x = value_here(e, value);
    if (a->counts && dtype_is_float(value->type.dtype))
        x = lo_select(&e->lo, a->counts, x, lo_zero(&e->lo, lo_type(x)));
    LoType element = value->type.dtype == DT_BOOL ? lo_i8 : emit_type(e, value->type.dtype);
    emit_from(e, number);
    if (value->type.dtype == DT_BOOL)
        x = lo_zext(&e->lo, x, lo_like(lo_type(x), lo_i8));
    lo_store(&e->lo, x, lo_at(&e->lo, element, tile_strip(a, number), e->cache_at),
             align_of(value));
    emit_from_whole(e);
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

/* What a reduction takes of this element. */
static LoValue counted(Attention *a, const Op *reduction, LoValue x)
{
    Lo *lo = &a->e->lo;
    if (!a->counts)
        return x;
    return lo_select(lo, a->counts, x, lo_identity(lo, reduce_join(reduction), lo_type(x)));
}

static void sweep_key(Attention *a, int sweep)
{
    Emit *e = a->e;
    for (int i = 0; i < e->body.n_ops; i++) {
        const Op *op = e->body.ops[i].op;
        int n = e->body.n_inputs + i;
        if (sweep_reduces(e, &a->plan, sweep, op)) {
            emit_from(e, n);
            lo_accumulate(&e->lo, a->slots[i], counted(a, op, value_here(e, op->args[0])));
            emit_from_whole(e);
        } else if (op->kind != OP_dot && is_stored(a, n, sweep) && !e->cached[n])
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

/* Stands at the key of this row of the strip, or on its diagonal: there each lane has its own key,
 * which may not exist. */
static void stand_at_key(Attention *a, LoValue row)
{
    Emit *e = a->e;
    Lo *lo = &e->lo;
    Coord *key = &e->space.at[tile_keys(&a->tiles)];
    *key = coord_of(row);
    a->counts = NULL;
    if (!a->diagonals)
        return;
    LoValue distance = gaps_distance(a, row);
    LoValue query = coord_value(e, &e->space.at[tile_queries(&a->tiles)], lo_i64);
    LoValue last = lo_isub(lo, a->n_keys, number(a, 1)), at = lo_isub(lo, query, distance);
    *key = (Coord){.base = lo_max(lo, lo_min(lo, at, last), number(a, 0)), .varies = true};
    a->counts = gaps_is_single(a, distance);
}

static void sweep_keys(Attention *a, int sweep)
{
    Emit *e = a->e;
    Lo *lo = &e->lo;
    take_sums(a, sweep);
    LoLoop loop = lo_for_open(lo, a->key, a->end, 1, "keys");
    LoValue row = lo_isub(lo, loop.index, a->key);
    e->cache_at = lo_imul(lo, row, a->pitch);
    e->cache_at = lo_iadd(lo, e->cache_at, a->lane);
    stand_at_key(a, loop.index);
    sweep_key(a, sweep);
    lo_for_close(lo, &loop);
    e->space.at[tile_keys(&a->tiles)] = (Coord){0};
    a->counts = NULL;
    put_sums_back(a, sweep);
}

/* ---- queries ---- */

const Axis *tile_tokens(const Emit *e)
{
    return layout_is_packed(&e->layout) ? &e->layout.axes[0] : NULL;
}

/* The space stands at this query of the sentence. */
static void stand_at_query(Attention *a, LoValue query)
{
    Emit *e = a->e;
    const Axis *tokens = tile_tokens(e);
    Coord here = {.base = query, .varies = true};
    e->column = query;
    if (tokens) {
        int symbol = tokens->extent.symbol;
        Coord sentence = e->space.at[tokens->batch_dim];
        sentence.token = 0;
        e->token = coord_add(e, table_lookup(e, symbol, DIM_OFFSET, sentence), here);
        e->token.token = here.token = symbol + 1;
    }
    e->space.at[tile_queries(&a->tiles)] = here;
}

void tile_each_query(Attention *a, int sweep, QueryBody body)
{
    Emit *e = a->e;
    Lo *lo = &e->lo;
    LoVector vector = {.lanes = (uint8_t)e->vector, .masked = true};
    LoLoop loop = lo_vector_open(lo, number(a, 0), a->count, vector, "queries");
    a->lane = loop.index;
    stand_at_query(a, lo_iadd(lo, a->query, a->lane));
    memset(e->reduced, 0, sizeof *e->reduced * (size_t)e->n_values);
    memo_forget(e);
    read_reductions(a, sweep);
    if (a->stand && sweep < a->plan.n_sweeps)
        a->stand(a);
    body(a, sweep);
    lo_for_close(lo, &loop);
    memset(e->reduced, 0, sizeof *e->reduced * (size_t)e->n_values);
    memo_forget(e);
}

void tile_sweep(Attention *a, int sweep)
{
    Emit *e = a->e;
    if (!has_work(a, sweep))
        return;
    if (!a->diagonals)
        fill_words(a, sweep);
    tile_each_query(a, sweep, sweep_keys);
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
        emit_store_at(e, e->body.n_inputs + i, &place, emit_eval(e, value, &place));
    }
}

void tile_store_rows(Attention *a)
{
    bool some = false;
    for (int i = 0; i < a->e->body.n_results; i++)
        some |= a->e->body.yields[i]->op->kind != OP_dot;
    if (some)
        tile_each_query(a, a->plan.n_sweeps, store_rows);
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
